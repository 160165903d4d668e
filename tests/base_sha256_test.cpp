// SHA-256 against the standard's own examples.
#include <doctest/doctest.h>
#include <string>

#include "base/sha256.h"

namespace askbase::base {

TEST_CASE("SHA-256 gives the values of FIPS 180-4's examples") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 million;
  for (int i = 0; i < 1000; ++i) million.append(std::string(1000, 'a'));
  CHECK(million.hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  Sha256 text, whole;
  text.append_text("abc");
  whole.append("3:abc");
  CHECK(text.hex() == whole.hex());
}

}  // namespace askbase::base
