// Smaller forms of numbers, safetensors and model folders: against files of another writer, and against bad
// files.
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/file.h"
#include "nn/quantize.h"
#include "nn/safetensors.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using askbase::test::ScratchFolder;
using base::ErrorCode;
using test::difference;
using test::golden;
using test::random_matrix;

namespace {

std::filesystem::path golden_file(const std::string& name) {
  return askbase::test::source_folder() / "tests/golden/nn" / name;
}

// A file with this header and so many bytes of numbers.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  return bytes + header + std::string(data, '\0');
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         offsets + "]}";
}

void check_refused(const std::string& bytes, const std::string& words, ErrorCode code = ErrorCode::corrupt) {
  const auto file = SafetensorsFile::from_bytes(bytes, "bad.safetensors");
  REQUIRE_MESSAGE(!file.has_value(), words);
  CHECK_MESSAGE(file.error().code == code, file.error().message);
  CHECK_MESSAGE(file.error().message.starts_with("bad.safetensors: "), file.error().message);
  CHECK_MESSAGE(file.error().message.find(words) != std::string::npos, file.error().message);
}

}  // namespace

TEST_CASE("halves: all 65,536, in plain and in vector code") {
  std::vector<std::uint16_t> all(65536), back(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  std::vector<float> floats(65536);
  half_to_float(all.data(), floats.data(), 65536);
  half_to_float(all.data() + 1, floats.data() + 1, 5);  // a short range has no vectors
  std::uint64_t checksum = 0;
  int nans = 0;
  for (std::size_t i = 0; i < 65536; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(floats[i]);
    CHECK(std::bit_cast<std::uint32_t>(of_half(all[i])) == bits);
    if (std::isnan(floats[i])) {
      ++nans;
    } else {
      checksum = checksum * 31 + bits;
    }
  }
  const auto expected = golden("model_files.json");
  CHECK(nans == expected["nans"].get<int>());
  CHECK(std::to_string(checksum) == expected["checksum"].get<std::string>());
  float_to_half(floats.data(), back.data(), 65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    // A signalling NaN comes back quiet.
    const bool nan = std::isnan(floats[i]);
    CHECK(back[i] == (nan ? all[i] | 0x200U : all[i]));
    CHECK(half_of(floats[i]) == back[i]);
  }
  // Between two halves: the nearer, of two equally near the even one.
  for (std::uint16_t h = 0; h < 0x7BFF; ++h) {
    const float low = of_half(h), high = of_half(static_cast<std::uint16_t>(h + 1)),
                middle = (low + high) / 2;
    const std::uint16_t even = (h & 1U) == 0 ? h : static_cast<std::uint16_t>(h + 1);
    REQUIRE(half_of(middle) == even);
    REQUIRE(half_of(std::nextafter(middle, 0.0F)) == h);
    REQUIRE(half_of(std::nextafter(middle, 1e9F)) == h + 1);
    REQUIRE(half_of(-middle) == (even | 0x8000U));
  }
}

TEST_CASE("halves and bfloat16 of any float are PyTorch's") {
  const auto expected = golden("model_files.json");
  std::vector<float> floats;
  for (const auto& bits : expected["floats"])
    floats.push_back(std::bit_cast<float>(bits.get<std::uint32_t>()));
  const auto n = static_cast<Index>(floats.size());
  REQUIRE(n > 1000);
  std::vector<std::uint16_t> half(floats.size()), bfloat(floats.size());
  float_to_half(floats.data(), half.data(), n);
  float_to_bfloat16(floats.data(), bfloat.data(), n);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    CAPTURE(floats[i]);
    CHECK(half[i] == expected["half"][i].get<std::uint16_t>());
    CHECK(half_of(floats[i]) == half[i]);
    CHECK(bfloat[i] == expected["bfloat16"][i].get<std::uint16_t>());
    CHECK(bfloat16_of(of_bfloat16(bfloat[i])) == bfloat[i]);
  }
  CHECK(std::isnan(of_bfloat16(bfloat16_of(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(of_bfloat16(bfloat16_of(std::bit_cast<float>(0x7F800001U)))));
}

TEST_CASE("int8 by row: within half a step, whole numbers exact, rows of zeros") {
  Matrix<float> w = random_matrix<float>(40, 33, 5, 0.3);
  for (Index c = 0; c < 33; ++c) w(7, c) = 0.0F;
  for (Index c = 0; c < 33; ++c) w(8, c) = static_cast<float>(c * 8 - 127);  // up to 129: scale 129 / 127
  for (Index c = 0; c < 33; ++c) w(9, c) = static_cast<float>(c % 2 == 0 ? 127 - c : -c);
  for (Index c = 0; c < 33; ++c) w(10, c) = 1e-44F;
  std::vector<std::int8_t> q(40 * 33);
  std::vector<float> scales(40);
  quantize_rows(w, q.data(), scales.data());
  Matrix<float> back(40, 33);
  dequantize_rows(q.data(), scales.data(), back);
  for (Index r = 0; r < 40; ++r) {
    float largest = 0;
    for (Index c = 0; c < 33; ++c) {
      largest = std::max(largest, std::abs(w(r, c)));
      CHECK(std::abs(w(r, c) - back(r, c)) <= scales[static_cast<std::size_t>(r)] * 0.5001F + 1e-40F);
    }
    CHECK(scales[static_cast<std::size_t>(r)] == doctest::Approx(largest / 127.0F));
  }
  CHECK(scales[7] == 0.0F);
  CHECK(difference(back.view().rows_from(9, 1), w.view().rows_from(9, 1)) == 0.0);
}

TEST_CASE("safetensors: what is written is what another writer writes, byte for byte, and reads back") {
  const ScratchFolder folder;
  const std::vector<float> weight{0.5F, -1.25F, 3.0F, 1e-30F, -2.0F, 65504.0F}, scalar{7.0F},
      brain{1.0F, -3.140625F, 0.00390625F}, half{1.0F, -2.5F, 6.103515625e-05F, 5.960464477539063e-08F};
  const std::vector<std::int8_t> zero{-127, 0, 5, 127};
  const std::vector<std::int64_t> ids{-1, std::int64_t{1} << 40};
  REQUIRE(write_safetensors(
      folder / "x.safetensors",
      {tensor_of("零", {2, 2}, zero.data()), tensor_of("half", {2, 2}, half.data(), Dtype::f16),
       tensor_of("encoder.weight", {2, 3}, weight.data()), tensor_of("empty", {0, 4}, zero.data()),
       tensor_of("ids", {2}, ids.data()), tensor_of("brain", {3}, brain.data(), Dtype::bf16),
       tensor_of("scalar", {}, scalar.data())},
      {{"format", "pt"}, {"由", "struct"}}));
  CHECK(*base::read_file(folder / "x.safetensors") == *base::read_file(golden_file("canonical.safetensors")));

  const auto file = SafetensorsFile::open(folder / "x.safetensors");
  REQUIRE(file.has_value());
  CHECK(file->metadata("由") == "struct");
  CHECK(file->metadata("none").empty());
  CHECK(file->metadata().size() == 2);
  CHECK(file->tensors().size() == 7);
  CHECK(file->find("none") == nullptr);
  const auto read = [&](const std::string& name) {
    const TensorInfo* info = file->find(name);
    REQUIRE(info != nullptr);
    std::vector<float> values(info->count());
    const auto status = file->read(*info, values.data());
    REQUIRE_MESSAGE(status.has_value(), status.error().message);
    return values;
  };
  CHECK(read("encoder.weight") == weight);
  CHECK(read("brain") == brain);
  CHECK(read("half") == half);
  CHECK(read("scalar") == scalar);
  CHECK(read("empty").empty());
  CHECK(read("零") == std::vector<float>{-127, 0, 5, 127});
  CHECK(file->find("encoder.weight")->shape == Shape{2, 3});
  CHECK(file->find("scalar")->shape.empty());
  std::vector<std::byte> bytes(16);
  REQUIRE(file->read_bytes(*file->find("ids"), bytes));
  CHECK(std::memcmp(bytes.data(), ids.data(), 16) == 0);
  CHECK_THROWS_AS((void)file->read_bytes(*file->find("scalar"), bytes), std::logic_error);
  CHECK_THROWS_AS((void)write_safetensors(
                      folder / "y", {tensor_of("a", {1}, weight.data()), tensor_of("a", {1}, weight.data())}),
                  std::logic_error);
}

TEST_CASE("safetensors: all dtypes, misaligned, names in another order") {
  const auto expected = golden("model_files.json").at("misaligned");
  for (const bool from_memory : {false, true}) {
    const auto file = from_memory ? SafetensorsFile::from_bytes(
                                        *base::read_file(golden_file("misaligned.safetensors")), "memory")
                                  : SafetensorsFile::open(golden_file("misaligned.safetensors"));
    REQUIRE(file.has_value());
    CHECK(file->tensors().size() == expected.size());
    for (const auto& [name, values] : expected.items()) {
      CAPTURE(name);
      const TensorInfo* info = file->find(name);
      REQUIRE(info != nullptr);
      REQUIRE(info->count() == values.size());
      std::vector<double> numbers(values.size());
      std::vector<float> floats(values.size());
      REQUIRE(file->read(*info, numbers.data()));
      REQUIRE(file->read(*info, floats.data()));
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(numbers[i] == values[i].get<double>());
        CHECK(floats[i] == static_cast<float>(values[i].get<double>()));
      }
    }
  }
}

TEST_CASE("safetensors: long tensors in every form come back, converted block by block") {
  const ScratchFolder folder;
  const Matrix<float> w = random_matrix<float>(1, 600001, 1);
  const Matrix<double> d = random_matrix<double>(1, 300001, 2);
  REQUIRE(write_safetensors(
      folder / "x", {tensor_of("f32", {600001}, w.data()), tensor_of("f16", {600001}, w.data(), Dtype::f16),
                     tensor_of("bf16", {600001}, w.data(), Dtype::bf16), tensor_of("f64", {300001}, d.data()),
                     tensor_of("narrow", {300001}, d.data(), Dtype::f32)}));
  const auto file = SafetensorsFile::open(folder / "x");
  REQUIRE(file.has_value());
  std::vector<float> f(600001);
  std::vector<double> g(300001);
  REQUIRE(file->read(*file->find("f32"), f.data()));
  CHECK(std::memcmp(f.data(), w.data(), f.size() * 4) == 0);
  for (const bool bfloat : {false, true}) {
    REQUIRE(file->read(*file->find(bfloat ? "bf16" : "f16"), f.data()));
    bool same = true;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const float x = w.data()[i];
      same = same && f[i] == (bfloat ? of_bfloat16(bfloat16_of(x)) : of_half(half_of(x)));
    }
    CHECK(same);
  }
  REQUIRE(file->read(*file->find("f64"), g.data()));
  CHECK(std::memcmp(g.data(), d.data(), g.size() * 8) == 0);
  REQUIRE(file->read(*file->find("narrow"), g.data()));
  for (std::size_t i = 0; i < g.size(); ++i)
    REQUIRE(g[i] == static_cast<double>(static_cast<float>(d.data()[i])));
}

TEST_CASE("safetensors: bad files are refused with file, tensor and reason") {
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{" + tensor("t", dtype, shape, offsets) + "}";
  };
  check_refused("", "shorter than the length of a header");
  check_refused("1234567", "shorter");
  check_refused(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10),
                "the header should have 18446744073709551615");
  check_refused(file_of("{}", 0).substr(0, 9), "the header should have 2 bytes, 1 are there");
  check_refused(file_of("", 0), "not a JSON object");
  check_refused(file_of(" {}", 0), "not a JSON object");
  check_refused(file_of("[]", 0), "not a JSON object");
  check_refused(file_of("{\"a\":1", 0), "the header: JSON at line 1");
  check_refused(file_of("{} x", 0), "the header: JSON");
  check_refused(file_of("{\"\xff\":1}", 0), "UTF-8");
  check_refused(file_of("{" + tensor("a", "F32", "1", "0,4") + "," + tensor("a", "F32", "1", "4,8") + "}", 8),
                "duplicate key \"a\"");
  check_refused(file_of("{\"a\":{\"dtype\":{\"b\":[[[[[1]]]]]}}}", 0), "nested deeper");
  check_refused(file_of("{\"__metadata__\":[]}", 0), "__metadata__ is not an object");
  check_refused(file_of("{\"__metadata__\":{\"a\":1}}", 0), "__metadata__ \"a\" is not a text");
  check_refused(file_of("{\"t\":1}", 0), "tensor \"t\": is not an object of");
  check_refused(file_of("{\"t\":{\"dtype\":\"F32\",\"shape\":[]}}", 0), "is not an object of");
  check_refused(file_of("{\"t\":{\"dtype\":1,\"shape\":[],\"data_offsets\":[0,4]}}", 4),
                "the dtype is not a text");
  check_refused(file_of(one("F33", "1", "0,4"), 4), "tensor \"t\": unknown dtype \"F33\"",
                ErrorCode::unsupported);
  check_refused(file_of(one("F32", "-1", "0,4"), 4), "a size in the shape");
  check_refused(file_of(one("F32", "1.0", "0,4"), 4), "a size in the shape");
  check_refused(file_of(one("F32", "9223372036854775808", "0,4"), 4), "a size in the shape");
  check_refused(file_of(one("F32", "99999999999999999999999", "0,4"), 4), "a size in the shape");
  check_refused(file_of(one("F32", "4294967296,4294967296", "0,0"), 0),
                "more numbers than 64 bits can count");
  check_refused(file_of(one("F32", "4611686018427387904", "0,0"), 0), "more numbers than 64 bits can count");
  check_refused(file_of(one("F32", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "0,4"), 4), "at most 16 sizes");
  check_refused(file_of(one("F32", "1", "0"), 4), "data_offsets are not two numbers");
  check_refused(file_of(one("F32", "1", "-4,0"), 4), "data_offsets are not two numbers");
  check_refused(file_of(one("F32", "1", "0,\"4\""), 4), "data_offsets are not two numbers");
  check_refused(file_of(one("F32", "1", "4,0"), 4), "data_offsets end before they begin");
  check_refused(file_of(one("F32", "2", "0,8"), 4), "ends at byte 8, but the file has 4");
  check_refused(file_of(one("F32", "1", "9223372036854775803,9223372036854775807"), 4), "ends at byte");
  check_refused(file_of(one("F32", "2", "0,4"), 4), "4 bytes where its shape and dtype take 8");
  check_refused(file_of(one("F16", "2,0", "0,4"), 4), "4 bytes where its shape and dtype take 0");
  check_refused(
      file_of("{" + tensor("a", "F32", "2", "0,8") + "," + tensor("b", "F32", "2", "4,12") + "}", 12),
      "tensor \"b\" overlaps \"a\"");
  check_refused(
      file_of("{" + tensor("a", "F32", "1", "0,4") + "," + tensor("b", "F32", "1", "8,12") + "}", 12),
      "4 bytes before tensor \"b\" belong to none");
  check_refused(file_of(one("F32", "1", "4,8"), 8), "4 bytes before tensor \"t\"");
  check_refused(file_of(one("F32", "1", "0,4"), 9), "5 bytes at the end belong to no tensor");
  check_refused(file_of("{" + tensor(std::string(300, 'n'), "F32", "1", "0,4") + "}", 0), "nnn...\"");

  const auto huge = [] {
    std::string bytes(8 + (64 << 20) + 8, ' ');
    const std::uint64_t length = (64 << 20) + 8;
    std::memcpy(bytes.data(), &length, 8);
    return bytes;
  };
  check_refused(huge(), "over the limit", ErrorCode::too_large);
  // Fine: spaces after the header, no tensor at all, empty tensors anywhere, a shape with a zero of huge
  // others.
  CHECK(SafetensorsFile::from_bytes(file_of("{}   ", 0), "x").has_value());
  CHECK(SafetensorsFile::from_bytes(
            file_of("{" + tensor("a", "F32", "1", "0,4") + "," +
                        tensor("b", "F32", "0,9223372036854775807,9223372036854775807", "4,4") + "}",
                    4),
            "x")
            .has_value());
  // Known widths that are not read are listed; only reading them fails.
  const auto file = SafetensorsFile::from_bytes(file_of(one("BOOL", "4", "0,4"), 4), "x");
  REQUIRE(file.has_value());
  float values[4];
  CHECK(file->read(file->tensors()[0], values).error().code == ErrorCode::unsupported);

  CHECK(SafetensorsFile::open("/nonexistent/x").error().code == ErrorCode::not_found);
  const ScratchFolder folder;
  CHECK(SafetensorsFile::open(folder.path()).error().code == ErrorCode::io);
}

TEST_CASE("safetensors: every cut and every changed byte of the header is an error or a valid file") {
  const std::string whole = *base::read_file(golden_file("canonical.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE(!SafetensorsFile::from_bytes(whole.substr(0, size), "x").has_value());
  }
  Random random(2);
  int valid = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = whole;
    changed[random.below(whole.size())] = static_cast<char>(random.below(256));
    const auto file = SafetensorsFile::from_bytes(changed, "x");
    if (!file) continue;
    ++valid;
    for (const TensorInfo& info : file->tensors()) {
      std::vector<float> values(info.count());
      (void)file->read(info, values.data());
    }
  }
  CHECK(valid > 0);
}

TEST_CASE("safetensors: numbers that are none are refused by name, unless asked for") {
  const ScratchFolder folder;
  std::vector<float> values(40000, 1.0F);
  values[33333] = NAN;
  REQUIRE(write_safetensors(folder / "x", {tensor_of("layer.weight", {40000}, values.data())}));
  const auto file = SafetensorsFile::open(folder / "x");
  REQUIRE(file.has_value());
  std::vector<float> out(40000);
  const auto refused = file->read(file->tensors()[0], out.data());
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == ErrorCode::corrupt);
  CHECK(refused.error().message.find("tensor \"layer.weight\": number 33333 is NaN") != std::string::npos);
  CHECK(file->read(file->tensors()[0], out.data(), true).has_value());
  CHECK(std::isnan(out[33333]));
  // Cut off after it was opened.
  std::filesystem::resize_file(folder / "x", 60000);
  const auto cut = file->read(file->tensors()[0], out.data(), true);
  REQUIRE(!cut.has_value());
  CHECK(cut.error().code == ErrorCode::io);
  // A double too large for float.
  const std::vector<double> large{1e300};
  REQUIRE(write_safetensors(folder / "y", {tensor_of("d", {1}, large.data())}));
  const auto wide = SafetensorsFile::open(folder / "y");
  CHECK(wide->read(wide->tensors()[0], out.data()).error().message.find("infinite") != std::string::npos);
}

}  // namespace askbase::nn
