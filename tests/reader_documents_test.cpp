// Documents and their text: markup, what is not read, passages, terms.
#include <doctest/doctest.h>
#include <random>
#include <set>
#include <string>

#include "base/sentences.h"
#include "base/text.h"
#include "reader/document_files.h"
#include "reader/index_terms.h"
#include "reader/markup.h"
#include "reader/passages.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::reader;

namespace {

std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  TermReader().read(text, [&](const IndexTerm& one) { terms.emplace_back(one.term); });
  return terms;
}

std::string read(std::string_view text, TextForm form = TextForm::plain) {
  return read_text(text, unread_ranges(text, form));
}

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (const std::uint32_t end : base::sentence_ends(text)) {
    out.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  CHECK(begin == text.size());
  return out;
}

// A soup of what breaks readers of markup.
std::string soup(std::mt19937& random, std::size_t pieces) {
  static const std::vector<std::string> words = {
      "<",     ">",  "</",    "<p",    "<p>",   "</p>", "<script>", "</script>", "<!--",   "-->",     "&",
      "&amp;", "&#", "&#x",   "&#55;", "\"",    "'",    "=",        "<nav>",     "</nav>", "<title>", "text ",
      "日本",  "\n", "\f",    "-",     "[",     "](",   ")",        "**",        "_",      "`",       "|",
      "```\n", "# ", "---\n", "<td>",  "<pre>", "é",    "🙂",     "a-\nb",     "\\",     "<svg",    "  "};
  std::string out;
  for (std::size_t i = 0; i < pieces; ++i) out += words[random() % words.size()];
  return out;
}

}  // namespace

TEST_CASE("the text of an HTML page") {
  const MarkupText page = html_text(
      "<!DOCTYPE html><html lang=en><head><title>A &amp; B\n page</title><style>p { color: red }</style>"
      "<script>if (a < b) { document.write('<p>no</p>'); }</script></head><body><nav><a>Home</a></nav>"
      "<h1>Head</h1><p>One <b>bold</b>\n  word&nbsp;&mdash; caf&eacute; &#20013;&#x56FD; &#128; &bogus; "
      "a&b.</p>"
      "<!-- gone "
      "--><ul><li>first<li>second</ul><table><tr><td>1<td>2</tr><tr><td>3</td><td>4</td></tr></table>"
      "<pre>x\n  y</pre>end</body></html>");
  CHECK(page.title == "A & B page");
  CHECK(page.lang == "en");
  CHECK(page.text ==
        "Head\n\nOne bold word\u00A0\u2014 caf\u00E9 \u4E2D\u56FD \u20AC &bogus; a&b.\n\n- first\n- "
        "second\n\n1\t2\n3\t4"
        "\n\nx\ny\n\nend");
  CHECK(html_text("<p>no title<h1>The <i>head</i></h1>").title == "The head");
}

TEST_CASE("broken HTML loses no text that a browser would show") {
  CHECK(html_text("plain text").text == "plain text");
  CHECK(html_text("a < b and c > d").text == "a < b and c > d");
  CHECK(html_text("<nav>never closed <p>text").text == "never closed\n\ntext");
  CHECK(html_text("<svg><svg>in</svg>in</svg>out").text == "out");
  CHECK(html_text("</div></p></nonsense>text").text == "text");
  CHECK(html_text("<a title='x > y'>text</a>").text == "text");
  CHECK(html_text("<SCRIPT>x</script >text").text == "text");
  CHECK(html_text("text<script>never closed").text == "text");
  CHECK(html_text("text<!-- never closed").text == "text");
  CHECK(html_text("text<a href=\"never closed").text == "text");
  CHECK(html_text("").text.empty());
  CHECK(html_text("&#xFFFFFFFFFF;&#0;&#xD800;").text == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("markup of any kind is read in linear time, and gives valid text") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const std::string text = soup(random, 1 + random() % 60);
    CHECK(base::valid_utf8(html_text(text).text));
    CHECK(base::valid_utf8(html_text(text).title));
    const std::vector<ByteRange> unread = unread_ranges(text, TextForm::markdown);
    std::uint32_t before = 0;
    for (const ByteRange& range : unread) {
      CHECK(range.begin >= before);
      CHECK(range.begin < range.end);
      CHECK(range.end <= text.size());
      before = range.end;
    }
    CHECK(base::valid_utf8(read_text(text, unread)));
    CHECK(base::valid_utf8(markdown_title(text)));
  }
  // What would take a quadratic reader minutes.
  for (const char* piece : {"<div>", "<nav>", "<", "<!--", "&", "[", "](", "<a href=\"", "*", "a-\n"}) {
    std::string many;
    while (many.size() < 300'000) many += piece;
    CHECK(html_text(many).text.size() <= many.size());
    CHECK(read(many, TextForm::markdown).size() <= many.size());
  }
}

TEST_CASE("Markdown is read without its marks, its places kept") {
  const std::string text =
      "---\ntitle: \"Front\"\n---\n# Head *line*\n\nSome **bold** and _thin_ `code`, snake_case, 2 * 3.\n"
      "[a link](http://x.y/z_(1)) ![image](i.png) <b>tag</b> <https://askbase.org> \\*no\\*\n"
      "> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n**code** stays\n```\n";
  CHECK(markdown_title(text) == "Front");
  CHECK(markdown_title("text\n## Second *one*\n") == "Second one");
  CHECK(read(text, TextForm::markdown) ==
        "Head line\n\nSome bold and thin code, snake_case, 2 * 3.\n"
        "a link image tag https://askbase.org *no*\n"
        " quoted\n\n a  b \n\n 1  2 \n\n\n**code** stays\n\n");
}

TEST_CASE("running heads and feet, page breaks, divided words") {
  const std::string text =
      "Annual Report 2019\n\nThe first page tells of infor-\nmation and of well-\nknown things.\n\n1\n\f"
      "Annual Report 2019\n\nThe second page is well-known, its last word is divi-\n\n2\n\f"
      "Annual Report 2019\n\nded by the page's end.\n\n3\n";
  CHECK(read(text) ==
        "The first page tells of information and of well-known things.\n"
        "The second page is well-known, its last word is divided by the page's end.\n");
  // Lines that come once, and text without pages, stay as they are.
  CHECK(read("Head\n\nText.\n\fOther head\n\nText two.\n") == "Head\n\nText.\nOther head\n\nText two.\n");
  CHECK(read("Head\nText\nHead\nText\nHead\n") == "Head\nText\nHead\nText\nHead\n");
  // A dash is no hyphen, and what goes on with a capital no divided word.
  CHECK(read("one -\ntwo, Jean-\nPaul, 1990-\n1995, end-") == "one -\ntwo, Jean-\nPaul, 1990-\n1995, end-");
  CHECK(page_of({10, 20}, 0) == 1);
  CHECK(page_of({10, 20}, 10) == 2);
  CHECK(page_of({10, 20}, 25) == 3);
}

TEST_CASE("sentences: broken lines are none, blank lines and items are") {
  CHECK(sentences("Dr. Smith came\nhome. He slept.") ==
        std::vector<std::string>{"Dr. Smith came\nhome. ", "He slept."});
  CHECK(sentences("A title\n\nText goes\non\n- item one\n- item two\n# Head\nText") ==
        std::vector<std::string>{"A title\n\n", "Text goes\non\n", "- item one\n", "- item two\n", "# Head\n",
                                 "Text"});
  CHECK(sentences("他来了。她走了！") == std::vector<std::string>{"他来了。", "她走了！"});
  CHECK(base::sentence_ends("").empty());
  CHECK(sentences("🙂🙂🙂") == std::vector<std::string>{"🙂🙂🙂"});
  CHECK(sentences("שלום עולם. מה נשמע?") == std::vector<std::string>{"שלום עולם. ", "מה נשמע?"});
}

TEST_CASE("passages hold every word, whole sentences, and share an overlap") {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    std::size_t words = 0;
    const std::size_t count = 1 + random() % 40;
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t length = random() % 12 == 0 ? 300 : 1 + random() % 40;
      for (std::size_t w = 0; w < length; ++w)
        text += (w == 0 ? "Word" : random() % 5 == 0 ? " 中文" : " word") + std::to_string(words++);
      text += random() % 4 == 0 ? ".\n\n" : ". ";
    }
    const PassageOptions options{.tokens = 64, .overlap = 16};
    const std::vector<ByteRange> passages = split_passages(text, options);
    std::set<std::size_t> seen;
    std::uint32_t begin_before = 0, end_before = 0;
    for (const ByteRange& passage : passages) {
      CHECK(passage.begin < passage.end);
      CHECK(passage.end <= text.size());
      CHECK((begin_before == 0 || passage.begin > begin_before));
      CHECK(passage.end > end_before);
      begin_before = passage.begin;
      end_before = passage.end;
      const std::string held = text.substr(passage.begin, passage.end - passage.begin);
      CHECK(base::valid_utf8(held));
      // No more words than allowed: each counts at least one token.
      CHECK(std::count(held.begin(), held.end(), ' ') < 64);
      for (std::size_t at = held.find_first_of("0123456789"); at != std::string::npos;
           at = held.find_first_of("0123456789", at)) {
        const std::size_t end = std::min(held.find_first_not_of("0123456789", at), held.size());
        seen.insert(std::stoul(held.substr(at, end - at)));
        at = end;
      }
    }
    CHECK(seen.size() == words);
  }
  CHECK(split_passages("", {}).empty());
  CHECK(split_passages(" \n\f ", {}).empty());
  CHECK(split_passages("🙂🙂", {}).size() == 1);
  const std::string one_word(100'000, 'x');
  CHECK(split_passages(one_word, {}).size() > 1);
  CHECK(split_passages(one_word, {.whole = true}) == std::vector<ByteRange>{{0, 100'000}});
  const std::vector<ByteRange> two =
      split_passages("Ann came. Bob went. Cid saw it all.", {.tokens = 8, .overlap = 3});
  CHECK(two == std::vector<ByteRange>{{0, 19}, {10, 35}});
}

TEST_CASE("terms of the index") {
  CHECK(terms_of("The Engines' running, isn't it? France's state-of-the-art U.S.A. costs 1,000 or 3.5%") ==
        std::vector<std::string>{"the", "engin", "run", "is", "it", "franc", "state", "of", "the", "art",
                                 "usa", "cost", "1000", "or", "3.5"});
  CHECK(terms_of("Côte d'Ivoire") == terms_of("cote d'ivoire"));
  CHECK(terms_of("中國人 ab") == std::vector<std::string>{"中", "中国", "国", "国人", "人", "ab"});
  CHECK(terms_of("臺灣") == terms_of("台湾"));
  CHECK(terms_of("中\n国") == terms_of("中国"));
  CHECK(terms_of("中，国") == std::vector<std::string>{"中", "国"});
  CHECK(terms_of("🙂 !? ---").empty());
  CHECK(terms_of(std::string(1000, 'q')) == std::vector<std::string>{std::string(longest_term_bytes, 'q')});
}

TEST_CASE("documents that cannot be taken are refused with the reason") {
  const auto refused = [](Document document) {
    const base::Status status = check_document(document);
    REQUIRE_FALSE(status);
    return status.error().message;
  };
  Document good;
  good.id = "a";
  CHECK(check_document(good));
  CHECK(refused({}).find("no id") != std::string::npos);
  Document bad = good;
  bad.text = "a\xFF";
  CHECK(refused(bad).find("text of a is not UTF-8 (byte 1)") != std::string::npos);
  bad = good;
  bad.title = std::string("a\0b", 3);
  CHECK(refused(bad).find("NUL") != std::string::npos);
  bad = good;
  bad.id = "a\nb";
  CHECK(refused(bad).find("control character") != std::string::npos);
  bad.id = std::string(longest_document_id + 1, 'x');
  CHECK(refused(bad).find("longer") != std::string::npos);
  Document utf16;
  REQUIRE(read_document_text(std::string_view("\xFF\xFE\x2D\x4E\xFD\x56", 6), DocumentFormat::text, utf16));
  CHECK(utf16.text == "中国");
  CHECK_FALSE(read_document_text("\xC3(bad", DocumentFormat::text, utf16));
}
