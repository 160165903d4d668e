// askbase search TEXT
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "kb/entity_index.h"

namespace askbase::cli {
namespace {

struct SearchArguments {
  std::string text, lang;
  std::size_t limit = 10;
  bool json = false;
};

std::string match_name(kb::MatchKind kind) {
  constexpr std::array<const char*, 4> names = {"exact", "prefix", "word", "fuzzy"};
  return names[static_cast<std::size_t>(kind)];
}

base::Result<int> run_search(const SearchArguments& arguments, const Globals& globals) {
  if (!base::valid_utf8(arguments.text)) {
    return base::fail(base::ErrorCode::invalid_argument, "the text is not valid UTF-8");
  }
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const auto matches, kb::search(*view, arguments.text, arguments.lang, arguments.limit));
  base::Json out = base::Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const kb::EntityMatch& match : matches) {
    ASKBASE_ASSIGN(const kb::Term term, view->term(match.entity));
    ASKBASE_ASSIGN(const std::string label, kb::display_name(*view, match.entity, arguments.lang));
    const std::string id = term.kind == kb::TermKind::blank ? "_:" + term.value : term.value;
    base::Json item;
    item["id"] = id;
    item["label"] = label;
    item["matched"] = match.name.text;
    if (!match.name.lang.empty()) item["lang"] = match.name.lang;
    item["match"] = match_name(match.match);
    item["facts"] = match.facts;
    item["score"] = base::json_number(match.score, 4);
    out.push_back(std::move(item));
    const std::string shown = match.name.text == label ? label : label + " (" + match.name.text + ")";
    rows.push_back({shown, match_name(match.match), std::to_string(match.facts), id});
  }
  if (arguments.json) {
    print(base::dump_json(out) + "\n");
  } else if (rows.empty()) {
    print_line("Nothing is called \"" + arguments.text + "\".");
  } else {
    rows.insert(rows.begin(), {"NAME", "MATCH", "FACTS", "ID"});
    print(table(rows, {false, false, true}));
  }
  return exit_done;
}

}  // namespace

void add_search(const Command& askbase) {
  auto arguments = std::make_shared<SearchArguments>();
  const Command command = askbase.add("search", "Find entities by name",
                                      "  askbase --kb my-kb search \"new yrok\"\n"
                                      "  askbase --kb my-kb search 北京 --lang zh --limit 3 --json\n"
                                      "Facts are counted up to 64.");
  command.argument("TEXT", arguments->text, "A name, its beginning, words of it, or nearly so");
  command.option("--lang", "LANG", arguments->lang, "Prefer names in this language (en, zh, ...)");
  command.option("--limit", "N", arguments->limit, "At most so many; 10", 1, 1000);
  command.flag("--json", arguments->json, "An array of JSON objects");
  command.on_run([arguments](const Globals& globals) { return run_search(*arguments, globals); });
}

}  // namespace askbase::cli
