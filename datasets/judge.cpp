#include "datasets/judge.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/input.h"
#include "base/json.h"
#include "base/text.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;

bool looks_like_iri(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://", "urn:"}) {
    if (text.starts_with(scheme)) return true;
  }
  return false;
}

// The number that the whole text spells; thousands separators only where they separate thousands.
std::optional<double> parse_number(std::string_view text) {
  std::string plain = base::nfkc(base::trim(text));
  if (plain.starts_with("+")) plain.erase(0, 1);
  if (plain.starts_with("\u2212")) plain.replace(0, 3, "-");  // the minus sign proper
  const std::size_t first_comma = plain.find(',');
  if (first_comma != std::string::npos) {
    const std::size_t integer_end = std::min(plain.find_first_of(".eE"), plain.size());
    const std::size_t digits = first_comma - (plain.starts_with("-") ? 1 : 0);
    if (digits < 1 || digits > 3) return std::nullopt;
    for (std::size_t i = first_comma; i < integer_end; ++i) {
      if ((plain[i] == ',') != ((i - first_comma) % 4 == 0)) return std::nullopt;
    }
    if ((integer_end - first_comma) % 4 != 0 || plain.find(',', integer_end) != std::string::npos) {
      return std::nullopt;
    }
    std::erase(plain, ',');
  }
  // Words that from_chars would take for numbers ("inf", "nan", "infinity") are names here.
  if (plain.find_first_not_of("0123456789.-+eE") != std::string::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_truth(std::string_view text) {
  const std::string key = base::match_key(text);
  for (const std::string_view yes : {"true", "yes", "是", "对", "是的"}) {
    if (key == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "否", "不", "不是"}) {
    if (key == no) return false;
  }
  return std::nullopt;
}

bool same_number(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

// The last part of an IRI, percent-decoded where it is encoded.
std::string last_part(std::string_view iri) {
  const std::size_t cut = iri.find_last_of(iri.starts_with("urn:") ? ":" : "/#");
  const std::string_view tail = cut == std::string_view::npos ? iri : iri.substr(cut + 1);
  std::string out;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    unsigned char byte = 0;
    if (tail[i] == '%' && i + 2 < tail.size() &&
        std::from_chars(tail.data() + i + 1, tail.data() + i + 3, byte, 16).ptr == tail.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += tail[i];
    }
  }
  return out;
}

bool same_text(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::string key = base::match_key(a);
  return !key.empty() && key == base::match_key(b);  // two texts of signs alone are not the same text
}

}  // namespace

bool same_answer(const PredictedValue& value, std::string_view gold) {
  if (!value.id.empty() && (gold == value.id || gold == last_part(value.id))) return true;
  if (looks_like_iri(gold)) return false;
  if (value.boolean) {
    const auto wanted = parse_truth(gold);
    const auto given = value.texts.empty() ? std::nullopt : parse_truth(value.texts.front());
    return wanted && given && *wanted == *given;
  }
  const auto wanted = parse_number(gold);
  return std::any_of(value.texts.begin(), value.texts.end(), [&](const std::string& text) {
    if (wanted) {
      // Two numbers are compared as such only: match_key() drops the sign of "-5".
      if (const auto given = parse_number(text)) return same_number(*wanted, *given);
    }
    return same_text(text, gold);
  });
}

Outcome judge(const Question& question, const Prediction& prediction) {
  Outcome outcome;
  outcome.answerable = question.answerable();
  outcome.answered = !prediction.answers.empty();
  if (outcome.answered) outcome.confidence = prediction.confidence;
  outcome.reason_stated = !question.reason.empty();
  outcome.reason_right = outcome.reason_stated && !outcome.answered && prediction.reason == question.reason;
  if (!outcome.answerable) {
    outcome.right = !outcome.answered;
    outcome.precision = outcome.recall = outcome.f1 = outcome.right ? 1 : 0;
    return outcome;
  }
  const auto is_gold = [&](const PredictedValue& value) {
    return std::any_of(question.answers.begin(), question.answers.end(),
                       [&](const std::string& gold) { return same_answer(value, gold); });
  };
  for (std::size_t i = 0; i < prediction.answers.size() && outcome.rank == 0; ++i) {
    const auto& values = prediction.answers[i];
    if (!values.empty() && std::all_of(values.begin(), values.end(), is_gold)) {
      outcome.rank = static_cast<std::uint32_t>(i + 1);
    }
  }
  outcome.right = outcome.rank == 1;
  if (!outcome.answered || prediction.answers.front().empty()) return outcome;

  const auto& given = prediction.answers.front();
  const auto good = static_cast<double>(std::count_if(given.begin(), given.end(), is_gold));
  const auto found = static_cast<double>(
      std::count_if(question.answers.begin(), question.answers.end(), [&](const std::string& gold) {
        return std::any_of(given.begin(), given.end(),
                           [&](const PredictedValue& value) { return same_answer(value, gold); });
      }));
  outcome.precision = good / static_cast<double>(given.size());
  outcome.recall = found / static_cast<double>(question.answers.size());
  if (outcome.precision + outcome.recall > 0) {
    outcome.f1 = 2 * outcome.precision * outcome.recall / (outcome.precision + outcome.recall);
  }
  return outcome;
}

std::string to_json_line(const Record& record) {
  const Question& question = record.question;
  Json out;
  out["id"] = question.id;
  out["lang"] = question.lang;
  out["question"] = question.question;
  if (!question.kind.empty()) out["kind"] = question.kind;
  if (!question.split.empty()) out["split"] = question.split;
  out["gold"] = question.answers;
  if (!question.reason.empty()) out["gold_reason"] = question.reason;
  Json answers = Json::array();
  if (record.outcome.answered) {
    for (const PredictedValue& value : record.prediction.answers.front()) {
      Json item;
      if (!value.id.empty()) item["id"] = value.id;
      item["text"] = value.texts.empty() ? std::string() : value.texts.front();
      answers.push_back(std::move(item));
    }
    out["answers"] = std::move(answers);
    out["confidence"] = base::json_number(record.prediction.confidence);
  } else {
    out["answers"] = std::move(answers);
    out["reason"] = record.prediction.reason;
  }
  out["right"] = record.outcome.right;
  out["precision"] = base::json_number(record.outcome.precision);
  out["recall"] = base::json_number(record.outcome.recall);
  out["f1"] = base::json_number(record.outcome.f1);
  out["rank"] = record.outcome.rank;
  out["ms"] = base::json_number(record.prediction.milliseconds, 4);
  return base::dump_json(out);
}

base::Result<Record> parse_record(std::string_view line) {
  ASKBASE_ASSIGN(const Json object, base::parse_json(line));
  if (!object.is_object()) return fail(ErrorCode::bad_input, "not a JSON object");
  Record record;
  // The JSON library's typed getters throw on a wrong type; one catch turns all of those into one message.
  try {
    record.question.id = object.at("id").get<std::string>();
    record.question.lang = object.at("lang").get<std::string>();
    record.question.question = object.value("question", "");
    record.question.kind = object.value("kind", "");
    record.question.split = object.value("split", "");
    record.question.answers = object.at("gold").get<std::vector<std::string>>();
    record.question.reason = object.value("gold_reason", "");
    std::vector<PredictedValue> given;
    for (const Json& item : object.at("answers")) {
      PredictedValue value;
      value.id = item.value("id", "");
      value.texts.push_back(item.at("text").get<std::string>());
      given.push_back(std::move(value));
    }
    if (!given.empty()) record.prediction.answers.push_back(std::move(given));
    record.prediction.confidence = object.value("confidence", 0.0);
    record.prediction.reason = object.value("reason", "");
    record.prediction.milliseconds = object.value("ms", 0.0);
    Outcome& outcome = record.outcome;
    outcome.answerable = record.question.answerable();
    outcome.answered = !record.prediction.answers.empty();
    outcome.right = object.at("right").get<bool>();
    outcome.precision = object.at("precision").get<double>();
    outcome.recall = object.at("recall").get<double>();
    outcome.f1 = object.at("f1").get<double>();
    outcome.confidence = record.prediction.confidence;
    outcome.rank = object.value("rank", 0U);
    outcome.reason_stated = !record.question.reason.empty();
    outcome.reason_right =
        outcome.reason_stated && !outcome.answered && record.prediction.reason == record.question.reason;
  } catch (const Json::exception&) {
    return fail(ErrorCode::bad_input,
                "not a line of `eval kbqa --out`: a key is missing or has another type");
  }
  return record;
}

base::Result<std::vector<Record>> read_records(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const std::unique_ptr<base::Input> input, base::Input::open(path));
  base::LineReader lines(*input);
  std::vector<Record> records;
  std::set<std::string> ids;
  std::string_view line;
  while (true) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return records;
    if (base::trim(line).empty()) continue;
    const std::string place = input->name() + ":" + std::to_string(lines.line_number()) + ": ";
    auto record = parse_record(line);
    if (!record) return fail(record.error().code, place + record.error().message);
    if (!ids.insert(record->question.id).second) {
      return fail(ErrorCode::bad_input, place + "the id \"" + record->question.id + "\" comes twice");
    }
    records.push_back(std::move(*record));
  }
}

}  // namespace askbase::datasets
