#include "datasets/prepare.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "datasets/benchmarks.h"
#include "datasets/kb_questions.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::fail;

// What ids look like, and what they say of their names.
enum class Ids : std::uint8_t { freebase, wikidata, names };
// Which objects are entities; the others are texts.
enum class Objects : std::uint8_t { by_id, all, subjects, subjects_and_repeated };

struct Profile {
  std::string_view name;
  Ids ids = Ids::names;
  Objects objects = Objects::all;
  bool descriptions = false;
};

constexpr std::array profiles = {
    Profile{"simplequestions-fb", Ids::freebase, Objects::by_id, false},
    Profile{"simplequestions-wd", Ids::wikidata, Objects::by_id, false},
    Profile{"webquestions", Ids::freebase, Objects::by_id, false},
    Profile{"webqsp", Ids::freebase, Objects::by_id, false},
    Profile{"metaqa", Ids::names, Objects::all, false},
    Profile{"pathquestion", Ids::names, Objects::all, false},
    Profile{"zh_gold", Ids::names, Objects::subjects, false},
    Profile{"triples", Ids::names, Objects::subjects_and_repeated, true},
};

constexpr std::size_t longest_repeated_name = 30;  // code points; longer objects are texts

constexpr std::string_view label_iri = "http://www.w3.org/2000/01/rdf-schema#label",
                           comment_iri = "http://www.w3.org/2000/01/rdf-schema#comment",
                           alias_iri = "http://www.w3.org/2004/02/skos/core#altLabel",
                           freebase_iri = "http://rdf.freebase.com/ns/",
                           wikidata_entity_iri = "http://www.wikidata.org/entity/",
                           wikidata_property_iri = "http://www.wikidata.org/prop/direct/";

// What an id may not hold inside an IRI is percent-encoded.
std::string with_prefix(std::string_view prefix, std::string_view id) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out(prefix);
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '-';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

std::string quoted(std::string_view text, std::string_view lang) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  out += '"';
  // "mul" and "-" say that the text is of no language.
  if (!lang.empty() && lang != "mul" && lang != "-") out.append("@").append(lang);
  return out;
}

std::string script_language(std::string_view text) {
  const base::Language language = base::detect_language(text);
  return language == base::Language::unknown ? std::string() : std::string(base::language_code(language));
}

std::string spaces_for_underscores(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '_', ' ');
  return std::string(base::trim(out));
}

// "机 场" -> "机场": blanks beside Han characters only part columns of the page
// that the text is from.
std::string without_han_blanks(std::string_view text) {
  const std::u32string in = base::to_code_points(base::trim(text));
  std::u32string out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool blank = in[i] == U' ' || in[i] == 0x3000 || in[i] == 0xA0;
    if (blank && i > 0 && i + 1 < in.size() && base::is_han(in[i - 1]) && base::is_han(in[i + 1])) continue;
    out += in[i];
  }
  return base::to_utf8(out);
}

// "三井（日本财阀）" -> "三井", "《平凡的世界》" -> "平凡的世界"; nothing where
// there is no such remark.
std::optional<std::string> bare_name(std::string_view name) {
  std::u32string text = base::to_code_points(base::trim(name));
  const std::size_t before = text.size();
  for (const auto& [open, close] :
       {std::pair{U'（', U'）'}, std::pair{U'(', U')'}, std::pair{U'【', U'】'}}) {
    const std::size_t at = text.find(open);
    if (at != std::u32string::npos && at > 0 && text.back() == close) text.resize(at);
  }
  if (text.size() > 2 && text.front() == U'《' && text.back() == U'》') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.size() == before || text.empty()) return std::nullopt;
  const std::string bare = base::to_utf8(text);
  const std::string_view trimmed = base::trim(bare);
  if (trimmed.empty()) return std::nullopt;
  return std::string(trimmed);
}

// How a predicate is called, the label first: of "people.person.place_of_birth"
// "place of birth" and "person place of birth"; the domain stays in the IRI.
// "__music__artist__origin" alike.
std::vector<std::string> predicate_names(std::string_view id) {
  std::vector<std::string> parts;
  const std::string_view mark = id.starts_with("__") ? "__" : ".";
  for (std::size_t begin = 0; begin <= id.size();) {
    const std::size_t end = std::min(id.find(mark, begin), id.size());
    std::string part = spaces_for_underscores(id.substr(begin, end - begin));
    if (part.size() > 2 && part.ends_with(" s")) part.resize(part.size() - 2);  // "spouse_s": one or more
    if (!part.empty()) parts.push_back(std::move(part));
    begin = end + mark.size();
  }
  if (parts.empty()) return {};
  if (parts.size() == 1) return {parts[0]};
  return {parts.back(), parts[parts.size() - 2] + " " + parts.back()};
}

// An N-Triples file, written piece by piece.
class TripleFile {
 public:
  static base::Result<TripleFile> create(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(base::AtomicFile file, base::AtomicFile::create(path));
    return TripleFile(std::move(file));
  }
  base::Status add(std::string_view subject, std::string_view predicate, std::string_view object) {
    buffer_.append("<").append(subject).append("> <").append(predicate).append("> ");
    buffer_.append(object).append(" .\n");
    if (buffer_.size() < (1U << 20)) return {};
    return flush();
  }
  base::Status commit() {
    ASKBASE_TRY(flush());
    return file_.commit();
  }

 private:
  explicit TripleFile(base::AtomicFile file) : file_(std::move(file)) {}
  base::Status flush() {
    const base::Status status = file_.write(buffer_);
    buffer_.clear();
    return status;
  }
  base::AtomicFile file_;
  std::string buffer_;
};

class Preparation {
 public:
  Preparation(const Profile& profile, const PrepareOptions& options) : profile_(profile), options_(options) {}

  base::Status read(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(const BenchmarkForm form, benchmark_form(path));
    if (form == BenchmarkForm::names) return read_names(path);
    if (has_facts(form)) return read_facts(path, form);
    ASKBASE_ASSIGN(auto questions, read_benchmark_questions(path, form));
    for (KbQuestion& question : questions) {
      if (!question_ids_.insert(question.id).second) {
        return fail(ErrorCode::bad_input,
                    path.string() + ": the id \"" + question.id + "\" comes twice, here or in another file",
                    "name every file once");
      }
      questions_.push_back(std::move(question));
    }
    return {};
  }

  base::Result<PrepareReport> write(const std::filesystem::path& out) {
    if (facts_.empty() && questions_.empty()) {
      return fail(ErrorCode::invalid_argument, "neither facts nor questions are among the files",
                  "name the benchmark's file of facts, of names and of questions");
    }
    ASKBASE_TRY(base::make_directories(out));
    if (!facts_.empty()) {
      ASKBASE_TRY(write_facts(out / "facts.nt"));
      ASKBASE_TRY(write_names(out / "names.nt"));
      report_.files = {"facts.nt", "names.nt"};
    }
    if (!questions_.empty()) {
      ASKBASE_TRY(write_questions(out / "questions.jsonl"));
      report_.files.emplace_back("questions.jsonl");
    }
    return report_;
  }

 private:
  using Id = std::uint32_t;
  struct Name {
    std::string lang, text, kind;
  };

  Id id_of(std::string_view text) {
    const auto [found, added] = ids_.emplace(std::string(text), static_cast<Id>(texts_.size()));
    if (added) texts_.push_back(&found->first);
    return found->second;
  }
  const std::string& text_of(Id id) const { return *texts_[id]; }

  base::Status read_facts(const std::filesystem::path& path, BenchmarkForm form) {
    return read_benchmark_facts(path, form, [&](const NamedFact& fact) {
      if (fact.subject.empty() || fact.relation.empty() || fact.object.empty()) {
        ++report_.facts_left_out;
        return true;
      }
      if (profile_.objects == Objects::subjects_and_repeated && is_alias_relation(fact.relation)) {
        names_[fact.subject].push_back({script_language(fact.object), fact.object, "alias"});
        return true;
      }
      const Id subject = id_of(fact.subject), relation = id_of(fact.relation), object = id_of(fact.object);
      if (!seen_facts_.insert({subject, relation, object}).second) return true;
      facts_.push_back({subject, relation, object});
      subjects_.insert(subject);
      ++times_object_[object];
      return true;
    });
  }

  bool is_alias_relation(const std::string& relation) const {
    const auto& all = options_.alias_relations;
    return std::find(all.begin(), all.end(), relation) != all.end();
  }

  base::Status read_names(const std::filesystem::path& path) {
    return read_entity_names(path, [&](const EntityName& name) {
      if (only_left_out_sources(name.sources)) {
        ++report_.names_left_out;
      } else {
        names_[name.id].push_back({name.lang, name.name, name.kind});
      }
      return true;
    });
  }

  bool only_left_out_sources(std::string_view sources) const {
    if (sources.empty()) return false;
    const auto& out = options_.left_out_sources;
    for (std::size_t begin = 0; begin <= sources.size();) {
      const std::size_t end = std::min(sources.find_first_of(",|", begin), sources.size());
      if (std::find(out.begin(), out.end(), sources.substr(begin, end - begin)) == out.end()) return false;
      begin = end + 1;
    }
    return true;
  }

  bool is_entity(Id object) const {
    const std::string& text = text_of(object);
    switch (profile_.objects) {
      case Objects::by_id:
        return profile_.ids == Ids::freebase
                   ? text.starts_with("m.") || text.starts_with("g.")
                   : text.size() > 1 && text.front() == 'Q' &&
                         text.find_first_not_of("0123456789", 1) == std::string::npos;
      case Objects::all:
        return true;
      case Objects::subjects:
        return subjects_.contains(object);
      case Objects::subjects_and_repeated:
        if (subjects_.contains(object) || names_.contains(text)) return true;
        return times_object_.at(object) > 1 && base::count_code_points(text) <= longest_repeated_name;
    }
    return false;
  }

  std::string entity_iri(const std::string& id) const {
    switch (profile_.ids) {
      case Ids::freebase:
        return with_prefix(freebase_iri, id);
      case Ids::wikidata:
        return with_prefix(wikidata_entity_iri, id);
      case Ids::names:
        return options_.entity_iri(id);
    }
    return {};
  }
  std::string predicate_iri(const std::string& id) const {
    switch (profile_.ids) {
      case Ids::freebase:
        return with_prefix(freebase_iri, id);
      case Ids::wikidata:
        return with_prefix(wikidata_property_iri, id);
      case Ids::names:
        return options_.predicate_iri(id);
    }
    return {};
  }

  base::Status write_facts(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(TripleFile file, TripleFile::create(path));
    for (const auto& [subject, relation, object] : facts_) {
      entities_.insert(subject);
      predicates_.insert(relation);
      std::string value;
      if (is_entity(object)) {
        entities_.insert(object);
        value = "<" + entity_iri(text_of(object)) + ">";
      } else {
        value = quoted(text_of(object), script_language(text_of(object)));
      }
      ASKBASE_TRY(file.add(entity_iri(text_of(subject)), predicate_iri(text_of(relation)), value));
    }
    report_.facts = facts_.size();
    report_.entities = entities_.size();
    report_.predicates = predicates_.size();
    return file.commit();
  }

  // One label a language and any number of aliases, each text once.
  std::vector<Name> chosen(const std::string& id, bool predicate) const {
    std::vector<Name> given;
    if (const auto found = names_.find(id); found != names_.end()) given = found->second;
    if (profile_.ids == Ids::names) add_names_of_id(id, predicate, given);
    if (profile_.ids == Ids::freebase && predicate && given.empty()) {
      for (const std::string& name : predicate_names(id)) {
        given.push_back({"en", name, given.empty() ? "label" : "alias"});
      }
    }
    std::set<std::string> labelled;
    std::set<std::pair<std::string, std::string>> seen;
    std::vector<Name> out;
    // Spans of questions name what has no name of its own.
    for (const std::string_view kind : {"label", "mention", "alias", "description"}) {
      for (const Name& name : given) {
        if (name.kind != kind) continue;
        if (kind == "description") {
          if (profile_.descriptions) out.push_back(name);
          continue;
        }
        if (!seen.insert({name.lang, name.text}).second) continue;
        const bool first = kind != "alias" && labelled.insert(name.lang).second;
        out.push_back({name.lang, name.text, first ? "label" : "alias"});
      }
    }
    return out;
  }

  void add_names_of_id(const std::string& id, bool predicate, std::vector<Name>& given) const {
    const auto add = [&](const std::string& text, const char* kind) {
      if (!text.empty()) given.push_back({script_language(text), text, kind});
    };
    const bool named =
        std::any_of(given.begin(), given.end(), [](const Name& n) { return n.kind == "label"; });
    if (named) return;
    if (predicate) {
      for (const std::string& name : predicate_names(without_han_blanks(id))) {
        add(name, given.empty() ? "label" : "alias");
      }
      return;
    }
    const std::string readable = spaces_for_underscores(id);
    add(readable, "label");
    if (readable != id) add(id, "alias");
    if (const auto bare = bare_name(readable)) add(*bare, "alias");
  }

  base::Status write_names(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(TripleFile file, TripleFile::create(path));
    for (const bool predicate : {false, true}) {
      for (const Id id : predicate ? predicates_ : entities_) {
        const std::string& text = text_of(id);
        const std::string iri = predicate ? predicate_iri(text) : entity_iri(text);
        bool labelled = false;
        for (const Name& name : chosen(text, predicate)) {
          const std::string_view way = name.kind == "label"   ? label_iri
                                       : name.kind == "alias" ? alias_iri
                                                              : comment_iri;
          ASKBASE_TRY(file.add(iri, way, quoted(name.text, name.lang)));
          labelled = labelled || name.kind == "label";
          ++report_.names;
        }
        if (labelled && !predicate) ++report_.labelled;
      }
    }
    return file.commit();
  }

  // By its IRI when it is an entity of the facts, or its id says that it is
  // one.
  std::string answer_of(const std::string& answer) const {
    if (profile_.ids == Ids::freebase && (answer.starts_with("m.") || answer.starts_with("g."))) {
      return entity_iri(answer);
    }
    if (profile_.ids == Ids::wikidata) return entity_iri(answer);
    const auto found = ids_.find(answer);
    return found != ids_.end() && entities_.contains(found->second) ? entity_iri(answer) : answer;
  }

  base::Status write_questions(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(base::AtomicFile file, base::AtomicFile::create(path));
    for (const KbQuestion& question : questions_) {
      if (question.answers.empty()) {
        ++report_.questions_left_out;
        continue;
      }
      base::Json out = {{"id", question.id}, {"lang", question.lang}, {"question", question.question}};
      if (!question.split.empty()) out["split"] = question.split;
      if (!question.type.empty()) out["qtype"] = question.type;
      if (!question.mention.empty()) out["mention"] = question.mention;
      if (!question.topics.empty()) {
        out["topic"] = base::Json::array();
        for (const std::string& topic : question.topics) out["topic"].push_back(entity_iri(topic));
      }
      if (!question.topic_names.empty()) out["topic_names"] = question.topic_names;
      if (!question.path.empty()) {
        out["path"] = base::Json::array();
        for (const PathStep& step : question.path) {
          out["path"].push_back((step.inverse ? "^" : "") + predicate_iri(step.relation));
        }
      }
      out["answers"] = base::Json::array();
      for (const std::string& answer : question.answers) out["answers"].push_back(answer_of(answer));
      ASKBASE_TRY(file.write(base::dump_json(out) + "\n"));
      ++report_.questions;
    }
    return file.commit();
  }

  const Profile& profile_;
  const PrepareOptions& options_;
  PrepareReport report_;
  std::unordered_map<std::string, Id> ids_;
  std::vector<const std::string*> texts_;  // by Id; keys of ids_ stay where they are
  std::vector<std::array<Id, 3>> facts_;
  std::set<std::array<Id, 3>> seen_facts_;
  std::unordered_set<Id> subjects_;
  std::unordered_map<Id, std::uint32_t> times_object_;
  std::set<Id> entities_,
      predicates_;  // in the order of their first place in the facts
  std::unordered_map<std::string, std::vector<Name>> names_;
  std::vector<KbQuestion> questions_;
  std::unordered_set<std::string> question_ids_;
};

}  // namespace

std::vector<std::string> preparable() {
  std::vector<std::string> names;
  for (const Profile& profile : profiles) names.emplace_back(profile.name);
  return names;
}

base::Result<PrepareReport> prepare(const std::string& benchmark,
                                    const std::vector<std::filesystem::path>& files,
                                    const std::filesystem::path& out, const PrepareOptions& options) {
  const auto profile =
      std::find_if(profiles.begin(), profiles.end(), [&](const Profile& p) { return p.name == benchmark; });
  if (profile == profiles.end()) {
    std::string all;
    for (const Profile& known : profiles) all += (all.empty() ? "" : ", ") + std::string(known.name);
    return fail(ErrorCode::invalid_argument, "no benchmark is called \"" + benchmark + "\"",
                "those known are " + all);
  }
  Preparation preparation(*profile, options);
  for (const std::filesystem::path& file : files) ASKBASE_TRY(preparation.read(file));
  return preparation.write(out);
}

}  // namespace askbase::datasets
