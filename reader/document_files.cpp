#include "reader/document_files.h"

#include <algorithm>
#include <array>

#include "base/charset.h"
#include "base/input.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "reader/markup.h"
#include "reader/pdf_text.h"

namespace askbase::reader {
namespace {

using base::Json;

constexpr std::size_t longest_line = 2 * largest_document;  // escapes take room

struct FormatNames {
  DocumentFormat format;
  std::array<std::string_view, 3> names;  // the first is the one that is shown
};
constexpr std::array<FormatNames, 5> format_names = {{{DocumentFormat::text, {"txt", "text", "txt"}},
                                                      {DocumentFormat::markdown, {"md", "markdown", "md"}},
                                                      {DocumentFormat::html, {"html", "htm", "xhtml"}},
                                                      {DocumentFormat::jsonl, {"jsonl", "ndjson", "jsonl"}},
                                                      {DocumentFormat::pdf, {"pdf", "pdf", "pdf"}}}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

base::Error unknown_format(const std::filesystem::path& path) {
  base::Error error{
      base::ErrorCode::unsupported, path.string() + ": not a document that this program reads",
      "documents are .txt, .md, .html, .jsonl or .pdf; say another file's format with --format"};
  const std::string ending = lower(path.extension().string());
  if (path == "-") {
    error.message = "standard input has no name that tells its format";
    error.hint = "say it with --format txt, md, html or jsonl";
  } else if (ending == ".docx" || ending == ".odt" || ending == ".rtf" || ending == ".epub" ||
             ending == ".doc") {
    error.hint = "convert it to text or HTML first, for example with pandoc or LibreOffice";
  }
  return error;
}

base::Result<std::string> read_all(base::Input& input) {
  // Markup may be larger than the text it holds.
  constexpr std::size_t most = 4 * largest_document, block = 1 << 20;
  std::string content;
  for (;;) {
    ASKBASE_TRY(base::check_interrupt());
    const std::size_t before = content.size();
    content.resize(before + block);
    ASKBASE_ASSIGN(const std::size_t got, input.read(content.data() + before, block));
    content.resize(before + got);
    if (got == 0) return content;
    if (content.size() > most) {
      return base::fail(base::ErrorCode::too_large,
                        input.name() + ": larger than " + std::to_string(most >> 20) + " MiB",
                        "split it into several documents");
    }
  }
}

base::Result<std::string> text_member(const Json& json, const char* name) {
  const auto member = json.find(name);
  if (member == json.end() || member->is_null()) return std::string();
  if (!member->is_string())
    return base::fail(base::ErrorCode::bad_input, std::string("\"") + name + "\" is not text");
  return member->get<std::string>();
}

base::Result<Document> document_of_line(std::string_view line) {
  ASKBASE_ASSIGN(const Json json, base::parse_json(line));
  if (!json.is_object())
    return base::fail(base::ErrorCode::bad_input, "not a JSON object",
                      "a document is {\"id\": ..., \"text\": ...}");
  Document document;
  const auto id = json.find("id");
  if (id != json.end() && id->is_number_integer()) {
    document.id = base::dump_json(*id);
  } else {
    ASKBASE_ASSIGN(document.id, text_member(json, "id"));
  }
  if (!json.contains("text"))
    return base::fail(base::ErrorCode::bad_input, "the document has no \"text\"",
                      "a document is {\"id\": ..., \"text\": ...}");
  ASKBASE_ASSIGN(document.text, text_member(json, "text"));
  ASKBASE_ASSIGN(document.title, text_member(json, "title"));
  ASKBASE_ASSIGN(document.lang, text_member(json, "lang"));
  ASKBASE_ASSIGN(document.url, text_member(json, "url"));
  ASKBASE_ASSIGN(document.date, text_member(json, "date"));
  return document;
}

base::Error located(const std::string& where, base::Error error) {
  if (!error.message.starts_with(where)) error.message = where + ": " + error.message;
  return error;
}

}  // namespace

std::string_view document_format_name(DocumentFormat format) {
  return format_names.at(static_cast<std::size_t>(format)).names[0];
}

std::optional<DocumentFormat> document_format_from_name(std::string_view name) {
  const std::string wanted = lower(name);
  for (const FormatNames& known : format_names)
    if (std::find(known.names.begin(), known.names.end(), wanted) != known.names.end()) return known.format;
  return std::nullopt;
}

std::optional<DocumentFormat> document_format_from_path(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  const std::string last = lower(name.extension().string());
  if (last == ".gz" || last == ".zst") name = name.stem();
  const std::string ending = name.extension().string();
  return ending.empty() ? std::nullopt : document_format_from_name(std::string_view(ending).substr(1));
}

base::Status read_document_text(std::string_view bytes, DocumentFormat format, Document& document) {
  ASKBASE_ASSIGN(const base::Charset charset, base::detect_charset(bytes, true));
  ASKBASE_ASSIGN(std::string text, base::decode(bytes, charset));
  if (format == DocumentFormat::html) {
    MarkupText page = html_text(text);
    document.text = std::move(page.text);
    if (document.title.empty()) document.title = std::move(page.title);
    if (document.lang.empty()) document.lang = std::move(page.lang);
    return {};
  }
  document.text = std::move(text);
  if (format == DocumentFormat::markdown) {
    document.form = TextForm::markdown;
    if (document.title.empty()) document.title = markdown_title(document.text);
  }
  return {};
}

base::Status read_document_file(
    const DocumentFile& file,
    const std::function<base::Status(Document document, const std::string& where)>& visit,
    const std::function<base::Status(const std::string& where, base::Error error)>& bad,
    const base::Progress::Sink& progress) {
  const auto format = file.format ? file.format : document_format_from_path(file.path);
  if (!format) return tl::unexpected(unknown_format(file.path));
  Document one;
  one.id = file.id;
  one.source = file.source;
  if (*format == DocumentFormat::pdf) {
    auto text = pdf_text(file.path);
    if (!text) {
      const base::ErrorCode code = text.error().code;
      if (code == base::ErrorCode::bad_input || code == base::ErrorCode::too_large)
        return bad(file.path.string(), std::move(text.error()));
      return tl::unexpected(std::move(text.error()));
    }
    one.text = std::move(*text);
    return visit(std::move(one), file.path.string());
  }
  ASKBASE_ASSIGN(const auto input, base::Input::open(file.path));
  if (*format != DocumentFormat::jsonl) {
    auto bytes = read_all(*input);
    if (!bytes) {
      if (bytes.error().code == base::ErrorCode::too_large)
        return bad(input->name(), std::move(bytes.error()));
      return tl::unexpected(std::move(bytes.error()));
    }
    if (base::Status read = read_document_text(*bytes, *format, one); !read)
      return bad(input->name(), located(input->name(), std::move(read.error())));
    return visit(std::move(one), input->name());
  }
  base::LineReader lines(*input, longest_line);
  base::Progress shown("reading " + input->name(), input->raw_size().value_or(0), "bytes", progress);
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    ASKBASE_TRY(base::check_interrupt());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = input->name() + ":" + std::to_string(lines.line_number());
    auto document = document_of_line(line);
    if (!document) {
      ASKBASE_TRY(bad(where, located(where, std::move(document.error()))));
      continue;
    }
    document->source = file.source;
    ASKBASE_TRY(visit(std::move(*document), where));
    shown.update(input->raw_position());
  }
  shown.finish();
  return {};
}

}  // namespace askbase::reader
