# Third-party libraries, all from the distribution. Each is one imported target that only the
# library wrapping it links (PRIVATE), so that its types cannot travel.

find_package(PkgConfig REQUIRED)
find_package(RocksDB REQUIRED CONFIG)
find_package(ICU 70 REQUIRED COMPONENTS uc i18n data)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(spdlog REQUIRED CONFIG)
find_package(tl-expected REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(SERD REQUIRED IMPORTED_TARGET serd-0)
# Without the flags of its pkg-config file the Debian library's layout differs from the header's.
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
find_path(HNSWLIB_INCLUDE_DIR hnswlib/hnswlib.h REQUIRED)
find_path(STEMMER_INCLUDE_DIR libstemmer.h REQUIRED)
find_library(STEMMER_LIBRARY stemmer REQUIRED)

add_library(askbase_cli11 INTERFACE)
target_include_directories(askbase_cli11 SYSTEM INTERFACE "${CLI11_INCLUDE_DIR}")
add_library(askbase_hnswlib INTERFACE)
target_include_directories(askbase_hnswlib SYSTEM INTERFACE "${HNSWLIB_INCLUDE_DIR}")
add_library(askbase_stemmer INTERFACE)
target_include_directories(askbase_stemmer SYSTEM INTERFACE "${STEMMER_INCLUDE_DIR}")
target_link_libraries(askbase_stemmer INTERFACE "${STEMMER_LIBRARY}")
