#include "base/sha256.h"

#include <array>
#include <openssl/evp.h>

namespace askbase::base {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}
Sha256::~Sha256() { EVP_MD_CTX_free(state_->context); }

void Sha256::append(std::string_view bytes) { EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()); }

void Sha256::append_text(std::string_view text) {
  append(std::to_string(text.size()) + ":");
  append(text);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += digits[digest[i] >> 4];
    out += digits[digest[i] & 15];
  }
  return out;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.append(bytes);
  return hash.hex();
}

}  // namespace askbase::base
