#include "nn/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "nn/quantize.h"

// Numbers are copied between memory and file as they are.
static_assert(std::endian::native == std::endian::little, "the safetensors format is little-endian");

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::Status;

constexpr std::uint64_t kMostHeader = 64ULL << 20;
constexpr std::size_t kMostDepth = 4;  // {"name": {"shape": [..]}} has three levels
constexpr std::size_t kMostDimensions = 16;
constexpr Index kBlock = 1 << 14;  // numbers converted at once

struct DtypeFacts {
  std::string_view name;
  std::uint64_t size;
};
constexpr std::array<DtypeFacts, 15> kDtypes{{{"F64", 8},
                                              {"F32", 4},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"I64", 8},
                                              {"I32", 4},
                                              {"I16", 2},
                                              {"I8", 1},
                                              {"U8", 1},
                                              {"U16", 2},
                                              {"U32", 4},
                                              {"U64", 8},
                                              {"BOOL", 1},
                                              {"F8_E5M2", 1},
                                              {"F8_E4M3", 1}}};

// Names in messages come from the file: cut, so that a message stays a line.
std::string in_quotes(const std::string& name) {
  constexpr std::size_t kMost = 120;
  std::string out = "\"";
  for (const char c : name.substr(0, kMost)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  // Not inside a character.
  while (name.size() > kMost && out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0x80U) != 0)
    out.pop_back();
  return out + (name.size() > kMost ? "...\"" : "\"");
}

// A number of JSON that is an integer in [0, 2^63); anything else: nothing.
std::optional<std::uint64_t> natural(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return number;
}

template <typename From, typename To>
void convert(const std::byte* bytes, To* out, Index n) {
  for (Index i = 0; i < n; ++i) {
    From number;
    std::memcpy(&number, bytes + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(number);
  }
}

// Sixteen-bit floats by way of float. The bytes are aligned for them: blocks start in a buffer of ours.
template <typename To>
void convert_half(const std::byte* bytes, To* out, Index n, bool bfloat) {
  std::array<std::uint16_t, 256> in;
  std::array<float, 256> numbers;
  for (Index i = 0; i < n; i += 256) {
    const Index count = std::min<Index>(256, n - i);
    std::memcpy(in.data(), bytes + i * 2, static_cast<std::size_t>(count) * 2);
    if (bfloat) {
      bfloat16_to_float(in.data(), numbers.data(), count);
    } else {
      half_to_float(in.data(), numbers.data(), count);
    }
    std::copy_n(numbers.data(), count, out + i);
  }
}

template <typename To>
bool convert(Dtype dtype, const std::byte* bytes, To* out, Index n) {
  switch (dtype) {
    case Dtype::f64:
      convert<double>(bytes, out, n);
      return true;
    case Dtype::f32:
      convert<float>(bytes, out, n);
      return true;
    case Dtype::f16:
    case Dtype::bf16:
      convert_half(bytes, out, n, dtype == Dtype::bf16);
      return true;
    case Dtype::i64:
      convert<std::int64_t>(bytes, out, n);
      return true;
    case Dtype::i32:
      convert<std::int32_t>(bytes, out, n);
      return true;
    case Dtype::i16:
      convert<std::int16_t>(bytes, out, n);
      return true;
    case Dtype::i8:
      convert<std::int8_t>(bytes, out, n);
      return true;
    case Dtype::u8:
      convert<std::uint8_t>(bytes, out, n);
      return true;
    default:
      return false;
  }
}

template <typename T>
TensorSource plain(std::string name, Shape shape, const T* values, Dtype dtype) {
  return {std::move(name), dtype, std::move(shape), [values](Index first, Index count, std::byte* out) {
            std::memcpy(out, values + first, static_cast<std::size_t>(count) * sizeof(T));
          }};
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)].name; }

std::optional<Dtype> dtype_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    if (kDtypes[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

std::uint64_t dtype_size(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)].size; }

// A file or its content. Reading by pread, not by mapping: a mapped file that somebody cuts ends the process.
class SafetensorsFile::Bytes {
 public:
  Bytes(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  explicit Bytes(std::string content) : size_(content.size()), content_(std::move(content)) {}
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (fd_ >= 0) ::close(fd_);
  }

  std::uint64_t size() const { return size_; }

  // offset + count is at most size().
  Status read(std::uint64_t offset, std::byte* out, std::uint64_t count, const std::string& name) const {
    if (fd_ < 0) {
      if (count > 0) std::memcpy(out, content_.data() + offset, count);
      return {};
    }
    while (count > 0) {
      const ssize_t got = ::pread(fd_, out, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(base::io_error(errno, "read", name));
      if (got == 0) return fail(ErrorCode::io, name + ": cut off while it was read");
      out += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
    }
    return {};
  }

 private:
  int fd_ = -1;
  std::uint64_t size_;
  std::string content_;
};

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "open", path));
  struct stat status = {};
  const bool known = ::fstat(fd, &status) == 0;
  const auto bytes =
      std::make_shared<const Bytes>(fd, static_cast<std::uint64_t>(known ? status.st_size : 0));
  if (!known || S_ISDIR(status.st_mode)) {
    return tl::unexpected(base::io_error(known ? EISDIR : errno, "read", path));
  }
  return read_header(bytes, path.string());
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(std::string bytes, std::string name) {
  return read_header(std::make_shared<const Bytes>(std::move(bytes)), std::move(name));
}

Result<SafetensorsFile> SafetensorsFile::read_header(std::shared_ptr<const Bytes> bytes, std::string name) {
  SafetensorsFile file(bytes, std::move(name));
  const std::uint64_t size = bytes->size();
  if (size < 8) {
    return fail(ErrorCode::corrupt, file.name_ + ": not a safetensors file: " + std::to_string(size) +
                                        " bytes are shorter than the length of a header");
  }
  std::uint64_t length = 0;
  ASKBASE_TRY(bytes->read(0, reinterpret_cast<std::byte*>(&length), 8, file.name_));
  if (length > size - 8) {
    return fail(ErrorCode::corrupt,
                file.name_ + ": cut off or not a safetensors file: the header should have " +
                    std::to_string(length) + " bytes, " + std::to_string(size - 8) + " are there");
  }
  if (length > kMostHeader) {
    return fail(ErrorCode::too_large, file.name_ + ": a header of " + std::to_string(length) +
                                          " bytes is over the limit of " + std::to_string(kMostHeader));
  }
  std::string header(length, '\0');
  ASKBASE_TRY(bytes->read(8, reinterpret_cast<std::byte*>(header.data()), length, file.name_));
  file.data_begin_ = 8 + length;
  ASKBASE_TRY(file.parse_header(header, size - file.data_begin_));
  return file;
}

Status SafetensorsFile::parse_header(std::string_view header, std::uint64_t data_size) {
  const auto bad = [this](const std::string& what) { return fail(ErrorCode::corrupt, name_ + ": " + what); };
  if (header.empty() || header.front() != '{')
    return bad("not a safetensors file: the header is not a JSON object");
  const Result<Json> parsed = base::parse_json(header, kMostDepth);
  if (!parsed) return bad("the header: " + parsed.error().message);
  if (!parsed->is_object()) return bad("the header is not a JSON object");
  for (const auto& [key, value] : parsed->items()) {
    if (key == "__metadata__") {
      if (!value.is_object()) return bad("__metadata__ is not an object");
      for (const auto& [word, text] : value.items()) {
        if (!text.is_string()) return bad("__metadata__ " + in_quotes(word) + " is not a text");
        metadata_.emplace_back(word, text.get<std::string>());
      }
      continue;
    }
    // Named anew: Clang 14 does not let a lambda capture a structured binding.
    const std::string& tensor_name = key;
    const auto bad_tensor = [&](const std::string& what) {
      return bad("tensor " + in_quotes(tensor_name) + ": " + what);
    };
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
        !value.contains("data_offsets")) {
      return bad_tensor("is not an object of dtype, shape and data_offsets");
    }
    TensorInfo tensor;
    tensor.name = key;
    const Json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    if (!dtype.is_string()) return bad_tensor("the dtype is not a text");
    const std::optional<Dtype> known = dtype_by_name(dtype.get_ref<const std::string&>());
    if (!known) {
      return fail(
          ErrorCode::unsupported,
          name_ + ": tensor " + in_quotes(key) + ": unknown dtype " + in_quotes(dtype.get<std::string>()),
          "F32, F16, BF16, I8, U8, I32, I64 and F64 can be read");
    }
    tensor.dtype = *known;
    if (!shape.is_array() || shape.size() > kMostDimensions) {
      return bad_tensor("the shape is not a list of at most " + std::to_string(kMostDimensions) + " sizes");
    }
    // A product with a zero is zero, however large the others; they must still fit an index one by one.
    std::uint64_t bytes = dtype_size(tensor.dtype);
    bool too_many = false, zero = false;
    for (const Json& size : shape) {
      const std::optional<std::uint64_t> n = natural(size);
      if (!n) return bad_tensor("a size in the shape is not a number from 0 to 2^63 - 1");
      zero = zero || *n == 0;
      too_many = too_many || __builtin_mul_overflow(bytes, *n, &bytes);
      tensor.shape.push_back(static_cast<Index>(*n));
    }
    if (zero) bytes = 0;
    if (too_many && !zero) return bad_tensor("the shape has more numbers than 64 bits can count");
    const std::optional<std::uint64_t> begin =
        offsets.is_array() && offsets.size() == 2 ? natural(offsets[0]) : std::nullopt;
    const std::optional<std::uint64_t> end = begin ? natural(offsets[1]) : std::nullopt;
    if (!end) return bad_tensor("data_offsets are not two numbers from 0");
    if (*begin > *end) return bad_tensor("data_offsets end before they begin");
    if (*end > data_size) {
      return bad_tensor("ends at byte " + std::to_string(*end) + ", but the file has " +
                        std::to_string(data_size) + " bytes of numbers (cut off?)");
    }
    if (*end - *begin != bytes) {
      return bad_tensor(std::to_string(*end - *begin) + " bytes where its shape and dtype take " +
                        std::to_string(bytes));
    }
    tensor.begin = *begin;
    tensor.end = *end;
    tensors_.push_back(std::move(tensor));
  }
  return check_offsets(data_size);
}

// The tensors cover the data without overlap and without holes, as the format demands.
Status SafetensorsFile::check_offsets(std::uint64_t data_size) {
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TensorInfo& tensor = tensors_[i];
    if (tensor.begin < reached) {
      return fail(ErrorCode::corrupt, name_ + ": tensor " + in_quotes(tensor.name) + " overlaps " +
                                          in_quotes(tensors_[i - 1].name));
    }
    if (tensor.begin > reached) {
      return fail(ErrorCode::corrupt, name_ + ": " + std::to_string(tensor.begin - reached) +
                                          " bytes before tensor " + in_quotes(tensor.name) +
                                          " belong to none");
    }
    reached = tensor.end;
    by_name_.emplace(tensor.name, i);
  }
  if (reached != data_size) {
    return fail(ErrorCode::corrupt,
                name_ + ": " + std::to_string(data_size - reached) + " bytes at the end belong to no tensor");
  }
  return {};
}

const TensorInfo* SafetensorsFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

std::string SafetensorsFile::metadata(std::string_view key) const {
  for (const auto& [word, text] : metadata_) {
    if (word == key) return text;
  }
  return {};
}

Status SafetensorsFile::read_bytes(const TensorInfo& tensor, std::span<std::byte> out) const {
  if (out.size() != tensor.end - tensor.begin) throw std::logic_error("nn::SafetensorsFile: another size");
  return bytes_->read(data_begin_ + tensor.begin, out.data(), out.size(), name_);
}

template <typename T>
Status SafetensorsFile::read(const TensorInfo& tensor, T* out, bool any_number) const {
  const std::uint64_t size = dtype_size(tensor.dtype);
  const auto n = static_cast<Index>(tensor.count());
  std::vector<std::byte> block;
  const bool same = dtype_name(tensor.dtype) == (sizeof(T) == sizeof(float) ? "F32" : "F64");
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * size;
    const std::uint64_t offset = data_begin_ + tensor.begin + static_cast<std::uint64_t>(first) * size;
    if (same) {
      ASKBASE_TRY(bytes_->read(offset, reinterpret_cast<std::byte*>(out + first), bytes, name_));
    } else {
      block.resize(bytes);
      ASKBASE_TRY(bytes_->read(offset, block.data(), bytes, name_));
      if (!convert(tensor.dtype, block.data(), out + first, count)) {
        return fail(ErrorCode::unsupported, name_ + ": tensor " + in_quotes(tensor.name) +
                                                ": numbers of dtype " +
                                                std::string(dtype_name(tensor.dtype)) + " cannot be read");
      }
    }
    if (any_number) continue;
    for (Index i = first; i < first + count; ++i) {
      if (std::isfinite(out[i])) continue;
      return fail(ErrorCode::corrupt, name_ + ": tensor " + in_quotes(tensor.name) + ": number " +
                                          std::to_string(i) + " is " +
                                          (std::isnan(out[i]) ? "NaN" : "infinite"));
    }
  }
  return {};
}

template Status SafetensorsFile::read<float>(const TensorInfo&, float*, bool) const;
template Status SafetensorsFile::read<double>(const TensorInfo&, double*, bool) const;

TensorSource tensor_of(std::string name, Shape shape, const float* values, Dtype dtype) {
  if (dtype == Dtype::f32) return plain(std::move(name), std::move(shape), values, dtype);
  if (dtype != Dtype::f16 && dtype != Dtype::bf16)
    throw std::logic_error("nn::tensor_of: not a form of float");
  return {std::move(name), dtype, std::move(shape),
          [values, dtype](Index first, Index count, std::byte* out) {
            std::array<std::uint16_t, 256> block;
            for (Index i = 0; i < count; i += 256) {
              const Index n = std::min<Index>(256, count - i);
              if (dtype == Dtype::f16) {
                float_to_half(values + first + i, block.data(), n);
              } else {
                float_to_bfloat16(values + first + i, block.data(), n);
              }
              std::memcpy(out + i * 2, block.data(), static_cast<std::size_t>(n) * 2);
            }
          }};
}

TensorSource tensor_of(std::string name, Shape shape, const double* values, Dtype dtype) {
  if (dtype == Dtype::f64) return plain(std::move(name), std::move(shape), values, dtype);
  if (dtype != Dtype::f32) throw std::logic_error("nn::tensor_of: not a form of double");
  return {std::move(name), dtype, std::move(shape), [values](Index first, Index count, std::byte* out) {
            for (Index i = 0; i < count; ++i) {
              const auto number = static_cast<float>(values[first + i]);
              std::memcpy(out + static_cast<std::size_t>(i) * sizeof number, &number, sizeof number);
            }
          }};
}

TensorSource tensor_of(std::string name, Shape shape, const std::int8_t* values) {
  return plain(std::move(name), std::move(shape), values, Dtype::i8);
}

TensorSource tensor_of(std::string name, Shape shape, const std::int64_t* values) {
  return plain(std::move(name), std::move(shape), values, Dtype::i64);
}

Status write_safetensors(const std::filesystem::path& path, std::vector<TensorSource> tensors,
                         const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorSource& a, const TensorSource& b) {
    const std::uint64_t x = dtype_size(a.dtype), y = dtype_size(b.dtype);
    return x != y ? x > y : a.name < b.name;
  });
  const auto count_of = [](const TensorSource& tensor) {
    Index n = 1;
    for (const Index size : tensor.shape) n *= size;
    return n;
  };
  Json header = Json::object();
  if (!metadata.empty()) {
    Json& words = header["__metadata__"] = Json::object();
    for (const auto& [key, text] : metadata) words[key] = text;
  }
  std::uint64_t reached = 0;
  for (const TensorSource& tensor : tensors) {
    if (tensor.name == "__metadata__" || header.contains(tensor.name)) {
      throw std::logic_error("nn::write_safetensors: the tensor " + tensor.name + " comes twice");
    }
    const std::uint64_t end =
        reached + static_cast<std::uint64_t>(count_of(tensor)) * dtype_size(tensor.dtype);
    header[tensor.name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {reached, end}}};
    reached = end;
  }
  std::string text = base::dump_json(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the numbers begin aligned
  const auto length = static_cast<std::uint64_t>(text.size());
  ASKBASE_ASSIGN(base::AtomicFile file, base::AtomicFile::create(path));
  ASKBASE_TRY(file.write({reinterpret_cast<const char*>(&length), sizeof length}));
  ASKBASE_TRY(file.write(text));
  std::vector<std::byte> block;
  for (const TensorSource& tensor : tensors) {
    const Index n = count_of(tensor), at_once = 16 * kBlock;
    for (Index first = 0; first < n; first += at_once) {
      const Index count = std::min(at_once, n - first);
      block.resize(static_cast<std::size_t>(count) * dtype_size(tensor.dtype));
      tensor.fill(first, count, block.data());
      ASKBASE_TRY(file.write({reinterpret_cast<const char*>(block.data()), block.size()}));
    }
  }
  return file.commit();
}

}  // namespace askbase::nn
