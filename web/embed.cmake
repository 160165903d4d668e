# cmake -DOUT=x.cpp -DFILES="a;b" -P embed.cmake: writes the files as constants of web/assets.h.
set(arrays "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR size "${length} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "const unsigned char asset_${index}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", {reinterpret_cast<const char*>(asset_${index}), ${size}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUT}" "// Made by web/embed.cmake.
#include \"web/assets.h\"

namespace askbase::web {
namespace {
${arrays}
const BuiltInFile files[] = {
${entries}};
}  // namespace

std::span<const BuiltInFile> built_in_files() { return files; }

}  // namespace askbase::web
")
