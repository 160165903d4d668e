// Smaller forms of numbers, safetensors and model folders: against files of another writer, and against bad
// files.
#include <bit>
#include <csignal>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <sys/resource.h>

#include "base/file.h"
#include "base/sha256.h"
#include "nn/model_folder.h"
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

namespace {

Parameters<float> small_model(std::uint64_t seed) {
  Parameters<float> p;
  p.add("embedding.weight", {7, 5});
  p.add("conv.weight", {4, 3, 2});
  p.add("LayerNorm.weight", {5}, {.initial = Initial::ones});
  p.add("LayerNorm.bias", {5});
  p.initialise(seed);
  return p;
}

double largest_difference(const Parameters<float>& a, const Parameters<float>& b) {
  double worst = 0;
  for (ParameterId id = 0; id < a.count(); ++id) worst = std::max(worst, test::difference(a[id], b[id]));
  return worst;
}

}  // namespace

TEST_CASE("a model folder: saved, opened and filled in every storage") {
  const ScratchFolder folder;
  const Parameters<float> p = small_model(1);
  for (const auto& [storage, tolerance] : {std::pair(Storage::fp32, 0.0), std::pair(Storage::fp16, 5e-4),
                                           std::pair(Storage::bf16, 4e-3), std::pair(Storage::int8, 4e-3)}) {
    CAPTURE(std::string(storage_name(storage)));
    CHECK(storage_by_name(storage_name(storage)) == storage);
    ModelToSave model{.kind = "question-type",
                      .config = R"({"hidden": 150, "kind": "ignored", "classes": ["人", "place"]})",
                      .files = {{"vocab.txt", "the\n首都\n", true}, {"README.md", "# card\n"}},
                      .storage = storage};
    const auto saved = save_model(folder / "m", model, p);
    REQUIRE_MESSAGE(saved.has_value(), saved.error().message);
    const auto opened = ModelFolder::open(folder / "m", "question-type");
    REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
    CHECK(opened->kind() == "question-type");
    const auto config = nlohmann::json::parse(opened->config());
    CHECK(config["format"] == 1);
    CHECK(config["hidden"] == 150);
    CHECK(config["kind"] == "question-type");
    CHECK(config["vocabulary_sha256"]["vocab.txt"] == base::sha256("the\n首都\n"));
    CHECK(config["vocabulary_sha256"].size() == 1);
    CHECK(*opened->read("vocab.txt") == "the\n首都\n");
    CHECK(*opened->read("README.md") == "# card\n");
    CHECK(opened->read("none").error().code == ErrorCode::not_found);
    Parameters<float> q = small_model(2);
    const auto filled = opened->fill(q);
    REQUIRE_MESSAGE(filled.has_value(), filled.error().message);
    CHECK(largest_difference(p, q) <= tolerance);
    // The old folder is gone, and so is everything that was written beside it.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
  // int8: matrices with scales, vectors as they are; rows for a product in int8.
  const auto opened = ModelFolder::open(folder / "m", "");
  REQUIRE(opened.has_value());
  CHECK(opened->weights().find("conv.weight")->dtype == Dtype::i8);
  CHECK(opened->weights().find("conv.weight")->shape == Shape{4, 3, 2});
  CHECK(opened->weights().find("conv.weight.scale")->shape == Shape{4});
  CHECK(opened->weights().find("LayerNorm.weight")->dtype == Dtype::f32);
  const auto rows = read_int8(opened->weights(), "embedding.weight");
  REQUIRE(rows.has_value());
  CHECK(rows->values.rows() == 7);
  CHECK(static_cast<float>(rows->values(3, 2)) * rows->scales[3] ==
        doctest::Approx(p[0](3, 2)).epsilon(0.02));
  CHECK(read_int8(opened->weights(), "LayerNorm.weight").error().code == ErrorCode::corrupt);
  CHECK(read_int8(opened->weights(), "none").error().code == ErrorCode::not_found);
  // By tensor.
  ModelToSave mixed{.kind = "x", .storage_of = [](const std::string& name) {
                      return name == "embedding.weight" ? Storage::int8 : Storage::fp32;
                    }};
  REQUIRE(save_model(folder / "m", mixed, p));
  Parameters<float> q = small_model(2);
  REQUIRE(ModelFolder::open(folder / "m", "x")->fill(q));
  CHECK(test::difference(p[1], q[1]) == 0.0);
  CHECK(test::difference(p[0], q[0]) > 0.0);
}

TEST_CASE("a model folder is refused where it does not fit, in words") {
  const ScratchFolder folder;
  const Parameters<float> p = small_model(1);
  const ModelToSave model{.kind = "tagger", .files = {{"vocab.txt", "a\n", true}}};
  const std::filesystem::path m = folder / "m";
  REQUIRE(save_model(m, model, p));
  const std::string config = *base::read_file(m / "config.json");
  const auto refused = [&](const std::string& words, ErrorCode code, const std::string& kind = "tagger") {
    const auto opened = ModelFolder::open(m, kind);
    REQUIRE_MESSAGE(!opened.has_value(), words);
    CHECK_MESSAGE(opened.error().code == code, opened.error().message);
    CHECK_MESSAGE(opened.error().message.find(words) != std::string::npos, opened.error().message);
  };
  refused("a model of kind \"tagger\" where one of kind \"reader\" is needed", ErrorCode::unsupported,
          "reader");
  REQUIRE(base::write_file_atomic(m / "vocab.txt", "b\n"));
  refused("not the vocabulary that the model was trained with", ErrorCode::corrupt);
  std::filesystem::remove(m / "vocab.txt");
  refused("vocab.txt", ErrorCode::not_found);
  const auto with_config = [&](const std::string& text) {
    REQUIRE(base::write_file_atomic(m / "config.json", text));
  };
  with_config(R"({"format": 2, "kind": "tagger"})");
  refused("a model of format 2; this program reads format 1", ErrorCode::unsupported);
  with_config(R"({"format": "1", "kind": "tagger"})");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config(R"({"hidden_size": 384})");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config("[1]");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config("{");
  refused("config.json: JSON at line 1", ErrorCode::corrupt);
  with_config(R"({"format": 1, "kind": "tagger", "vocabulary_sha256": {"../m/vocab.txt": "00"}})");
  refused("vocabulary_sha256", ErrorCode::corrupt);
  with_config(R"({"format": 1, "kind": "tagger", "vocabulary_sha256": ["vocab.txt"]})");
  refused("vocabulary_sha256", ErrorCode::corrupt);
  with_config(config);
  REQUIRE(base::write_file_atomic(m / "vocab.txt", "a\n"));
  REQUIRE(ModelFolder::open(m, "tagger").has_value());
  std::filesystem::resize_file(m / "model.safetensors", 100);
  refused("model.safetensors", ErrorCode::corrupt);
  std::filesystem::remove(m / "model.safetensors");
  refused("model.safetensors", ErrorCode::not_found);
  CHECK(ModelFolder::open(folder / "none", "").error().code == ErrorCode::not_found);
}

TEST_CASE("weights that do not fit are listed: missing, extra, of another shape, integers, without scales") {
  const ScratchFolder folder;
  const std::vector<float> values(64, 1.0F);
  const std::vector<std::int64_t> ids(5);
  const std::vector<std::int8_t> bytes(24);
  REQUIRE(write_safetensors(
      folder / "x",
      {tensor_of("embedding.weight", {5, 7}, values.data()), tensor_of("LayerNorm.bias", {5}, ids.data()),
       tensor_of("conv.weight", {4, 3, 2}, bytes.data()), tensor_of("pooler.weight", {2}, values.data())}));
  const auto file = SafetensorsFile::open(folder / "x");
  Parameters<float> p = small_model(1);
  const Parameters<float> before = p;
  const auto filled = fill_parameters(*file, p);
  REQUIRE(!filled.has_value());
  CHECK(filled.error().code == ErrorCode::corrupt);
  for (const char* words :
       {"missing: LayerNorm.weight (5)", "not part of the model: pooler.weight",
        "embedding.weight has the shape (5, 7) where the model has (7, 5)",
        "LayerNorm.bias holds I64, not weights", "conv.weight is int8, but conv.weight.scale is missing"}) {
    CHECK_MESSAGE(filled.error().message.find(words) != std::string::npos, filled.error().message);
  }
  CHECK(largest_difference(p, before) == 0.0);
  // A scale below zero.
  const std::vector<float> scales{1, 1, -1, 1};
  REQUIRE(write_safetensors(folder / "y", {tensor_of("conv.weight", {4, 3, 2}, bytes.data()),
                                           tensor_of("conv.weight.scale", {4}, scales.data())}));
  FillOptions options;
  options.optional = {"embedding.", "LayerNorm."};
  const auto negative = fill_parameters(*SafetensorsFile::open(folder / "y"), p, options);
  REQUIRE(!negative.has_value());
  CHECK(negative.error().message.find("a scale is negative") != std::string::npos);
  // Many: the list is cut.
  Parameters<float> many;
  for (int i = 0; i < 30; ++i) many.add("p" + std::to_string(i), {1});
  CHECK(fill_parameters(*file, many).error().message.find("and 18 more") != std::string::npos);
}

TEST_CASE("names as Hugging Face writes them") {
  const ScratchFolder folder;
  const Parameters<float> source = small_model(3);
  REQUIRE(write_safetensors(folder / "x", {tensor_of("bert.embedding.weight", {7, 5}, source[0].data),
                                           tensor_of("bert.conv.weight", {4, 3, 2}, source[1].data),
                                           tensor_of("bert.LayerNorm.gamma", {5}, source[2].data),
                                           tensor_of("LayerNorm.beta", {5}, source[3].data),
                                           tensor_of("cls.seq_relationship.weight", {2}, source[0].data)}));
  const auto file = SafetensorsFile::open(folder / "x");
  Parameters<float> p = small_model(4);
  FillOptions options{.prefixes = {"bert."}, .gamma_beta = true};
  CHECK(fill_parameters(*file, p, options).error().message.find("cls.seq_relationship.weight") !=
        std::string::npos);
  options.ignore_extra = true;
  REQUIRE(fill_parameters(*file, p, options).has_value());
  CHECK(largest_difference(p, source) == 0.0);
  options.ignore_extra = false;
  options.rename = [](const std::string& name) { return name.starts_with("cls.") ? std::string() : name; };
  CHECK(fill_parameters(*file, p, options).has_value());
  // With a head of its own that the file lacks; and a name that two tensors claim.
  Parameters<float> with_head = small_model(4);
  with_head.add("qa_outputs.weight", {2, 5});
  CHECK(!fill_parameters(*file, with_head, options).has_value());
  options.optional = {"qa_outputs."};
  CHECK(fill_parameters(*file, with_head, options).has_value());
  options.rename = [](const std::string& name) {
    return name.starts_with("cls.") ? std::string("LayerNorm.bias") : name;
  };
  CHECK(fill_parameters(*file, p, options).error().message.find("are both LayerNorm.bias") !=
        std::string::npos);
}

TEST_CASE("saving a model: what is there stays until the new one is whole") {
  const ScratchFolder folder;
  Parameters<float> p = small_model(1);
  const std::filesystem::path m = folder / "deep" / "m";
  const ModelToSave model{.kind = "x", .files = {{"vocab.txt", "a\n", true}}};
  REQUIRE(save_model(m, model, p));
  const std::string before = *base::read_file(m / "model.safetensors");

  const auto refused = [&](const std::string& words, ErrorCode code, const ModelToSave& other) {
    const auto saved = save_model(m, other, p);
    REQUIRE(!saved.has_value());
    CHECK(saved.error().code == code);
    CHECK_MESSAGE(saved.error().message.find(words) != std::string::npos, saved.error().message);
    CHECK(*base::read_file(m / "model.safetensors") == before);
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}) == 1);
  };
  p.mutable_view(0)(0, 0) = 70000.0F;
  ModelToSave half = model;
  half.storage = Storage::fp16;
  refused("embedding.weight has a weight too large for fp16", ErrorCode::invalid_argument, half);
  p.mutable_view(0)(0, 0) = INFINITY;
  refused("embedding.weight has a weight that is not a number", ErrorCode::invalid_argument, model);
  p.mutable_view(0)(0, 0) = 0.0F;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit small{static_cast<rlim_t>(before.size() / 2), old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  refused("model.safetensors", ErrorCode::io, model);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  std::signal(SIGXFSZ, SIG_DFL);

  // Through a link, and with a slash at the end.
  std::filesystem::create_directory_symlink(m, folder / "link");
  REQUIRE(save_model(folder / "link", model, p));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(*base::read_file(m / "model.safetensors") != before);
  REQUIRE(save_model(m.string() + "/", model, p));

  // A folder with anything else in it is not replaced.
  std::filesystem::create_directory(folder / "home");
  REQUIRE(save_model(folder / "home", model, p));  // empty: fine
  std::filesystem::remove_all(folder / "home");
  std::filesystem::create_directory(folder / "home");
  REQUIRE(base::write_file_atomic(folder / "home" / "letter.txt", "dear"));
  const auto not_replaced = save_model(folder / "home", model, p);
  REQUIRE(!not_replaced.has_value());
  CHECK(not_replaced.error().code == ErrorCode::invalid_argument);
  CHECK(*base::read_file(folder / "home" / "letter.txt") == "dear");
  CHECK(save_model(folder / "home" / "letter.txt", model, p).error().message.find("letter.txt") !=
        std::string::npos);
  CHECK_THROWS_AS((void)save_model(m, {.kind = "x", .files = {{"../x", ""}}}, p), std::logic_error);
  CHECK_THROWS_AS((void)save_model(m, {.kind = "x", .config = "[]"}, p), std::logic_error);
}

TEST_CASE("the MiniLM weights load") {
  const auto data = askbase::test::data_folder();
  if (!data || !std::filesystem::exists(*data / "models/minilm-l6-h384")) {
    MESSAGE("skipped: no benchmark data (ASKBASE_DATA)");
    return;
  }
  const auto file = SafetensorsFile::open(*data / "models/minilm-l6-h384/model.fp16.safetensors");
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  CHECK(file->tensors().size() == 104);
  CHECK(file->metadata("format") == "pt");
  std::uint64_t numbers = 0;
  Parameters<float> p;
  for (const TensorInfo& info : file->tensors()) {
    if (info.dtype != Dtype::f16) continue;
    numbers += info.count();
    p.add(info.name, info.shape);
  }
  CHECK(numbers == 22713216);
  FillOptions options;
  options.ignore_extra = true;  // embeddings.position_ids
  const auto filled = fill_parameters(*file, p, options);
  REQUIRE_MESSAGE(filled.has_value(), filled.error().message);
  const View<const float> norm = p[p.find("embeddings.LayerNorm.weight")];
  double sum = 0;
  for (Index i = 0; i < norm.cols; ++i) sum += norm(0, i);
  CHECK(sum / 384 > 0.3);
  CHECK(sum / 384 < 3.0);
}

}  // namespace askbase::nn
