// The text of a PDF file, by the program pdftotext (poppler).
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace askbase::reader {

// Pages are divided by form feeds. Errors: unsupported when pdftotext is not installed, not_found, bad_input
// with the program's words, too_large, cancelled, io.
base::Result<std::string> pdf_text(const std::filesystem::path& path);

}  // namespace askbase::reader
