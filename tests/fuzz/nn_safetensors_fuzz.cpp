// Safetensors of any bytes: an error of one line that names the file, or tensors that cover the numbers
// exactly, once, and can be read.
#include <cstring>

#include "nn/model_folder.h"
#include "nn/safetensors.h"
#include "tests/fuzz/fuzz_support.h"

using namespace askbase;
using namespace askbase::nn;

namespace {

bool readable(Dtype dtype) {
  switch (dtype) {
    case Dtype::u16:
    case Dtype::u32:
    case Dtype::u64:
    case Dtype::boolean:
    case Dtype::f8_e5m2:
    case Dtype::f8_e4m3:
      return false;
    default:
      return true;
  }
}

// A model whose parameters may or may not be those of the file.
void fill(const SafetensorsFile& file) {
  Parameters<float> p;
  p.add("a", {2, 3});
  p.add("b.weight", {4});
  const auto filled = fill_parameters(
      file, p, {.prefixes = {"bert."}, .gamma_beta = true, .ignore_extra = true, .optional = {"b"}});
  FUZZ_CHECK(!filled ? !filled.error().message.empty() : p.finite());
  if (file.find("a") != nullptr) (void)read_int8(file, "a");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = SafetensorsFile::from_bytes(std::string(askbase::test::bytes(data, size)), "fuzz");
  if (!file) {
    FUZZ_CHECK(file.error().message.starts_with("fuzz: "));
    FUZZ_CHECK(file.error().message.find('\n') == std::string::npos);
    return 0;
  }
  std::uint64_t covered = 0;
  for (const TensorInfo& info : file->tensors()) {
    FUZZ_CHECK(file->find(info.name) == &info);
    FUZZ_CHECK(info.begin == covered && info.end >= info.begin && info.end <= size);
    covered = info.end;
    std::uint64_t count = 1;
    for (const Index n : info.shape) {
      FUZZ_CHECK(n >= 0);
      count *= static_cast<std::uint64_t>(n);
    }
    FUZZ_CHECK(count == info.count());
    std::vector<float> floats(info.count());
    std::vector<double> doubles(info.count());
    std::vector<std::byte> raw(info.end - info.begin);
    FUZZ_CHECK(file->read(info, floats.data(), true).has_value() ==
               (readable(info.dtype) || info.count() == 0));
    FUZZ_CHECK(file->read(info, doubles.data(), true).has_value() ==
               (readable(info.dtype) || info.count() == 0));
    FUZZ_CHECK(file->read_bytes(info, raw).has_value());
    if (info.dtype == Dtype::f32 && !raw.empty())
      FUZZ_CHECK(std::memcmp(raw.data(), floats.data(), raw.size()) == 0);
    if (file->read(info, floats.data())) {
      for (const float value : floats) FUZZ_CHECK(value - value == 0.0F);
    }
  }
  fill(*file);
  return 0;
}
