#include "kb/jsonl_reader.h"

#include <array>
#include <cctype>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "kb/load_names.h"
#include "kb/load_values.h"

namespace askbase::kb {
namespace {

enum class Kind : std::uint8_t { null, boolean, integer, real, text, object, array };

// One value of a line. Numbers keep their spelling: a double would lose digits.
struct Value {
  Kind kind = Kind::null;
  std::string text;
};

struct Member {
  std::string name;
  Value value;
  std::vector<Member> members;  // of an object, one level deep
};

// A line's object with its members in order, in one pass and without building a document.
class LineParser : public nlohmann::json_sax<base::Json> {
 public:
  // The members, or why the line is none.
  bool parse(std::string_view line) {
    members.clear();
    problem.clear();
    depth_ = 0;
    const bool done = base::Json::sax_parse(line.begin(), line.end(), this);
    if (!done && problem.empty()) problem = "not JSON";
    return done && problem.empty();
  }

  bool null() override { return add({Kind::null, "null"}); }
  bool boolean(bool value) override { return add({Kind::boolean, value ? "true" : "false"}); }
  bool number_integer(number_integer_t value) override { return add({Kind::integer, std::to_string(value)}); }
  bool number_unsigned(number_unsigned_t value) override {
    return add({Kind::integer, std::to_string(value)});
  }
  bool number_float(number_float_t, const string_t& spelling) override {
    const bool whole = spelling.find_first_of(".eE") == std::string::npos;  // more digits than 64 bits hold
    return add({whole ? Kind::integer : Kind::real, spelling});
  }
  bool string(string_t& value) override { return add({Kind::text, std::move(value)}); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    if (depth_ > 0 && !add({Kind::object, {}})) return false;
    if (++depth_ <= 2) return true;
    return wrong("values are nested too deep");
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    return wrong(depth_ == 0 ? "a list; each line holds one object {...}"
                             : "\"" + key_ + "\" is a list; write one line for each value");
  }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    for (const Member& member : level()) {
      if (member.name == name) return wrong("\"" + name + "\" twice");
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    if (!problem.empty()) return false;
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."; the line is
    // always 1.
    std::string_view what = exception.what();
    if (const std::size_t column = what.find("column "); column != std::string_view::npos) {
      what.remove_prefix(column);
    } else if (const std::size_t end = what.find("] "); end != std::string_view::npos) {
      what.remove_prefix(end + 2);
    }
    return wrong("not JSON: " + std::string(what));
  }

  std::vector<Member> members;
  std::string problem;

 private:
  std::vector<Member>& level() { return depth_ == 1 ? members : members.back().members; }
  bool add(Value value) {
    if (depth_ == 0) return wrong("each line holds one object {...}");
    level().push_back({std::move(key_), std::move(value), {}});
    return true;
  }
  bool wrong(std::string reason) {
    problem = std::move(reason);
    return false;
  }

  int depth_ = 0;
  std::string key_;
};

const Member* find(const std::vector<Member>& members, std::string_view name) {
  for (const Member& member : members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

// The names of the members that are not among the known ones, for the message.
std::string unknown_fields(const std::vector<Member>& members,
                           std::initializer_list<std::string_view> known) {
  for (const Member& member : members) {
    bool found = false;
    std::string all;
    for (const std::string_view name : known) {
      found = found || member.name == name;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    if (!found) return "unknown field \"" + member.name + "\" (known: " + all + ")";
  }
  return {};
}

// The text of a member that must be there and hold more than white space; nothing sets the reason.
std::optional<std::string> required_text(const std::vector<Member>& members, std::string_view name,
                                         std::string& reason) {
  const Member* member = find(members, name);
  if (member == nullptr) {
    reason = "no \"" + std::string(name) + "\"";
  } else if (member->value.kind != Kind::text) {
    reason = "\"" + std::string(name) + "\" must be a text in quotation marks";
  } else if (base::trim(member->value.text).empty()) {
    reason = "\"" + std::string(name) + "\" is empty";
  } else {
    return std::string(base::trim(member->value.text));
  }
  return std::nullopt;
}

// "date", "xsd:date" or an IRI -> the IRI; empty when it is none of these.
std::string datatype_iri(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> short_names = {
      {{"string", "string"},
       {"text", "string"},
       {"integer", "integer"},
       {"int", "integer"},
       {"decimal", "decimal"},
       {"double", "double"},
       {"float", "double"},
       {"boolean", "boolean"},
       {"date", "date"},
       {"time", "time"},
       {"dateTime", "dateTime"},
       {"year", "gYear"},
       {"gYearMonth", "gYearMonth"},
       {"gYear", "gYear"}}};
  for (const auto& [name, full] : short_names) {
    if (type == name) return std::string(iri::xsd) + std::string(full);
  }
  if (type.substr(0, 4) == "xsd:" && is_absolute_iri(type))
    return std::string(iri::xsd) + std::string(type.substr(4));
  return looks_like_iri(type) ? std::string(type) : std::string();
}

class FactReader {
 public:
  FactReader(const BlankLabels& blanks, FactSink& sink) : blanks_(blanks), sink_(sink) {}

  // An empty reason: the line's facts have been added (or the status says why not).
  base::Status read(std::string_view line, std::uint64_t row, std::string& reason) {
    if (!parser_.parse(line)) {
      reason = parser_.problem;
      return {};
    }
    const std::vector<Member>& members = parser_.members;
    reason = unknown_fields(members, {"s", "p", "o", "source"});
    if (!reason.empty()) return {};
    const auto subject = required_text(members, "s", reason);
    if (!subject) return {};
    const auto predicate = required_text(members, "p", reason);
    if (!predicate) return {};
    if (predicate->substr(0, 2) == "_:") {
      reason = "\"p\" is a blank node";
      return {};
    }
    std::string source;
    if (find(members, "source") != nullptr) {
      const auto text = required_text(members, "source", reason);
      if (!text) return {};
      source = *text;
    }
    const Member* object = find(members, "o");
    if (object == nullptr) {
      reason = "no \"o\"";
      return {};
    }
    Term value;
    std::string object_name;
    if (!object_term(*object, value, object_name, reason)) return {};
    Fact& fact = sink_.slot();
    fact.subject = entity(*subject);
    fact.predicate =
        looks_like_iri(*predicate) ? Term::iri(*predicate) : Term::iri(name_iri("p", *predicate));
    fact.object = std::move(value);
    fact.graph = source;
    fact.row = row;
    ASKBASE_TRY(sink_.add());
    ASKBASE_TRY(label(*subject, "entity", row, source));
    ASKBASE_TRY(label(*predicate, "p", row, source));
    if (!object_name.empty()) ASKBASE_TRY(label(object_name, "entity", row, source));
    return {};
  }

 private:
  Term entity(const std::string& name) const {
    if (name.substr(0, 2) == "_:" && name.size() > 2) {
      std::string label;
      blanks_.write(encode_blank(name.substr(2)), label);
      return Term::blank(std::move(label));
    }
    return Term::iri(looks_like_iri(name) ? name : name_iri("entity", name));
  }

  // A blank node's label may hold little more than letters and digits; the rest is written as its code.
  static std::string encode_blank(std::string_view label) {
    std::string out;
    for (const char32_t c : base::to_code_points(label)) {
      const bool plain =
          (c < 0x80 && (std::isalnum(static_cast<int>(c)) != 0 || c == '_')) || is_name_char(c, true);
      if (plain) {
        base::append_utf8(out, c);
      } else {
        out += "-" + std::to_string(static_cast<std::uint32_t>(c)) + "-";
      }
    }
    return out;
  }

  // name: the object's, when it is an entity that needs a label.
  static bool literal(const Value& value, Term& term, std::string& reason) {
    switch (value.kind) {
      case Kind::text:
        term = Term::literal(value.text);
        return true;
      case Kind::boolean:
        term = Term::literal(value.text, std::string(iri::xsd) + "boolean");
        return true;
      case Kind::integer:
      case Kind::real: {
        const auto number = parse_number(value.text, NumberStyle::point);
        if (number) {
          term = *number;
        } else {  // hundreds of digits
          const bool whole = value.kind == Kind::integer;
          term = Term::literal(value.text, std::string(iri::xsd) + (whole ? "integer" : "double"));
        }
        return true;
      }
      default:
        reason = "\"value\" must be a text, a number, true or false";
        return false;
    }
  }

  bool object_term(const Member& object, Term& term, std::string& name, std::string& reason) const {
    if (object.value.kind == Kind::text) {
      const std::string text(base::trim(object.value.text));
      if (text.empty()) {
        reason = "\"o\" is empty";
        return false;
      }
      term = entity(text);
      if (term.kind == TermKind::iri && !looks_like_iri(text)) name = text;
      return true;
    }
    if (object.value.kind == Kind::null) {
      reason = "\"o\" must be an IRI, a name, a number, true, false or {\"value\": ...}";
      return false;
    }
    if (object.value.kind != Kind::object) return literal(object.value, term, reason);
    reason = unknown_fields(object.members, {"value", "type", "lang"});
    if (!reason.empty()) {
      reason += " in \"o\"";
      return false;
    }
    const Member* value = find(object.members, "value");
    if (value == nullptr) {
      reason = "no \"value\" in \"o\"";
      return false;
    }
    if (!literal(value->value, term, reason)) return false;
    const Member* type = find(object.members, "type");
    const Member* lang = find(object.members, "lang");
    if (type != nullptr && lang != nullptr) {
      reason = "a text with a language has no other type: give \"type\" or \"lang\"";
      return false;
    }
    if (lang != nullptr) {
      if (lang->value.kind != Kind::text || value->value.kind != Kind::text ||
          !valid_language_tag(lang->value.text)) {
        reason = "\"lang\" must be a language tag such as \"en\" or \"zh\", and \"value\" a text";
        return false;
      }
      term = Term::text(term.value, lang->value.text);
    }
    if (type == nullptr) return true;
    const std::string datatype =
        type->value.kind == Kind::text ? datatype_iri(type->value.text) : std::string();
    if (datatype.empty()) {
      reason =
          "\"type\" must be one of string, integer, decimal, double, boolean, date, dateTime, year, xsd:... "
          "or an IRI";
      return false;
    }
    if (!valid_lexical(value->value.text, datatype)) {
      reason = "\"" + value->value.text + "\" is no " + type->value.text;
      return false;
    }
    term = Term::literal(value->value.text, datatype);
    return true;
  }

  base::Status label(const std::string& name, std::string_view space, std::uint64_t row,
                     const std::string& source) {
    if (looks_like_iri(name) || name.substr(0, 2) == "_:") return {};
    // The KB keeps a fact once however often it is added; the set saves most of that work.
    constexpr std::size_t most_names = 1 << 16;
    if (named_.size() >= most_names) named_.clear();
    if (!named_.insert(std::string(space) + '\0' + source + '\0' + name).second) return {};
    Fact& fact = sink_.slot();
    fact.subject = Term::iri(name_iri(space, name));
    fact.predicate = Term::iri(std::string(iri::rdfs_label));
    fact.object = text_in_its_language(name);
    fact.graph = source;
    fact.row = row;
    return sink_.add();
  }

  const BlankLabels& blanks_;
  FactSink& sink_;
  LineParser parser_;
  std::unordered_set<std::string> named_;
};

// Calls body(line, number, reason) for every line that is not blank; a reason makes it a bad line.
template <typename Body>
base::Status each_line(base::Input& input, FactSink& sink, const Body& body) {
  base::LineReader lines(input);
  std::string_view line;
  while (true) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (base::trim(line).empty()) continue;
    std::string reason;
    if (const auto bad = base::first_invalid_utf8(line)) {
      reason = "invalid UTF-8 (column " + std::to_string(*bad + 1) + ")";
    } else {
      ASKBASE_TRY(body(line, lines.line_number(), reason));
    }
    if (!reason.empty()) ASKBASE_TRY(sink.bad(lines.line_number(), reason));
  }
}

}  // namespace

base::Status read_jsonl(base::Input& input, const BlankLabels& blanks, FactSink& sink) {
  FactReader reader(blanks, sink);
  return each_line(input, sink, [&](std::string_view line, std::uint64_t number, std::string& reason) {
    return reader.read(line, number, reason);
  });
}

base::Status read_wordings(base::Input& input, const PredicateResolver& resolve, FactSink& sink) {
  LineParser parser;
  return each_line(input, sink,
                   [&](std::string_view line, std::uint64_t number, std::string& reason) -> base::Status {
                     if (!parser.parse(line)) {
                       reason = parser.problem;
                       return {};
                     }
                     reason = unknown_fields(parser.members, {"predicate", "lang", "wording"});
                     if (!reason.empty()) return {};
                     const auto predicate = required_text(parser.members, "predicate", reason);
                     if (!predicate) return {};
                     const auto wording = required_text(parser.members, "wording", reason);
                     if (!wording) return {};
                     std::string lang = language_of(*wording);
                     if (find(parser.members, "lang") != nullptr) {
                       const auto given = required_text(parser.members, "lang", reason);
                       if (!given) return {};
                       if (!valid_language_tag(*given)) {
                         reason = "\"lang\" must be a language tag such as \"en\" or \"zh\"";
                         return {};
                       }
                       lang = *given;
                     }
                     const base::Result<std::string> iri = resolve(*predicate);
                     if (!iri) {
                       if (iri.error().code != base::ErrorCode::not_found) return tl::unexpected(iri.error());
                       reason = iri.error().message;
                       return {};
                     }
                     return sink.add(Term::iri(*iri), Term::iri(std::string(iri::wording)),
                                     Term::text(*wording, lang), number);
                   });
}

}  // namespace askbase::kb
