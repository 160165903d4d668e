#include "kb/turtle_filter.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace askbase::kb {
namespace {

constexpr std::size_t kBlock = 1 << 16;
// Bytes that one step may look at: "\UXXXXXXXX" is the longest unit.
constexpr std::size_t kLookAhead = 10;
constexpr std::size_t kMaxRun = 256;
// The parser library calls itself for every bracket.
constexpr int kMaxDepth = 500;
constexpr std::size_t kMaxTermBytes = 16 << 20;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == ':' || c == '%' || static_cast<unsigned char>(c) >= 0x80;
}

// Bytes of the character that starts with this byte (of valid UTF-8).
std::size_t character_bytes(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

TurtleFilter::TurtleFilter(base::Input& input, FactSink& sink) : input_(input), sink_(sink) {
  if (fill() && is_next("\xEF\xBB\xBF")) at_ += 3;
}

bool TurtleFilter::next(char& byte) {
  while (pending_at_ == pending_.size()) {
    pending_.clear();
    pending_at_ = 0;
    if (!produce()) return false;
  }
  byte = pending_[pending_at_++];
  if (line_ended_) {
    ++line_;
    column_ = 0;
    line_ended_ = false;
  }
  ++column_;
  line_ended_ = byte == '\n';
  if (state_ != State::normal || pending_at_ != pending_.size()) {
    last_mark_ = 0;
  } else if (byte == '.' ? !in_name_ : byte == '}') {
    last_mark_ = byte;
  } else if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') {
    last_mark_ = 0;
  }
  return true;
}

void TurtleFilter::fail(base::Error error) {
  if (status_) status_ = tl::unexpected(std::move(error));
}

bool TurtleFilter::fill() {
  in_.erase(0, at_);
  at_ = 0;
  while (!at_end_ && in_.size() < kLookAhead) {
    const std::size_t had = in_.size();
    in_.resize(had + kBlock);
    auto got = input_.read(in_.data() + had, kBlock);
    in_.resize(had + (got ? *got : 0));
    if (!got) {
      fail(std::move(got).error());
      return false;
    }
    at_end_ = *got == 0;
  }
  bad_ = base::first_invalid_utf8(in_).value_or(in_.size());
  return true;
}

// Reports what is at at_; when that is tolerated, the marker takes the place of the bytes.
bool TurtleFilter::fault(std::string_view reason, std::size_t skipped) {
  if (auto told = sink_.bad(line_ + (line_ended_ ? 1 : 0), reason); !told) {
    fail(std::move(told).error());
    return false;
  }
  has_marker_ = true;
  pending_ += marker;
  at_ += skipped;
  return true;
}

void TurtleFilter::take(std::size_t count) {
  pending_.append(in_, at_, count);
  at_ += count;
}

// As many characters as belong to the same piece of text whatever follows them; at least the one at at_.
template <typename Ordinary>
void TurtleFilter::take_run(const Ordinary& is_ordinary) {
  std::size_t limit = std::min(bad_, at_end_ ? in_.size() : in_.size() - kLookAhead + 1);
  limit = std::min(limit, at_ + kMaxRun);
  std::size_t end = at_ + character_bytes(in_[at_]);
  while (end < limit && is_ordinary(in_[end])) ++end;
  // Not in the middle of a character.
  while (end < in_.size() && (static_cast<unsigned char>(in_[end]) & 0xC0) == 0x80) ++end;
  take(end - at_);
}

bool TurtleFilter::produce() {
  if (!status_) return false;
  if (in_.size() - at_ < kLookAhead && !at_end_ && !fill()) return false;
  if (at_ >= in_.size()) return false;
  // A character cut off at the end of what has been read is no fault, and lies beyond the look-ahead.
  if (at_ >= bad_) {
    if (!fault("invalid UTF-8", 1)) return false;
    bad_ = at_ + base::first_invalid_utf8(std::string_view(in_).substr(at_)).value_or(in_.size() - at_);
    return true;
  }
  const char c = in_[at_];
  // Inside a string the syntax allows it; whoever takes the fact refuses it.
  if (c == '\0' && state_ != State::text && state_ != State::long_text) return fault("a NUL byte", 1);
  if (state_ == State::normal) {
    in_normal(c);
    if (depth_ <= kMaxDepth) return true;
    fail({base::ErrorCode::bad_input,
          input_.name() + ":" + std::to_string(line_) + ": brackets nested more than " +
              std::to_string(kMaxDepth) + " deep",
          "convert the file to N-Triples"});
    return false;
  }
  if (state_ == State::comment) {
    const auto ends = [](char other) { return other == '\n' || other == '\r'; };
    if (ends(c)) {
      state_ = State::normal;
      take(1);
    } else {
      take_run([&](char other) { return !ends(other) && other != '\0'; });
    }
    return true;
  }
  return in_term(c);
}

void TurtleFilter::in_normal(char c) {
  term_bytes_ = 0;
  switch (c) {
    case '#':
      state_ = State::comment;
      in_name_ = false;
      return take(1);
    case '<':
      state_ = State::iri;
      in_name_ = false;
      return take(1);
    case '"':
    case '\'': {
      in_name_ = false;
      quote_ = c;
      const std::string three(3, c);
      state_ = is_next(three) ? State::long_text : State::text;
      return take(state_ == State::long_text ? 3 : 1);
    }
    case '\\':  // an escape in a name: what follows has no meaning of its own
      in_name_ = true;
      return take(at_ + 1 < in_.size() && in_[at_ + 1] > ' ' && in_[at_ + 1] < 0x7F ? 2 : 1);
    case '[':
    case '(':
    case '{':
      in_name_ = false;
      ++depth_;
      braces_ += c == '{' ? 1 : 0;
      return take(1);
    case ']':
    case ')':
    case '}':
      in_name_ = false;
      depth_ -= depth_ > 0 ? 1 : 0;
      braces_ -= c == '}' && braces_ > 0 ? 1 : 0;
      return take(1);
    case '.':
      in_name_ = in_name_ && at_ + 1 < in_.size() && (is_name_byte(in_[at_ + 1]) || in_[at_ + 1] == '\\');
      return take(1);
    default:
      break;
  }
  if (!in_name_ && is_next("_:")) {
    take(2);
    in_name_ = true;
    if (at_ < in_.size() && (in_[at_] == 'b' || in_[at_] == 'B' || in_[at_] == 'x')) pending_ += 'x';
    return;
  }
  in_name_ = is_name_byte(c);
  if (in_name_) {
    take_run(is_name_byte);
  } else {
    take(1);
  }
}

// In an IRI or a string.
bool TurtleFilter::in_term(char c) {
  if (term_bytes_ > kMaxTermBytes) {
    fail({base::ErrorCode::too_large,
          input_.name() + ":" + std::to_string(line_) +
              ": a term of more than 16 MiB (a quotation mark that is not closed?)",
          ""});
    return false;
  }
  if (c == '\\') {
    ++term_bytes_;
    return escape();
  }
  const char end = state_ == State::iri ? '>' : quote_;
  if (c != end && c != '\n') {
    const std::size_t from = at_;
    take_run([&](char other) { return other != end && other != '\n' && other != '\\' && other != '\0'; });
    term_bytes_ += at_ - from;
    return true;
  }
  ++term_bytes_;
  switch (state_) {
    case State::iri:
      // A line break ends it for the parser too, as an error.
      if (c == '>' || c == '\n') state_ = State::normal;
      break;
    case State::text:
      if (c == quote_ || c == '\n') state_ = State::normal;
      break;
    default:
      if (c == quote_ && is_next(std::string(3, quote_))) {
        state_ = State::normal;
        take(2);
      }
  }
  take(1);
  return true;
}

bool TurtleFilter::escape() {
  if (at_ + 1 >= in_.size()) {
    take(1);
    return true;
  }
  const char kind = in_[at_ + 1];
  const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0) {
    take(kind > ' ' && kind < 0x7F ? 2 : 1);
    return true;
  }
  std::uint32_t code_point = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const int value = at_ + 2 + i < in_.size() ? hex_value(in_[at_ + 2 + i]) : -1;
    if (value < 0) {  // the parser says what is wrong with it
      take(1);
      return true;
    }
    code_point = code_point << 4 | static_cast<std::uint32_t>(value);
  }
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
    return fault("an escape that is no Unicode character", 2 + digits);
  }
  take(2 + digits);
  return true;
}

void TurtleFilter::skip_statement() {
  const bool whole_graph = braces_ > 0;
  // The parser looks ahead: the statement may have ended before the byte that it found wrong.
  char byte = 0;
  while (whole_graph ? last_mark_ != '}' || braces_ > 0 : last_mark_ != '.' && last_mark_ != '}') {
    if (!next(byte)) break;
  }
  depth_ = braces_ = 0;
}

}  // namespace askbase::kb
