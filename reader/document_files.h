// Documents out of files: .txt, .md, .html, .jsonl (one a line), each also .gz or .zst; and .pdf by the
// program pdftotext, where it is installed. docs/documents.md is the page to this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"
#include "reader/document.h"

namespace askbase::reader {

enum class DocumentFormat : std::uint8_t { text, markdown, html, jsonl, pdf };
std::string_view document_format_name(DocumentFormat format);
// From a name ("txt", "md", "html", "jsonl", "pdf") and from a file's name.
std::optional<DocumentFormat> document_format_from_name(std::string_view name);
std::optional<DocumentFormat> document_format_from_path(const std::filesystem::path& path);

// The text, title and form of one document of this format (not jsonl, not pdf), given its bytes in any
// encoding that base/charset.h reads. `document` keeps its other members. Errors: unsupported (encoding),
// bad_input.
base::Status read_document_text(std::string_view bytes, DocumentFormat format, Document& document);

struct DocumentFile {
  std::filesystem::path path;            // "-": standard input
  std::optional<DocumentFormat> format;  // nothing: by the file's name
  std::string source;                    // given to its documents
  std::string id;                        // of the document, in formats that hold one document a file
};

// Calls `visit` for every document, with where it stands ("file", or "file:line") for messages; an error that
// it returns ends the reading. `bad` is told of documents that cannot be read, and decides whether to go on:
// it returns the error or nothing. Errors: not_found, io; unsupported for formats and encodings that are not
// read, and for .pdf without pdftotext; bad_input; too_large; cancelled.
base::Status read_document_file(
    const DocumentFile& file,
    const std::function<base::Status(Document document, const std::string& where)>& visit,
    const std::function<base::Status(const std::string& where, base::Error error)>& bad,
    const base::Progress::Sink& progress);

}  // namespace askbase::reader
