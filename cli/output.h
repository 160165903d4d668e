// What the commands print: text for people on standard output (the same on a terminal and in a pipe, but for
// bold letters), errors on standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kb/store.h"
#include "kb/term.h"
#include "reader/document_update.h"

namespace askbase::cli {

void print(std::string_view text);       // as it stands, no newline added
void print_line(std::string_view text);  // control characters made visible, a newline added
// Flushes standard output. Error io when something of it could not be written (full disk, closed pipe).
base::Status finish_output();
// "error: MESSAGE", then "hint: HINT", on standard error.
void print_error(const base::Error& error);

// Data may hold control characters that a terminal would obey; they become U+FFFD. Tabs and newlines become
// spaces.
std::string printable(std::string_view text);
// The text in bold on a terminal that may show it (NO_COLOR is obeyed).
std::string bold(std::string_view text);
// 1234567 -> "1,234,567"; 1.5 GB; "2024-02-29 12:00:00 UTC".
std::string grouped(std::uint64_t number);
std::string readable_bytes(std::uint64_t bytes);
std::string readable_time(std::int64_t seconds_since_1970);
// "1 fact", "2 facts".
std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural);
// Fixed number of decimals.
std::string decimal(double value, int decimals);

// Rows of cells in columns two spaces apart; Han characters count as two places. The first `right` columns
// given in right_aligned are numbers.
std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& right_aligned = {});

// A term as in facts of JSON lines: an IRI as a string, a literal as {"value", "type"?, "lang"?}.
base::Json term_json(const kb::Term& term);
base::Json summary_json(const kb::UpdateSummary& summary);
// One line a source, then the KB's.
void print_summary(const kb::UpdateSummary& summary, const std::string& kb_name, double seconds);
base::Json summary_json(const reader::DocumentSummary& summary);
void print_summary(const reader::DocumentSummary& summary, const std::string& kb_name, double seconds);

}  // namespace askbase::cli
