#include "kb/records.h"

#include "kb/encoding.h"

namespace askbase::kb {

namespace {

constexpr char name_mark = '\xFF';

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

bool read_text(std::string_view& in, std::string& text) {
  std::uint64_t size = 0;
  if (!read_varint(in, size) || size > in.size()) return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

}  // namespace

base::Error damaged(Table table, std::string_view what) {
  return {base::ErrorCode::corrupt,
          "the knowledge base is damaged: table " + std::string(table_name(table)) + ": " + std::string(what),
          "run `askbase check`, or bring back a backup with `askbase restore`"};
}

base::Result<std::uint64_t> read_counter(const Snapshot& snapshot, std::string_view key) {
  std::string bytes;
  ASKBASE_ASSIGN(const bool found, snapshot.get(Table::meta, key, bytes));
  if (!found) return 0;
  std::string_view in = bytes;
  std::uint64_t value = 0;
  if (!read_varint(in, value) || !in.empty())
    return tl::unexpected(damaged(Table::meta, "bad counter " + std::string(key)));
  return value;
}

std::string encode_counter(std::uint64_t value) {
  std::string out;
  append_varint(out, value);
  return out;
}

std::string source_key(SourceId id) {
  std::string key;
  for (int shift = 24; shift >= 0; shift -= 8)
    key += static_cast<char>(static_cast<unsigned char>(id >> shift));
  return key;
}

std::string source_name_key(std::string_view name) { return name_mark + std::string(name); }

bool read_source_key(std::string_view key, SourceId& id) {
  if (key.size() != 4) return false;
  id = 0;
  for (const char c : key) id = id << 8 | static_cast<unsigned char>(c);
  return id <= max_source_id;
}

std::string encode_source(const Source& source) {
  std::string out;
  for (const std::string* text : {&source.name, &source.kind, &source.loaded_from, &source.hash})
    append_text(out, *text);
  append_varint(out, static_cast<std::uint64_t>(source.time));
  append_varint(out, source.facts);
  return out;
}

bool decode_source(std::string_view bytes, Source& source) {
  for (std::string* text : {&source.name, &source.kind, &source.loaded_from, &source.hash})
    if (!read_text(bytes, *text)) return false;
  std::uint64_t time = 0;
  if (!read_varint(bytes, time) || !read_varint(bytes, source.facts)) return false;
  source.time = static_cast<std::int64_t>(time);
  return bytes.empty();
}

void append_sources(std::string& out, const std::vector<SourceId>& sources) {
  SourceId last = 0;
  for (const SourceId source : sources) {
    append_varint(out, source - last);
    last = source;
  }
}

bool read_sources(std::string_view value, std::vector<SourceId>& sources) {
  sources.clear();
  std::uint64_t source = 0;
  while (!value.empty()) {
    std::uint64_t step = 0;
    if (!read_varint(value, step) || step == 0 || step > max_source_id - source) return false;
    source += step;
    sources.push_back(static_cast<SourceId>(source));
  }
  return !sources.empty();
}

void append_source_fact(std::string& out, SourceId source, const Triple& triple) {
  out += source_key(source);
  append_key(out, Order::spo, triple);
}

}  // namespace askbase::kb
