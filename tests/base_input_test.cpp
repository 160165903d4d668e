#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <random>
#include <string>
#include <vector>
#include <zlib.h>
#include <zstd.h>

#include "base/input.h"
#include "tests/test_support.h"

namespace askbase::base {
namespace {

std::string gzip(const std::string& content) {
  z_stream stream = {};
  REQUIRE(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(::deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& content) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(content.size()) + 16, '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return out;
}

Result<std::string> read_all(Input& input, std::size_t step) {
  std::string out;
  std::vector<char> buffer(step);
  while (true) {
    ASKBASE_ASSIGN(const std::size_t got, input.read(buffer.data(), step));
    if (got == 0) return out;
    out.append(buffer.data(), got);
  }
}
Result<std::string> read_string(const std::string& content, std::size_t step = 4096) {
  return read_all(*Input::from_string(content, "test"), step);
}

std::string sample(std::size_t size) {
  std::mt19937 random(29);
  std::string out;
  while (out.size() < size) out += "line " + std::to_string(random() % 100000) + " 中国\n";
  out.resize(size);
  return out;
}

TEST_CASE("plain, gzip and zstd are told by their first bytes") {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{131072}, std::size_t{700001}}) {
    const std::string content = sample(size);
    for (const std::size_t step : {std::size_t{1000}, std::size_t{1 << 20}}) {
      CHECK(*read_string(content, step) == content);
      CHECK(*read_string(gzip(content), step) == content);
      CHECK(*read_string(zstd(content), step) == content);
    }
  }
  CHECK(*read_string(zstd(sample(300)), 1) == sample(300));
  CHECK(*read_string(gzip(sample(300)), 1) == sample(300));
  CHECK(*read_string("\x1f") == "\x1f");
}

TEST_CASE("members put together are read through") {
  const std::string a = sample(200000), b = "end\n";
  CHECK(*read_string(gzip(a) + gzip(b) + gzip("")) == a + b);
  CHECK(*read_string(gzip(a) + std::string(512, '\0')) == a);
  CHECK(*read_string(zstd(a) + zstd(b) + zstd("")) == a + b);
  // A skippable frame before and between.
  const std::string skippable("\x51\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  CHECK(*read_string(skippable + zstd(a) + skippable + zstd(b)) == a + b);
}

TEST_CASE("damaged data is refused") {
  const std::string content = sample(300000);
  for (const std::string& whole :
       {gzip(content), zstd(content), gzip(content) + gzip(content), zstd(content) + zstd(content)}) {
    for (const std::size_t cut :
         {whole.size() - 1, whole.size() - 5, whole.size() * 3 / 4, std::size_t{12}, std::size_t{5}}) {
      const Result<std::string> read = read_string(whole.substr(0, cut));
      REQUIRE_FALSE(read.has_value());
      CHECK(read.error().code == ErrorCode::bad_input);
      CHECK(read.error().message.find("test: damaged") == 0);
      CHECK(read.error().message.find("at byte " + std::to_string(cut)) != std::string::npos);
    }
    std::string garbled = whole;
    for (std::size_t i = garbled.size() / 2; i < garbled.size() / 2 + 40; ++i)
      garbled[i] = static_cast<char>(i * 7);
    CHECK(read_string(garbled).error().code == ErrorCode::bad_input);
    CHECK_FALSE(read_string(whole + "trailing").has_value());
  }
  std::string wrong_sum = gzip(content);
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] + 1);
  CHECK_FALSE(read_string(wrong_sum).has_value());
}

TEST_CASE("random damage never crashes") {
  std::mt19937 random(31);
  const std::string content = sample(3000);
  const std::vector<std::string> wholes = {gzip(content), zstd(content)};
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = wholes[round % 2];
    for (std::size_t i = random() % 4 + 1; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const Result<std::string> read = read_string(bytes);
    if (!read) CHECK(read.error().message.find("test: ") == 0);
  }
}

TEST_CASE("files") {
  const test::ScratchFolder scratch;
  const std::string content = sample(500000);
  std::ofstream(scratch / "plain", std::ios::binary) << content;
  std::ofstream(scratch / "packed.txt", std::ios::binary) << gzip(content);
  for (const char* name : {"plain", "packed.txt"}) {
    Result<std::unique_ptr<Input>> input = Input::open(scratch / name);
    REQUIRE(input.has_value());
    CHECK((*input)->name() == (scratch / name).string());
    CHECK((*input)->raw_size() == std::filesystem::file_size(scratch / name));
    CHECK(*read_all(**input, 10000) == content);
    CHECK((*input)->raw_position() == *(*input)->raw_size());
  }
  CHECK(Input::open(scratch / "none").error().code == ErrorCode::not_found);
  const auto folder = Input::open(scratch.path());
  REQUIRE_FALSE(folder.has_value());
  CHECK(folder.error().code == ErrorCode::io);
  CHECK(folder.error().message.find("Is a directory") != std::string::npos);
}

std::vector<std::string> lines_of(const std::string& content, std::size_t limit = 1 << 20) {
  const std::unique_ptr<Input> input = Input::from_string(content, "test");
  LineReader reader(*input, limit);
  std::vector<std::string> out;
  std::string_view line;
  while (true) {
    const Result<bool> more = reader.next(line);
    if (!more) {
      out.push_back("error: " + more.error().message);
      CHECK(more.error().code == ErrorCode::too_large);
      return out;
    }
    if (!*more) return out;
    out.emplace_back(line);
    CHECK(reader.line_number() == out.size());
  }
}

TEST_CASE("lines") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("") == Lines{});
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\n") == Lines{"a"});
  CHECK(lines_of("\n\n") == Lines{"", ""});
  CHECK(lines_of("a\r\nb\r\n\r\nc\rd") == Lines{"a", "b", "", "c\rd"});
  CHECK(lines_of("\xEF\xBB\xBFhead\n\xEF\xBB\xBFkept") == Lines{"head", "\xEF\xBB\xBFkept"});
  CHECK(lines_of("\xEF\xBB\xBF") == Lines{""});
  CHECK(lines_of("12345\n123456\n", 5).back() == "error: test:2: line longer than 5 bytes");
  CHECK(lines_of("12345\r\n12345\n", 5) == Lines{"12345", "12345"});
  CHECK(lines_of("123456", 5).back() == "error: test:1: line longer than 5 bytes");
}

TEST_CASE("lines across blocks agree with a plain split") {
  std::mt19937 random(37);
  std::string content;
  std::vector<std::string> expected;
  while (content.size() < 1000000) {
    expected.emplace_back(random() % 50 == 0 ? random() % 300000 : random() % 90,
                          static_cast<char>('a' + random() % 26));
    content += expected.back() + "\n";
  }
  CHECK(lines_of(content) == expected);
  CHECK(lines_of(zstd(content)) == expected);
}

// An endless line, as from a broken file: the reader must give up near its limit, not take all of it.
class Endless : public Input {
 public:
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    std::fill(buffer, buffer + size, 'x');
    given += size;
    return size;
  }
  const std::string& name() const override { return name_; }
  std::uint64_t raw_position() const override { return given; }
  std::optional<std::uint64_t> raw_size() const override { return std::nullopt; }
  std::uint64_t given = 0;

 private:
  std::string name_ = "endless";
};

TEST_CASE("a line without end is refused within the limit") {
  Endless input;
  LineReader reader(input, 1 << 20);
  std::string_view line;
  const Result<bool> more = reader.next(line);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().code == ErrorCode::too_large);
  CHECK(more.error().message == "endless:1: line longer than 1048576 bytes");
  CHECK(input.given < (1 << 20) + (1 << 18));
}

}  // namespace
}  // namespace askbase::base
