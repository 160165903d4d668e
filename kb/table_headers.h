// What the headers and the name of a table say, in English and Chinese. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace askbase::kb {

enum class HeaderRole : std::uint8_t { none, id, label, alias };

struct HeaderMeaning {
  HeaderRole role = HeaderRole::none;
  int rank = 0;      // of labels: 0 for "label", 1 for "name", 2 for "title" ...
  std::string lang;  // "name_zh", "label@en", "名称 (zh)", "中文名": of labels and aliases
};

// table_name: singular, as table_name() gives it ("country_id" is the id of a table of countries).
HeaderMeaning read_header(std::string_view header, std::string_view table_name);

// For "subject, predicate, object" and its like, in any order: the columns of the three. Nothing otherwise.
std::optional<std::array<std::size_t, 3>> triple_header(const std::vector<std::string>& headers);

// "Area (km²)" -> "Area" and "km²"; "面积（平方公里）", "Mass [kg]". Without a unit: the header and "". What
// is in the brackets may be something else ("Population (2020)": no unit, for it has no letter).
struct HeaderUnit {
  std::string label, unit;
};
HeaderUnit split_unit(std::string_view header);

// "year", "Year built", "founding_year", "年份", "成立年": the column's numbers are years.
bool is_year_header(std::string_view header);

// "cities" -> "city", "people" -> "person"; the last word of several.
std::string singular(std::string_view words);
// The readable, singular name of a table from its file's or source's name: "world_cities.csv.gz" -> "world
// city", "城市.csv" -> "城市". "table" when nothing is left.
std::string table_name(std::string_view file_name);
// The words of a name without case, for comparisons: "Full_Name" -> "full name".
std::string plain_header(std::string_view header);

}  // namespace askbase::kb
