#include "qa/text_readers.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "nn/team.h"

namespace askbase::qa {
namespace {

using Workspace = std::unique_ptr<reader::TextReader::Workspace>;

// A workspace grows with what it read; one that read more than this is not kept for later.
constexpr std::size_t kKeptBelow = 1 << 20;  // bytes of text

}  // namespace

struct TextReaders::State {
  struct Desk {
    std::shared_ptr<const reader::TextReader> reader;
    std::vector<Workspace> idle;
  };

  explicit State(int threads) : team(std::max(1, threads)), places(team.size()) {}

  Desk& desk(base::Language language) { return language == base::Language::chinese ? chinese : english; }

  Desk english, chinese;
  nn::Team team;
  std::mutex mutex;  // guards what follows and the idle workspaces
  std::condition_variable freed;
  int places;
};

TextReaders::TextReaders(std::shared_ptr<const reader::TextReader> english,
                         std::shared_ptr<const reader::TextReader> chinese, int threads)
    : state_(std::make_unique<State>(threads)) {
  state_->english.reader = std::move(english);
  state_->chinese.reader = std::move(chinese);
}

TextReaders::~TextReaders() = default;

bool TextReaders::reads(base::Language language) const {
  return language != base::Language::unknown && state_->desk(language).reader != nullptr;
}

base::Result<std::vector<reader::Reading>> TextReaders::read(base::Language language,
                                                             std::string_view question,
                                                             std::span<const std::string_view> texts,
                                                             const reader::ReadOptions& options,
                                                             const Deadline& deadline) const {
  if (!reads(language)) {
    const bool chinese = language == base::Language::chinese;
    return base::fail(
        base::ErrorCode::unsupported,
        chinese ? "there is no model that reads Chinese" : "there is no model that reads English",
        std::string("put the folder ") + (chinese ? "zh-reader" : "en-reader") +
            " into the folder of models");
  }
  State::Desk& desk = state_->desk(language);
  Workspace workspace;
  {
    std::unique_lock lock(state_->mutex);
    if (!state_->freed.wait_until(lock, deadline.end(), [&] { return state_->places > 0; })) {
      return base::fail(base::ErrorCode::timeout, "the time was over before it was this text's turn",
                        "allow more time, or ask again when there is less to do");
    }
    --state_->places;
    if (!desk.idle.empty()) {
      workspace = std::move(desk.idle.back());
      desk.idle.pop_back();
    }
  }
  // The place is given back whatever happens.
  struct Leave {
    State& state;
    State::Desk& desk;
    Workspace& workspace;
    bool keep;
    ~Leave() {
      {
        const std::lock_guard lock(state.mutex);
        ++state.places;
        if (keep && workspace) desk.idle.push_back(std::move(workspace));
      }
      state.freed.notify_one();
    }
  };
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  const Leave leave{*state_, desk, workspace, bytes <= kKeptBelow};
  if (!workspace) workspace = desk.reader->workspace();
  return desk.reader->read(question, texts, options, *workspace, state_->team,
                           [&] { return deadline.passed(); });
}

}  // namespace askbase::qa
