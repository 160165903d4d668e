// SHA-256 (FIPS 180-4), over OpenSSL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace askbase::base {

// Of what is appended in turn. Belongs to one thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void append(std::string_view bytes);
  // With its length in front, so that two texts cannot run into each other.
  void append_text(std::string_view text);
  std::string hex();  // ends it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256(std::string_view bytes);

}  // namespace askbase::base
