#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/input.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "reader/wordpiece.h"
#include "tests/test_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, bool>, 4> kVocabularies = {{
    {"bert-base-uncased-vocab.txt", true},
    {"bert-base-cased-vocab.txt", false},
    {"bert-base-chinese-vocab.txt", true},
    {"bert-base-multilingual-cased-vocab.txt", false},
}};

WordPieceOptions casing(bool lower) {
  WordPieceOptions options;
  options.lower_case = options.strip_accents = lower;
  return options;
}

json golden(const std::string& file) {
  std::ifstream in(test::source_folder() / "tests/golden/reader" / file);
  REQUIRE_MESSAGE(in.good(), file);
  return json::parse(in);
}

Vocabulary vocabulary_of(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece + "\n";
  auto vocabulary = Vocabulary::parse(text, "vocab.txt");
  REQUIRE(vocabulary);
  return std::move(*vocabulary);
}

Vocabulary vocabulary_in(const std::filesystem::path& data, const std::string& file) {
  const auto text = base::read_file(data / "vocab" / file);
  REQUIRE(text);
  auto vocabulary = Vocabulary::parse(*text, file);
  REQUIRE(vocabulary);
  return std::move(*vocabulary);
}

const json& small_cases() {
  static const json cases = golden("wordpiece.json");
  return cases;
}

Vocabulary tiny() { return vocabulary_of(small_cases().at("vocabulary").get<std::vector<std::string>>()); }

void check_cases(const WordPiece& tokenizer, const std::string& key) {
  for (const json& item : small_cases().at("cases")) {
    const std::string text = item.at("text");
    CAPTURE(text);
    CAPTURE(key);
    const Pieces pieces = tokenizer.tokenize(text);
    const json& expected = item.at(key);
    CHECK(pieces.ids == expected.at("ids").get<std::vector<std::int32_t>>());
    CHECK(pieces.begin == expected.at("begin").get<std::vector<std::uint32_t>>());
    CHECK(pieces.end == expected.at("end").get<std::vector<std::uint32_t>>());
  }
}

void check_places(const Pieces& pieces, std::string_view text) {
  const std::size_t length = base::count_code_points(text);
  REQUIRE(pieces.begin.size() == pieces.size());
  REQUIRE(pieces.end.size() == pieces.size());
  bool inside = true;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    inside &= pieces.begin[i] < pieces.end[i] && pieces.end[i] <= length;
  }
  CHECK(inside);
}

TEST_SUITE("reader_wordpiece") {
  TEST_CASE("goldens of an independent implementation, with a small vocabulary of their own") {
    check_cases(WordPiece(tiny(), casing(true)), "tiny_uncased");
    check_cases(WordPiece(tiny(), casing(false)), "tiny_cased");
  }

  TEST_CASE("goldens with the vocabularies of BERT") {
    const auto data = test::data_folder();
    if (!data) {
      MESSAGE("skipped: ASKBASE_DATA is not there");
      return;
    }
    for (const auto& [file, lower] : kVocabularies) {
      check_cases(WordPiece(vocabulary_in(*data, file), casing(lower)), file);
    }
  }

  // Tens of thousands of real texts: run by the test reader_data.
  TEST_CASE("digests of ids and offsets of real texts" * doctest::skip()) {
    const auto data = test::data_folder();
    if (!data || !std::filesystem::is_directory(*data / "reader")) {
      MESSAGE("skipped: ASKBASE_DATA is not there");
      return;
    }
    const json expected = golden("wordpiece_data.json");
    const auto most = expected.at("texts_a_file").get<std::size_t>();
    std::vector<WordPiece> tokenizers;
    for (const auto& [file, lower] : kVocabularies) {
      tokenizers.emplace_back(vocabulary_in(*data, file), casing(lower));
    }
    std::size_t all = 0;
    for (const json& entry : expected.at("files")) {
      const std::string name = entry.at("file");
      CAPTURE(name);
      auto input = base::Input::open(*data / "reader" / name);
      REQUIRE(input);
      std::string content(1 << 16, '\0');
      std::size_t size = 0;
      for (;;) {
        content.resize(size + (1 << 20));
        const auto got = (*input)->read(content.data() + size, 1 << 20);
        REQUIRE(got);
        size += *got;
        if (*got == 0) break;
      }
      content.resize(size);
      std::vector<std::string> texts;
      const json parsed = json::parse(content);
      for (const json& article : parsed.at("data")) {
        for (const json& paragraph : article.at("paragraphs")) {
          if (texts.size() >= most) break;
          texts.push_back(paragraph.at("context"));
          for (const json& question : paragraph.at("qas")) texts.push_back(question.at("question"));
        }
      }
      if (texts.size() > most) texts.resize(most);
      REQUIRE(texts.size() == entry.at("texts").get<std::size_t>());
      all += texts.size();
      Pieces pieces;
      for (std::size_t v = 0; v < kVocabularies.size(); ++v) {
        const json& digest = entry.at("vocabularies").at(kVocabularies[v].first);
        CAPTURE(kVocabularies[v].first);
        base::Sha256 hash;
        std::size_t count = 0;
        std::string bytes;
        for (const std::string& text : texts) {
          tokenizers[v].tokenize(text, pieces);
          count += pieces.size();
          std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(pieces.size())};
          for (std::size_t i = 0; i < pieces.size(); ++i) {
            numbers.insert(numbers.end(),
                           {static_cast<std::uint32_t>(pieces.ids[i]), pieces.begin[i], pieces.end[i]});
          }
          bytes.resize(4 * numbers.size());
          std::memcpy(bytes.data(), numbers.data(), bytes.size());
          hash.append(bytes);
        }
        CHECK(count == digest.at("pieces").get<std::size_t>());
        CHECK(hash.hex() == digest.at("sha256").get<std::string>());
      }
    }
    CHECK(all > 30'000);
  }

  TEST_CASE("places of pieces fit bytes and UTF-16 units") {
    const std::string text = "a😀b 中国x";
    const WordPiece tokenizer(tiny());
    const Pieces pieces = tokenizer.tokenize(text);
    REQUIRE(pieces.size() == 4);  // "a😀b" is unknown as a whole
    CHECK(pieces.ids[0] == tokenizer.vocabulary().unknown());
    CHECK(pieces.end[0] == 3);
    const base::OffsetMap map(text);
    CHECK(map.byte(pieces.begin[2]) == 10);
    CHECK(map.utf16(pieces.begin[2]) == 6);
    CHECK(text.substr(map.byte(pieces.begin[2]), map.byte(pieces.end[2]) - map.byte(pieces.begin[2])) ==
          "国");
  }

  TEST_CASE("special pieces in the text only where asked for") {
    const std::string text = "a [MASK] [SEP]b [mask]";
    const Vocabulary v = tiny();
    WordPieceOptions options;
    CHECK(WordPiece(tiny(), options).tokenize(text).ids[1] == v.id("["));
    options.special_in_text = true;
    const Pieces pieces = WordPiece(tiny(), options).tokenize(text);
    CHECK(pieces.ids[1] == v.mask());
    CHECK(pieces.begin[1] == 2);
    CHECK(pieces.end[1] == 8);
    CHECK(pieces.ids[2] == v.separator());
    CHECK(pieces.ids[3] == v.id("b"));
    CHECK(pieces.begin[3] == 14);
    CHECK(pieces.ids[4] == v.id("["));
  }

  TEST_CASE("invalid UTF-8 counts byte by byte and is dropped") {
    const std::string text = "a\xFF\xC3 b\xE4\xB8 \xF0\x9F\x98";
    const Pieces pieces = WordPiece(tiny()).tokenize(text);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces.begin == std::vector<std::uint32_t>{0, 4});
    check_places(pieces, text);
  }

  TEST_CASE("ten megabytes, with and without spaces") {
    const WordPiece tokenizer(tiny());
    for (const char* unit :
         {"x", "Hello world, ", "中", "e\xCC\x81", "\xCC\x81", "\xCE\xA3", "\xED\x95\x9C"}) {
      std::string text;
      while (text.size() < 2'000'000) text += unit;
      CAPTURE(unit);
      const Pieces pieces = tokenizer.tokenize(text);
      check_places(pieces, text);
    }
    std::string text;
    while (text.size() < 10'000'000) text += "unaffable running, 中国的首都 café. ";
    check_places(tokenizer.tokenize(text), text);
  }

  TEST_CASE("any bytes: places stay inside, and a buffer used again gives the same") {
    const WordPiece tokenizer(tiny());
    Pieces reused;
    std::uint64_t state = 7;
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (int i = 0; i < 200; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        if (state >> 63 != 0) {
          text += static_cast<char>(state >> 40);
        } else {
          base::append_utf8(text, static_cast<char32_t>((state >> 33) % (round % 2 != 0 ? 0x3100 : 0xD800)));
        }
      }
      tokenizer.tokenize(text, reused);
      check_places(reused, text);
      CHECK(reused == tokenizer.tokenize(text));
    }
  }

  TEST_CASE("one tokenizer, four threads") {
    const WordPiece tokenizer(tiny());
    const std::string text = "Unaffable running: café, 中国的首都 ΟΔΟΣ 한국";
    const Pieces expected = tokenizer.tokenize(text);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) wrong += tokenizer.tokenize(text) == expected ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }

  TEST_CASE("vocabularies that are none are refused with the line") {
    const std::string good = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n";
    REQUIRE(Vocabulary::parse(good, "v"));
    const auto windows = Vocabulary::parse("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n##a", "v");
    REQUIRE(windows);
    CHECK(windows->size() == 5);
    CHECK(windows->piece(4) == "##a");
    CHECK(windows->continues(4));
    CHECK(windows->mask() == -1);
    const auto message = [](const std::string& text) {
      const auto result = Vocabulary::parse(text, "v.txt");
      return result ? std::string("accepted") : result.error().message;
    };
    CHECK(message(good + "b\na\n") == "v.txt:7: the piece \"a\" stands in line 5 already");
    CHECK(message(good + "\nb\n") == "v.txt:6: an empty line in a vocabulary");
    CHECK(message(good + "\xFF\n") == "v.txt:6: not UTF-8");
    CHECK(message("[PAD]\n[CLS]\n[SEP]\n") == "v.txt: the piece [UNK] is missing from the vocabulary");
    CHECK(message("") == "v.txt: the piece [UNK] is missing from the vocabulary");
    CHECK(message("[UNK]\n[CLS]\n[SEP]\n") == "v.txt: the piece [PAD] is missing from the vocabulary");
    CHECK(message(good + std::string(5000, 'x')).find("v.txt:6: a piece of 5000 bytes") == 0);
    CHECK_THROWS_AS((void)windows->piece(5), std::logic_error);
    CHECK_THROWS_AS((void)windows->piece(-1), std::logic_error);
    CHECK(windows->id("nothing") == -1);
    CHECK(windows->id("") == -1);
  }

  TEST_CASE("pairs: [CLS] a [SEP] b [SEP], the longer one is cut") {
    const Vocabulary v = tiny();
    const auto ids = [&](std::size_t n) {
      Pieces pieces;
      for (std::size_t i = 0; i < n; ++i) {
        pieces.ids.push_back(static_cast<std::int32_t>(10 + i));
        pieces.begin.push_back(static_cast<std::uint32_t>(i));
        pieces.end.push_back(static_cast<std::uint32_t>(i + 1));
      }
      return pieces;
    };
    const EncoderInput pair = encode_pair(v, ids(2), ids(3), 100);
    CHECK(pair.ids == std::vector<std::int32_t>{v.start(), 10, 11, v.separator(), 10, 11, 12, v.separator()});
    CHECK(pair.types == std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1});
    CHECK(pair.first == 1);
    CHECK(pair.second == 4);
    const EncoderInput one = encode_one(v, ids(5), 4);
    CHECK(one.ids == std::vector<std::int32_t>{v.start(), 10, 11, v.separator()});
    CHECK(one.types == std::vector<std::int32_t>(4, 0));
    // Against the rule as it is said: one piece at a time off the longer.
    for (std::size_t a = 0; a < 12; ++a) {
      for (std::size_t b = 0; b < 12; ++b) {
        for (std::size_t most = 3; most < 26; ++most) {
          std::size_t first = a, second = b;
          while (first + second + 3 > most) --(first > second ? first : second);
          const EncoderInput cut = encode_pair(v, ids(a), ids(b), most);
          REQUIRE(cut.first_size == first);
          REQUIRE(cut.second_size == second);
          REQUIRE(cut.ids.size() == first + second + 3);
          REQUIRE(cut.types.size() == cut.ids.size());
        }
      }
    }
    CHECK_THROWS_AS(encode_pair(v, ids(1), ids(1), 2), std::logic_error);
    CHECK_THROWS_AS(encode_one(v, ids(1), 1), std::logic_error);
  }

  TEST_CASE("windows cover the context, overlap and end with it") {
    WindowOptions options;
    CHECK(plan_windows(10, 0, options) == std::vector<Window>{{0, 0}});
    CHECK(plan_windows(10, 371, options) == std::vector<Window>{{0, 371}});
    CHECK(plan_windows(10, 372, options) == std::vector<Window>{{0, 371}, {128, 372}});
    for (const std::size_t question : {0, 5, 64, 500}) {
      for (const std::size_t context : {1, 100, 317, 318, 1000, 4321}) {
        for (const std::size_t stride : {1, 100, 128, 100000}) {
          options.stride = stride;
          const std::vector<Window> windows = plan_windows(question, context, options);
          CHECK(windows.front().begin == 0);
          CHECK(windows.back().end == context);
          for (std::size_t i = 1; i < windows.size(); ++i) {
            REQUIRE(windows[i].begin > windows[i - 1].begin);
            REQUIRE(windows[i].begin <= windows[i - 1].end);
            REQUIRE(windows[i].end > windows[i - 1].end);
          }
          for (const Window& window : windows) {
            REQUIRE(window.end - window.begin + std::min<std::size_t>(question, 64) + 3 <= 384);
          }
        }
      }
    }
    options.max_length = 67;
    CHECK_THROWS_AS(plan_windows(64, 10, options), std::logic_error);

    const WordPiece tokenizer(tiny());
    const Vocabulary& v = tokenizer.vocabulary();
    const Pieces question = tokenizer.tokenize("hello world"), context = tokenizer.tokenize("a b c d e");
    const EncoderInput input = encode_window(v, question, context, {2, 4});
    CHECK(input.ids == std::vector<std::int32_t>{v.start(), v.id("hello"), v.id("world"), v.separator(),
                                                 v.id("c"), v.id("d"), v.separator()});
    CHECK(input.second == 4);
    CHECK(input.second_size == 2);
    CHECK_THROWS_AS(encode_window(v, question, context, {2, 6}), std::logic_error);
  }
}

}  // namespace
}  // namespace askbase::reader
