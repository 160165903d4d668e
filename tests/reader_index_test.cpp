// The passage index over a store: documents in and out, ranking, places, crashes.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "base/interrupt.h"
#include "base/text.h"
#include "reader/document_load.h"
#include "reader/index_terms.h"
#include "reader/passage_index.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::reader;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<kb::Store> opened(const fs::path& folder, kb::OpenMode mode = kb::OpenMode::create) {
  auto store = kb::Store::open(folder, mode);
  if (!store) FAIL(store.error().message);
  return std::move(*store);
}

PassageIndex index_of(const kb::Store& store) {
  return PassageIndex::open(store.storage().snapshot()).value();
}

Document document(std::string id, std::string text, std::string title = {}) {
  Document made;
  made.id = std::move(id);
  made.text = std::move(text);
  made.title = std::move(title);
  made.source = "test";
  return made;
}

void put(kb::Store& store, Document one, const PassageOptions& options = {}) {
  const auto done = put_documents(store, {std::move(one)}, options);
  if (!done) FAIL(done.error().message);
}

void check_whole(const kb::Store& store) {
  const auto report = check_passages(*store.storage().snapshot());
  REQUIRE(report);
  for (const std::string& problem : report->problems) FAIL_CHECK(problem);
}

// Ids of the documents that the best passages come from.
std::vector<std::string> found(const kb::Store& store, std::string_view query, std::size_t most = 10) {
  const PassageIndex index = index_of(store);
  std::vector<std::string> ids;
  const auto hits = index.search(query, most);
  REQUIRE(hits);
  for (const PassageHit& hit : *hits) ids.push_back(index.passage(hit.passage).value().document);
  return ids;
}

std::string random_words(std::mt19937& random, std::size_t count) {
  static const std::vector<std::string> words = {"river", "city",  "king", "中国", "engine", "war", "museum",
                                                 "music", "state", "台灣", "rule", "of",     "the", "in"};
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += words[random() % words.size()] + (random() % 9 == 0 ? ". " : " ");
  return text;
}

void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("scores are BM25's, computed apart from the index") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  std::mt19937 random(7);
  std::map<std::string, std::map<std::string, int>> counts;  // of terms, by document
  std::map<std::string, double> lengths;
  std::vector<Document> documents;
  for (int i = 0; i < 600; ++i) {
    const std::string id = "d" + std::to_string(i);
    const std::string text = random_words(random, 1 + random() % 60);
    TermReader().read(text, [&](const IndexTerm& one) {
      ++counts[id][std::string(one.term)];
      if (!one.pair) ++lengths[id];
    });
    documents.push_back(document(id, text));
  }
  REQUIRE(put_documents(*store, documents, {.whole = true}));
  check_whole(*store);
  double all_lengths = 0;
  for (const auto& [id, length] : lengths) all_lengths += length;
  const double average = all_lengths / 600;
  const PassageIndex index = index_of(*store);
  CHECK(index.passages() == 600);
  for (const std::string query :
       {"king of the river", "the museum museum", "中国 music", "台湾", "engines"}) {
    std::map<std::string, int> wanted;
    TermReader().read(query, [&](const IndexTerm& one) { ++wanted[std::string(one.term)]; });
    std::map<std::string, double> scores;
    for (const auto& [term, times] : wanted) {
      double holding = 0;
      for (const auto& [id, terms] : counts) holding += terms.contains(term) ? 1 : 0;
      for (const auto& [id, terms] : counts) {
        const auto count = terms.find(term);
        if (count == terms.end()) continue;
        const double tf = count->second;
        scores[id] += times * std::log(1 + (600 - holding + 0.5) / (holding + 0.5)) * tf * 2.2 /
                      (tf + 1.2 * (0.25 + 0.75 * lengths[id] / average));
      }
    }
    const auto hits = index.search(query, 1000).value();
    CHECK(hits.size() == scores.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
      CHECK(hits[i].score ==
            doctest::Approx(scores.at(index.passage(hits[i].passage)->document)).epsilon(1e-4));
      if (i > 0) CHECK(hits[i].score <= hits[i - 1].score);
    }
    CHECK(index.search(query, 3)->size() == 3);
  }
  CHECK(index.search("", 10)->empty());
  CHECK(index.search("🙂 zzzz", 10)->empty());
}

TEST_CASE("documents come, change and go one by one, and the index is always that of what is there") {
  test::ScratchFolder scratch;
  auto store = opened(scratch / "kb");
  std::mt19937 random(11);
  std::map<std::string, std::string> texts;
  for (int round = 0; round < 60; ++round) {
    const std::string id = "doc" + std::to_string(random() % 12);
    if (random() % 3 == 0) {
      const auto gone = delete_document(*store, id);
      CHECK(gone.has_value() == (texts.erase(id) > 0));
      if (!gone) CHECK(gone.error().code == base::ErrorCode::not_found);
    } else {
      texts[id] = random_words(random, random() % 400);
      put(*store, document(id, texts[id], round % 2 == 0 ? "A title" : ""), {.tokens = 40, .overlap = 10});
    }
    if (round == 30) {
      store.reset();
      store = opened(scratch / "kb", kb::OpenMode::read_write);
    }
  }
  check_whole(*store);
  const PassageIndex index = index_of(*store);
  CHECK(index.documents() == texts.size());
  for (const auto& [id, text] : texts) CHECK(index.document_text(id).value() == text);
  CHECK(kb::check(*store).value().problems.empty());
}

TEST_CASE("a document that is the same changes nothing; one that is not is replaced") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store, document("a", "The whale is white."));
  const std::uint64_t version = store->view().value()->version();
  const auto same = put_documents(*store, {document("a", "The whale is white.")});
  CHECK(same->unchanged == 1);
  CHECK(same->documents == 1);
  CHECK(store->view().value()->version() == version);
  const auto other = put_documents(*store, {document("a", "The ship is black.")});
  CHECK(other->replaced == 1);
  CHECK(other->passages == 1);
  CHECK(found(*store, "whale").empty());
  CHECK(found(*store, "ships") == std::vector<std::string>{"a"});
  CHECK(put_documents(*store, {document("b", "x"), document("b", "y")}).error().code ==
        base::ErrorCode::bad_input);
  CHECK(index_of(*store).documents() == 1);
}

TEST_CASE("places of spans are those of the text as it was loaded") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  const std::string text =
      "Head 1\n\n🙂 The docu-\nment speaks of Zürich.\n\nfoot\n\fHead 2\n\nIt was writ-\nten in "
      "1905.\n\nfoot\n"
      "\fHead 3\n\nThe end.\n\nfoot\n";
  put(*store, document("d", text));
  check_whole(*store);
  const PassageIndex index = index_of(*store);
  const auto hits = index.search("document written", 5).value();
  REQUIRE(hits.size() == 1);
  const Passage passage = index.passage(hits[0].passage).value();
  CHECK(passage.paged);
  CHECK(passage.text.find("foot") == std::string::npos);
  const std::u32string original = base::to_code_points(text), read = base::to_code_points(passage.text);
  const auto placed = [&](std::u32string_view words) {
    const std::size_t at = read.find(words);
    REQUIRE(at != std::u32string::npos);
    return passage.place(at, at + words.size());
  };
  const SpanPlace document_place = placed(U"document");
  CHECK(original.substr(document_place.begin, document_place.end - document_place.begin) == U"docu-\nment");
  CHECK(document_place.page == 1);
  CHECK(document_place.begin_utf16 == document_place.begin + 1);  // the emoji has two units
  const SpanPlace zurich = placed(U"Zürich");
  CHECK(original.substr(zurich.begin, zurich.end - zurich.begin) == U"Zürich");
  const SpanPlace year = placed(U"1905");
  CHECK(original.substr(year.begin, year.end - year.begin) == U"1905");
  CHECK(year.page == 2);
  CHECK(placed(U"The end").page == 3);
  // Every span of the passage lies inside the document, in order; beyond its end there is nothing.
  for (std::size_t begin = 0; begin < read.size(); ++begin) {
    const SpanPlace one = passage.place(begin, begin + 1);
    CHECK(one.begin < one.end);
    CHECK(one.end <= original.size());
    CHECK(original.substr(one.begin, 1) == read.substr(begin, 1));
  }
  CHECK(passage.place(10'000, 20'000).end <= original.size());
  CHECK(passage.whole.end <= original.size());
  CHECK(index.passage(99).error().code == base::ErrorCode::not_found);
}

TEST_CASE("what a document's text may be") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store, document("empty", ""));
  put(*store, document("emoji", "🙂🙂👍🏽"));
  put(*store, document("hebrew", "שלום עולם. זה מסמך."));
  put(*store, document("chinese", "張藝謀出生於西安。"));
  std::string large;
  for (int i = 0; large.size() < (10 << 20) / 8; ++i) large += "Sentence " + std::to_string(i) + " of many. ";
  put(*store, document("large", large));
  put(*store, document("unbroken", std::string(300'000, 'a') + " needle"));
  check_whole(*store);
  CHECK(found(*store, "עולם") == std::vector<std::string>{"hebrew"});
  CHECK(found(*store, "张艺谋") == std::vector<std::string>{"chinese"});
  CHECK(found(*store, "西安出生") == std::vector<std::string>{"chinese"});
  CHECK(found(*store, "needle") == std::vector<std::string>{"unbroken"});
  CHECK(found(*store, "sentence 777", 1) == std::vector<std::string>{"large"});
  CHECK(index_of(*store).document("empty").value()->passages == 0);
  CHECK(index_of(*store).document_text("large").value() == large);
  for (const char* id : {"empty", "emoji", "hebrew", "chinese", "large", "unbroken"})
    REQUIRE(delete_document(*store, id));
  check_whole(*store);
  CHECK(index_of(*store).passages() == 0);
  const auto snapshot = store->storage().snapshot();
  for (const kb::Table table : {kb::Table::documents, kb::Table::document_text, kb::Table::passages,
                                kb::Table::postings, kb::Table::vectors}) {
    const auto cursor = snapshot->cursor(table, {});
    cursor->seek({});
    CHECK_FALSE(cursor->valid());
  }
}

TEST_CASE("postings beyond the memory budget go through the disk") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  DocumentUpdateOptions options;
  options.memory_bytes = 20'000;
  std::mt19937 random(2);
  {
    const auto update = DocumentUpdate::begin(*store, options).value();
    CHECK(DocumentUpdate::begin(*store, options).error().code == base::ErrorCode::locked);
    CHECK(store->begin_update().error().code == base::ErrorCode::locked);
    for (int i = 0; i < 300; ++i) {
      std::string text = random_words(random, 50);
      for (int k = 0; k < 20; ++k) text += " w" + std::to_string(random() % 5000);
      auto prepared = update->prepare(document(std::to_string(i), text));
      REQUIRE(prepared);
      REQUIRE(update->add(std::move(*prepared)));
    }
    REQUIRE(update->commit());
  }
  CHECK(store->begin_update().has_value());
  check_whole(*store);
  CHECK(index_of(*store).documents() == 300);
}

TEST_CASE("files: a source brings its documents, and takes back those it no longer has") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  write(scratch / "a.jsonl",
        "{\"id\": \"1\", \"text\": \"one whale\", \"title\": \"T\", \"url\": \"http://x\", \"date\": "
        "\"2019\"}\n\n"
        "{\"id\": 2, \"text\": \"two whales\"}\n");
  write(scratch / "b.md", "# Ships\n\nOne **ship**.\n");
  write(scratch / "c.html", "<html lang='en'><title>Page</title><body>third <b>page</b></body>");
  const auto loaded = load_documents(*store, {scratch / "a.jsonl", scratch / "b.md", scratch / "c.html"}, {});
  if (!loaded) FAIL(loaded.error().message);
  CHECK(loaded->summary.added == 4);
  CHECK(found(*store, "whale").size() == 2);
  const auto md = index_of(*store).document("b.md").value();
  REQUIRE(md);
  CHECK(md->title == "Ships");
  CHECK(md->source == "b.md");
  const auto html = index_of(*store).document("c.html").value();
  CHECK(html->title == "Page");
  CHECK(html->lang == "en");
  const PassageIndex before = index_of(*store);
  write(scratch / "a.jsonl",
        "{\"id\": 2, \"text\": \"two whales\"}\n{\"id\": 3, \"text\": \"three whales\"}\n");
  const auto again = load_documents(*store, {scratch / "a.jsonl"}, {});
  CHECK(again->summary.added == 1);
  CHECK(again->summary.removed == 1);
  CHECK(again->summary.unchanged == 1);
  CHECK(again->summary.documents == 4);
  // Who asks meanwhile sees the state from before.
  CHECK(before.document("1").value().has_value());
  CHECK(before.search("whale", 9)->size() == 2);
  CHECK_FALSE(index_of(*store).document("1").value().has_value());
  CHECK(delete_documents_of(*store, "a.jsonl")->removed == 2);
  check_whole(*store);
}

TEST_CASE("files that cannot be read: the reason and the place, and nothing is changed") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  const auto refused = [&](const std::string& name, std::string_view content) {
    write(scratch / name, content);
    const auto loaded = load_documents(*store, {scratch / name}, {});
    REQUIRE_FALSE(loaded);
    CHECK(index_of(*store).documents() == 0);
    return loaded.error();
  };
  const std::string good = "{\"id\": \"1\", \"text\": \"x\"}\n";
  CHECK(refused("a.jsonl", good + "{\"id\": \"2\"}\n")
            .message.find("a.jsonl:2: the document has no \"text\"") != std::string::npos);
  CHECK(refused("b.jsonl", good + good).message.find("b.jsonl:2: the document \"1\" comes twice") !=
        std::string::npos);
  CHECK(refused("c.jsonl", good + "nonsense\n").message.find("c.jsonl:2: ") != std::string::npos);
  CHECK(refused("d.jsonl", "{\"text\": \"x\"}\n").message.find("d.jsonl:1: a document has no id") !=
        std::string::npos);
  CHECK(refused("e.jsonl", "{\"id\": \"1\", \"text\": \"a\\u0000\"}\n").message.find("NUL") !=
        std::string::npos);
  CHECK(refused("f.txt", "caf\xE9 olé").message.find("f.txt") != std::string::npos);
  CHECK(refused("g.docx", "x").code == base::ErrorCode::unsupported);
  CHECK(load_documents(*store, {scratch / "none.txt"}, {}).error().code == base::ErrorCode::not_found);
  DocumentLoadOptions skipping;
  skipping.skip_bad = true;
  write(scratch / "h.jsonl", good + "nonsense\n{\"id\": \"2\", \"text\": \"y\"}\n");
  const auto some = load_documents(*store, {scratch / "h.jsonl", scratch / "f.txt"}, skipping);
  if (!some) FAIL(some.error().message);
  CHECK(some->summary.added == 2);
  CHECK(some->bad == 2);
  REQUIRE(some->first_bad.size() == 2);
  CHECK(some->first_bad[0].where.ends_with("h.jsonl:2"));
  fs::create_directory(scratch / "other");
  write(scratch / "other" / "f.txt", "x");
  CHECK(load_documents(*store, {scratch / "f.txt", scratch / "other" / "f.txt"}, {})
            .error()
            .message.find("two files are called f.txt") != std::string::npos);
}

TEST_CASE("a load that is interrupted leaves everything as it was") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store, document("a", "before"));
  write(scratch / "b.txt", "after");
  base::request_interrupt();
  const auto loaded = load_documents(*store, {scratch / "b.txt"}, {});
  base::clear_interrupt();
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == base::ErrorCode::cancelled);
  CHECK(index_of(*store).documents() == 1);
  CHECK(load_documents(*store, {scratch / "b.txt"}, {})->summary.documents == 2);
}

TEST_CASE("a KB of format 1 has no documents until it gets one") {
  test::ScratchFolder scratch;
  fs::copy(test::source_folder() / "tests" / "fixtures" / "kb-v1", scratch / "kb",
           fs::copy_options::recursive);
  {
    const auto store = opened(scratch / "kb", kb::OpenMode::read_only);
    CHECK(store->storage().format() == 1);
    CHECK(index_of(*store).documents() == 0);
    CHECK(index_of(*store).search("anything", 5)->empty());
    CHECK(check_passages(*store->storage().snapshot())->problems.empty());
  }
  {
    const auto store = opened(scratch / "kb", kb::OpenMode::read_write);
    const auto before = store->storage().snapshot();
    put(*store, document("a", "The capital of Freedonia is Fredville."));
    CHECK(store->storage().format() == 2);
    CHECK(PassageIndex::open(before)->documents() == 0);
    CHECK(found(*store, "capital") == std::vector<std::string>{"a"});
  }
  const auto store = opened(scratch / "kb", kb::OpenMode::read_only);
  CHECK(store->storage().format() == 2);
  CHECK(store->view().value()->facts() == 115);
  CHECK(found(*store, "capital") == std::vector<std::string>{"a"});
  check_whole(*store);
}
