// askbase export
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/output.h"
#include "kb/load.h"

namespace askbase::cli {
namespace {

struct ExportArguments {
  std::string format = "nt", source, out;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

base::Status write_lines(const kb::View& view, const ExportArguments& arguments, std::FILE* file,
                         const std::filesystem::path& name) {
  const std::optional<std::string> source =
      arguments.source.empty() ? std::nullopt : std::optional(arguments.source);
  if (source) {
    ASKBASE_ASSIGN(const auto record, view.source(*source));
    if (!record) {
      return base::fail(base::ErrorCode::not_found, "the knowledge base has no source \"" + *source + "\"",
                        "askbase stats lists the sources");
    }
  }
  const auto sink = [&](std::string_view line) -> base::Status {
    ASKBASE_TRY(base::check_interrupt());
    if (std::fwrite(line.data(), 1, line.size(), file) != line.size() ||
        (!line.ends_with('\n') && std::fputc('\n', file) == EOF)) {
      return tl::unexpected(base::io_error(errno, "cannot write", name));
    }
    return {};
  };
  ASKBASE_TRY(kb::export_facts(view, sink, arguments.format == "nq", source));
  if (std::fflush(file) != 0) return tl::unexpected(base::io_error(errno, "cannot write", name));
  return {};
}

base::Result<int> run_export(const ExportArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  base::watch_interrupts();
  if (arguments.out.empty()) {
    ASKBASE_TRY(write_lines(*view, arguments, stdout, "standard output"));
    return exit_done;
  }
  // Under another name until it is whole, so that no half file is taken for an export.
  const std::filesystem::path partial = arguments.out + ".partial";
  const File file(std::fopen(partial.c_str(), "wb"));
  if (!file) return tl::unexpected(base::io_error(errno, "cannot write", partial));
  auto status = write_lines(*view, arguments, file.get(), partial);
  if (status && ::fsync(::fileno(file.get())) != 0) {
    status = tl::unexpected(base::io_error(errno, "cannot write", partial));
  }
  if (status && std::rename(partial.c_str(), arguments.out.c_str()) != 0) {
    status = tl::unexpected(base::io_error(errno, "cannot write", arguments.out));
  }
  if (!status) {
    std::remove(partial.c_str());
    return tl::unexpected(status.error());
  }
  return exit_done;
}

}  // namespace

void add_export(const Command& askbase) {
  auto arguments = std::make_shared<ExportArguments>();
  const Command command = askbase.add("export", "Write the facts as N-Triples or N-Quads, sorted",
                                      "  askbase --kb my-kb export | gzip > facts.nt.gz\n"
                                      "  askbase --kb my-kb export --source people.csv --out people.nt\n"
                                      "N-Quads carry the source of each fact as its graph.");
  command.option("--format", "FORMAT", arguments->format, "nt or nq; nt", Command::one_of({"nt", "nq"}));
  command.option("--source", "NAME", arguments->source, "Only the facts of this source");
  command.option("--out", "FILE", arguments->out, "Write to this file; standard output");
  command.on_run([arguments](const Globals& globals) { return run_export(*arguments, globals); });
}

}  // namespace askbase::cli
