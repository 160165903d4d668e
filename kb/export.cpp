// Export: every fact as a line of N-Triples or N-Quads, sorted by bytes, so that two KBs with the same facts
// give the same file whatever ids they use. Lines beyond the memory budget go to sorted runs in files.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "kb/load.h"
#include "kb/load_names.h"

namespace askbase::kb {
namespace {

constexpr std::uint64_t kInterruptEvery = 4096;

// Lines of a run, in a file without a name.
class LineRun {
 public:
  static base::Result<LineRun> write(const std::vector<std::string_view>& lines) {
    std::FILE* file = std::tmpfile();
    if (file == nullptr) return tl::unexpected(failed());
    LineRun run(file);
    for (const std::string_view line : lines) {
      if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fputc('\n', file) == EOF) {
        return tl::unexpected(failed());
      }
    }
    if (std::fflush(file) != 0) return tl::unexpected(failed());
    std::rewind(file);
    ASKBASE_TRY(run.next());
    return run;
  }
  LineRun(LineRun&& other) noexcept
      : file_(std::move(other.file_)),
        buffer_(std::exchange(other.buffer_, nullptr)),
        capacity_(other.capacity_),
        line_(other.line_),
        ended_(other.ended_) {}
  LineRun& operator=(LineRun&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(buffer_, other.buffer_);
    capacity_ = other.capacity_;
    line_ = other.line_;
    ended_ = other.ended_;
    return *this;
  }
  LineRun(const LineRun&) = delete;
  LineRun& operator=(const LineRun&) = delete;
  ~LineRun() { std::free(buffer_); }

  base::Status next() {
    const ssize_t size = ::getline(&buffer_, &capacity_, file_.get());
    if (size < 0) {
      if (std::ferror(file_.get()) != 0) return tl::unexpected(failed());
      ended_ = true;
      return {};
    }
    line_ = std::string_view(buffer_, static_cast<std::size_t>(size) - 1);
    return {};
  }
  bool ended() const { return ended_; }
  std::string_view line() const { return line_; }

 private:
  explicit LineRun(std::FILE* file) : file_(file) {}
  static base::Error failed() {
    return base::io_error(errno, "cannot sort the export in", std::filesystem::temp_directory_path());
  }
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, Close> file_;
  char* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::string_view line_;
  bool ended_ = false;
};

class LineSorter {
 public:
  explicit LineSorter(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}

  base::Status add(std::string_view line) {
    if (text_.size() + lines_.size() * sizeof(Place) + line.size() > memory_bytes_ && !lines_.empty()) {
      ASKBASE_TRY(spill());
    }
    lines_.push_back({text_.size(), line.size()});
    text_ += line;
    return {};
  }

  // Every line once, in order.
  base::Status finish(const std::function<base::Status(std::string_view)>& sink) {
    const std::vector<std::string_view> rest = sorted();
    std::size_t at = 0;
    std::string last;
    bool any = false;
    const auto emit = [&](std::string_view line) -> base::Status {
      if (any && line == last) return {};
      any = true;
      last = line;
      return sink(line);
    };
    while (true) {
      std::string_view least;
      LineRun* from = nullptr;
      bool found = at < rest.size();
      if (found) least = rest[at];
      for (LineRun& run : runs_) {
        if (run.ended() || (found && run.line() >= least)) continue;
        least = run.line();
        from = &run;
        found = true;
      }
      if (!found) return {};
      ASKBASE_TRY(emit(least));
      if (from == nullptr) {
        ++at;
      } else {
        ASKBASE_TRY(from->next());
      }
    }
  }

 private:
  struct Place {
    std::size_t begin, size;
  };

  std::vector<std::string_view> sorted() const {
    std::vector<std::string_view> lines;
    lines.reserve(lines_.size());
    for (const Place& place : lines_)
      lines.push_back(std::string_view(text_).substr(place.begin, place.size));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  base::Status spill() {
    ASKBASE_ASSIGN(LineRun run, LineRun::write(sorted()));
    runs_.push_back(std::move(run));
    lines_.clear();
    text_.clear();
    return {};
  }

  std::size_t memory_bytes_;
  std::string text_;
  std::vector<Place> lines_;
  std::vector<LineRun> runs_;
};

// Spellings of terms; subjects and predicates repeat in a scan.
class Spelling {
 public:
  explicit Spelling(const View& view) : view_(view) {}

  base::Result<std::string_view> operator()(TermId id) {
    Slot& slot = slots_[(id.bits * 0x9e3779b97f4a7c15ULL) >> 52];
    if (slot.id != id) {
      ASKBASE_ASSIGN(const Term term, view_.term(id));
      slot.text = to_ntriples(term);
      slot.id = id;
    }
    return std::string_view(slot.text);
  }

 private:
  struct Slot {
    TermId id;
    std::string text;
  };
  const View& view_;
  std::vector<Slot> slots_ = std::vector<Slot>(1 << 12);
};

}  // namespace

base::Status export_facts(const View& view, const std::function<base::Status(std::string_view line)>& sink,
                          bool quads, const std::optional<std::string>& source, std::size_t memory_bytes) {
  std::optional<SourceId> only;
  std::vector<std::pair<SourceId, std::string>> graphs;  // by id
  ASKBASE_ASSIGN(const std::vector<Source> sources, view.sources());
  for (const Source& known : sources) {
    if (source && known.name == *source) only = known.id;
    const std::string graph = source_to_graph(known.name);
    graphs.emplace_back(known.id, graph.starts_with("_:") ? graph : to_ntriples(Term::iri(graph)));
  }
  if (source && !only) {
    return base::fail(base::ErrorCode::not_found, "no source is called " + *source,
                      "list them with `askbase stats`");
  }
  std::sort(graphs.begin(), graphs.end());
  LineSorter sorter(memory_bytes);
  Spelling spelling(view);
  base::Status status;
  std::uint64_t seen = 0;
  std::string line;
  const auto add = [&](const Triple& fact) -> base::Status {
    if (++seen % kInterruptEvery == 0) ASKBASE_TRY(base::check_interrupt());
    std::vector<Origin> origins;
    if (quads || only) {
      ASKBASE_ASSIGN(origins, view.origins(fact));
      if (only &&
          std::none_of(origins.begin(), origins.end(), [&](const Origin& o) { return o.source == *only; }))
        return {};
    }
    line.clear();
    for (const TermId id : {fact.subject, fact.predicate, fact.object}) {
      ASKBASE_ASSIGN(const std::string_view text, spelling(id));
      line += text;
      line += ' ';
    }
    if (!quads) {
      line += '.';
      return sorter.add(line);
    }
    const std::size_t size = line.size();
    for (const Origin& origin : origins) {
      if (only && origin.source != *only) continue;
      const auto graph =
          std::lower_bound(graphs.begin(), graphs.end(), std::pair(origin.source, std::string()));
      line.resize(size);
      line += graph->second;
      line += " .";
      ASKBASE_TRY(sorter.add(line));
    }
    return {};
  };
  ASKBASE_TRY(view.match({}, [&](const Triple& fact) {
    status = add(fact);
    return status.has_value();
  }));
  ASKBASE_TRY(std::move(status));
  return sorter.finish(sink);
}

}  // namespace askbase::kb
