// The safetensors format: named tensors in one file, without code in it.
//
//   8 bytes  n, the length of the header, little-endian
//   n bytes  JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//            "__metadata__": {"key": "text", ...}}, possibly followed by spaces
//   rest     the numbers, row-major, little-endian; offsets count from here
//
// The reader trusts nothing: it refuses a file whose tensors do not cover the rest exactly, once, in their
// sizes. https://github.com/huggingface/safetensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/matrix.h"
#include "nn/parameters.h"

namespace askbase::nn {

// Those of the format. Numbers of u16, u32, u64, boolean and f8 tensors can be listed, not read.
enum class Dtype { f64, f32, f16, bf16, i64, i32, i16, i8, u8, u16, u32, u64, boolean, f8_e5m2, f8_e4m3 };

std::string_view dtype_name(Dtype dtype);  // "F32"
std::optional<Dtype> dtype_by_name(std::string_view name);
std::uint64_t dtype_size(Dtype dtype);  // bytes

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;                       // empty: one number
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
  std::uint64_t count() const { return (end - begin) / dtype_size(dtype); }
};

// A file opened for reading; numbers are read when they are asked for, so that they lie in memory once. Safe
// to share between threads.
class SafetensorsFile {
 public:
  // Reads and checks the header. Errors: not_found, io, corrupt (file, tensor and reason), unsupported (a
  // dtype that the format does not name), too_large (a header of more than 64 MiB).
  static base::Result<SafetensorsFile> open(const std::filesystem::path& path);
  // The same for a file's content; `name` stands for it in messages.
  static base::Result<SafetensorsFile> from_bytes(std::string bytes, std::string name);

  // In the order of their offsets.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find(const std::string& name) const;
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  std::string metadata(std::string_view key) const;  // empty when there is none
  const std::string& name() const { return name_; }  // of the file

  // The numbers as T (float or double); out has count() places. Integers are converted; int8 ones are not
  // scaled. A number that is not finite, also after the conversion, is refused with the tensor's name unless
  // any_number. Errors: corrupt, unsupported, io (the file was cut off meanwhile).
  template <typename T>
  base::Status read(const TensorInfo& tensor, T* out, bool any_number = false) const;
  // The bytes as they are; out has end - begin places.
  base::Status read_bytes(const TensorInfo& tensor, std::span<std::byte> out) const;

 private:
  class Bytes;
  explicit SafetensorsFile(std::shared_ptr<const Bytes> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {}
  static base::Result<SafetensorsFile> read_header(std::shared_ptr<const Bytes> bytes, std::string name);
  base::Status parse_header(std::string_view header, std::uint64_t data_size);
  base::Status check_offsets(std::uint64_t data_size);

  std::shared_ptr<const Bytes> bytes_;
  std::string name_;
  std::uint64_t data_begin_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

// A tensor to be written. fill() makes the numbers [first, first + count) in the file's form when their turn
// comes, so that a conversion needs no copy of the whole.
struct TensorSource {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::function<void(Index first, Index count, std::byte* out)> fill;
};

// Of values that lie without gaps and outlive the writing. dtype: f32, f16 or bf16; a double is written as
// f64 or f32.
TensorSource tensor_of(std::string name, Shape shape, const float* values, Dtype dtype = Dtype::f32);
TensorSource tensor_of(std::string name, Shape shape, const double* values, Dtype dtype = Dtype::f64);
TensorSource tensor_of(std::string name, Shape shape, const std::int8_t* values);
TensorSource tensor_of(std::string name, Shape shape, const std::int64_t* values);

// Writes the file whole or not at all (base/file.h). Wide numbers come first, then by name, so that every
// tensor is aligned to its numbers. Two tensors of one name are a programmer error (std::logic_error).
// Errors: io.
base::Status write_safetensors(const std::filesystem::path& path, std::vector<TensorSource> tensors,
                               const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace askbase::nn
