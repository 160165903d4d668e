#include <doctest/doctest.h>
#include <random>

#include "web/head_filter.h"
#include "web/query.h"

using askbase::web::HeadFilter;
using askbase::web::HeadLimits;
using askbase::web::Query;

namespace {

struct Filtered {
  int status = 0;  // 0: accepted
  std::string text;
  bool complete = false, has_body = false, chunked = false;
  std::uint64_t length = 0;
};

Filtered filter(std::string_view head, const HeadLimits& limits = {}) {
  HeadFilter filter(limits);
  Filtered out;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const bool good = end == std::string_view::npos ? filter.part_of_line(head)
                                                    : filter.line(head.substr(0, end), out.text);
    if (!good) {
      out.status = filter.status();
      CHECK(!filter.detail().empty());
      return out;
    }
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  out.complete = filter.complete();
  out.has_body = filter.has_body();
  out.chunked = filter.chunked();
  out.length = filter.content_length();
  return out;
}

int status(const std::string& headers, const std::string& line = "GET / HTTP/1.1") {
  return filter(line + "\r\n" + headers + "\r\n").status;
}

}  // namespace

TEST_CASE("head filter: a plain request passes unchanged") {
  const std::string head =
      "POST /api/v1/ask HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n";
  const Filtered out = filter(head);
  CHECK(out.status == 0);
  CHECK(out.complete);
  CHECK(out.text == head);
  CHECK(out.has_body);
  CHECK(out.length == 12);
}

TEST_CASE("head filter: what the library gets wrong is rewritten") {
  const auto rewritten = [](const std::string& line, const std::string& headers) {
    const Filtered out = filter(line + "\r\nHost: a\r\n" + headers + "\r\n");
    REQUIRE(out.status == 0);
    return out.text;
  };
  CHECK(rewritten("GET /ask?q=Who?&x=?a HTTP/1.1", "") ==
        "GET /ask?q=Who%3F&x=%3Fa HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(rewritten("GET / HTTP/1.1", "Range: bytes=0-1,0-1\r\n") == "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(rewritten("GET / HTTP/1.1", "If-None-Match: \"50%20\"\r\n") ==
        "GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"50%2520\"\r\n\r\n");
  CHECK(rewritten("GET / HTTP/1.1", "Connection: TE, Close\r\n") ==
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(rewritten("GET / HTTP/1.1", "Connection: keep-alive\r\n") == "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  for (const char* gzip : {"gzip", "br, GZIP ;q=0.5", "*", "deflate,gzip;q=1"}) {
    CHECK_MESSAGE(rewritten("GET / HTTP/1.1", std::string("Accept-Encoding: ") + gzip + "\r\n") ==
                      "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n",
                  gzip);
  }
  for (const char* none : {"br", "gzip;q=0", "gzip; q=0.000", "", "identity"}) {
    CHECK_MESSAGE(rewritten("GET / HTTP/1.1", std::string("Accept-Encoding: ") + none + "\r\n") ==
                      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                  none);
  }
}

TEST_CASE("head filter: what can smuggle a request is refused") {
  CHECK(status("Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length: 3, 3\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length: -3\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length: +3\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length: 0x3\r\n") == 400);
  CHECK(status("Host: a\r\nContent-Length:\r\n") == 400);
  CHECK(status("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n") == 501);
  CHECK(status("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 501);
  CHECK(status("Host: a\r\nTransfer-Encoding: chunked\r\n", "POST / HTTP/1.0") == 400);
  CHECK(status("Host: a\r\n X-Folded: b\r\n") == 400);
  CHECK(status("Host: a\r\nX-Space : b\r\n") == 400);
  CHECK(status("Host: a\r\nNo colon\r\n") == 400);
  CHECK(status("Host: a\r\n: no name\r\n") == 400);
  CHECK(status("Host: a\r\nHost: b\r\n") == 400);
  CHECK(status(std::string("Host: a\r\nX: a\0b\r\n", 17)) == 400);
  CHECK(status("Host: a\r\nX: a\rb\r\n") == 400);
  CHECK(filter("GET / HTTP/1.1\nHost: a\n\n").status == 400);
  CHECK(status("") == 400);
  CHECK(status("", "GET / HTTP/1.0") == 0);
  CHECK(status("Host: a\r\nContent-Encoding: gzip\r\n", "POST / HTTP/1.1") == 415);
  CHECK(status("Host: a\r\nExpect: more\r\n") == 417);
  // A length beyond 64 bits is a length too, above any limit.
  CHECK(filter("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n").length ==
        UINT64_MAX);
}

TEST_CASE("head filter: request lines") {
  CHECK(status("Host: a\r\n", "GET /") == 400);
  CHECK(status("Host: a\r\n", "GET / HTTP/2.0") == 505);
  CHECK(status("Host: a\r\n", "PRI * HTTP/2.0") == 505);
  CHECK(status("Host: a\r\n", "GET / FTP") == 400);
  CHECK(status("Host: a\r\n", "BREW / HTTP/1.1") == 501);
  CHECK(status("Host: a\r\n", "GET /a b HTTP/1.1") == 400);
  CHECK(status("Host: a\r\n", "GET /a\tb HTTP/1.1") == 400);
  CHECK(status("Host: a\r\n", "GET /ask?q=中国 HTTP/1.1") == 0);
  CHECK(status("Host: a\r\n", "OPTIONS * HTTP/1.1") == 0);
  CHECK(filter("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").complete);
  // Told at the first byte, not after the timeout: a TLS greeting.
  CHECK(filter("\x16\x03\x01").status == 400);
  CHECK(filter("get").status == 400);
}

TEST_CASE("head filter: limits hold before a line is complete") {
  const HeadLimits limits{.line_bytes = 100, .head_bytes = 300, .header_count = 5};
  CHECK(filter("GET /" + std::string(200, 'a'), limits).status == 414);
  CHECK(filter("GET / HTTP/1.1\r\nX: " + std::string(200, 'a'), limits).status == 431);
  std::string four = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 4; ++i) four += "X: " + std::string(80, 'a') + "\r\n";
  CHECK(filter(four, limits).status == 431);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 5; ++i) many += "X: a\r\n";
  CHECK(filter(many, limits).status == 431);
}

TEST_CASE("head filter: random bytes never pass as a whole request without a method") {
  std::mt19937 random(7);
  const std::string pieces[] = {"GET ", "/", " HTTP/1.1", "\r\n", "\n", "Host: a", ":", "Content-Length: 5",
                                "%",    "?", "\t",        " "};
  for (int round = 0; round < 20000; ++round) {
    std::string head;
    for (int i = 0, n = static_cast<int>(random() % 14); i < n; ++i)
      head += pieces[random() % std::size(pieces)];
    const Filtered out = filter(head);
    if (!out.complete) continue;
    // Whatever passes is what the strict reading allows.
    CHECK(out.text.starts_with("GET /"));
    CHECK(out.text.ends_with("\r\n\r\n"));
    CHECK(out.text.find("Host: ") != std::string::npos);
  }
}

TEST_CASE("query: decoding and checks") {
  using askbase::web::percent_decode;
  using askbase::web::percent_encode;
  CHECK(percent_decode("a%20b+c", true) == "a b c");
  CHECK(percent_decode("a+b", false) == "a+b");
  CHECK(!percent_decode("50%", true));
  CHECK(!percent_decode("%4", true));
  CHECK(!percent_decode("%zz", true));
  CHECK(percent_encode("a b/中~") == "a%20b%2F%E4%B8%AD~");

  const auto query = Query::parse("/api/v1/ask?q=a%3Db=c&lang=&empty&x=%E4%B8%AD#part");
  REQUIRE(query.has_value());
  CHECK(query->path() == "/api/v1/ask");
  CHECK(query->get("q") == "a=b=c");  // only the first = separates
  CHECK(query->get("x") == "中");
  CHECK(query->has("lang"));
  CHECK(query->has("empty"));
  CHECK(!query->has("y"));
  CHECK(!query->allow({"q", "lang", "empty"}).has_value());
  CHECK(query->allow({"q", "lang", "empty", "x"}).has_value());
  CHECK(Query::parse("/a?x=1&x=2")->allow({"x"}).error().field == "x");
  CHECK(Query::parse("http://host:80/p?q=1")->path() == "/p");
  CHECK(Query::parse("/a?u=http://b/c")->get("u") == "http://b/c");
  CHECK(Query::parse("/%2e%2e/etc")->path() == "/../etc");
  CHECK(Query::parse("/%ff").error().status == 400);
  CHECK(Query::parse("/a?q=%C0%80").error().status == 400);
  CHECK(Query::parse("/a?q=%").error().status == 400);
  CHECK(Query::parse("/?n=12")->number("n", 1, 1, 20) == 12);
  CHECK(Query::parse("/?n=")->number("n", 1, 1, 20) == 1);
  for (const char* bad : {"0", "21", "1.5", "x", " 3", "3x", "99999999999"}) {
    CHECK_MESSAGE(!Query::parse(std::string("/?n=") + (bad[0] == ' ' ? "%203" : bad))->number("n", 1, 1, 20),
                  bad);
  }
}
