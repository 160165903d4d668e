#include "reader/encoder_examples.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/sentences.h"
#include "base/text.h"

namespace askbase::reader {

namespace {

constexpr std::size_t kSpecial = 3;  // [CLS] a [SEP] b [SEP]
constexpr double kShortShare = 0.1;

Pieces pieces_of(const PieceDocument& document, const PieceRun& run) {
  Pieces pieces;
  pieces.ids.assign(document.ids.begin() + static_cast<std::ptrdiff_t>(run.begin),
                    document.ids.begin() + static_cast<std::ptrdiff_t>(run.end));
  return pieces;
}

class PairMaker {
 public:
  PairMaker(std::span<const PieceDocument> documents, std::size_t max_length, std::uint64_t seed)
      : documents_(documents), room_(max_length - kSpecial), random_(seed, 0x7061697273) {}

  std::vector<SentencePair> run() {
    for (std::size_t d = 0; d < documents_.size(); ++d) add_document(d);
    return std::move(pairs_);
  }

 private:
  void add_document(std::size_t d) {
    const PieceDocument& document = documents_[d];
    std::size_t first = 0, target = draw_target();
    for (std::size_t last = 0; last < document.ends.size(); ++last) {
      if (last + 1 < document.ends.size() && document.ends[last] - document.begin(first) < target) continue;
      const std::size_t sentences = last - first + 1;
      const std::size_t cut = first + (sentences == 1 ? 1 : 1 + random_.below(sentences - 1));
      SentencePair pair;
      pair.a = {d, document.begin(first), document.begin(cut)};
      pair.next = sentences > 1 && random_.below(2) == 1;
      if (pair.next) {
        pair.b = {d, pair.a.end, document.ends[last]};
      } else {
        pair.b = elsewhere(d, target > pair.a.size() ? target - pair.a.size() : 1);
        last = cut - 1;  // what was not used begins the next pair
      }
      fit(pair, target);
      pairs_.push_back(pair);
      first = last + 1;
      target = draw_target();
    }
  }

  std::size_t draw_target() { return random_.uniform() < kShortShare ? 2 + random_.below(room_ - 1) : room_; }

  // From a random sentence of another document on, sentences until `size` is reached.
  PieceRun elsewhere(std::size_t than, std::size_t size) {
    const std::size_t drawn = random_.below(documents_.size() - 1), d = drawn < than ? drawn : drawn + 1;
    const PieceDocument& document = documents_[d];
    std::size_t sentence = random_.below(document.ends.size());
    PieceRun run{d, document.begin(sentence), document.ends[sentence]};
    while (run.size() < size && ++sentence < document.ends.size()) run.end = document.ends[sentence];
    return run;
  }

  // Piece by piece, so that neither part is always cut at the same end.
  void fit(SentencePair& pair, std::size_t size) {
    while (pair.a.size() + pair.b.size() > size) {
      PieceRun& longer = pair.a.size() > pair.b.size() ? pair.a : pair.b;
      if (random_.below(2) == 0) {
        ++longer.begin;
      } else {
        --longer.end;
      }
    }
  }

  std::span<const PieceDocument> documents_;
  std::size_t room_;
  nn::Random random_;
  std::vector<SentencePair> pairs_;
};

}  // namespace

std::vector<std::string> texts_between_blank_lines(std::string_view text) {
  std::vector<std::string> texts;
  std::string one;
  const auto end_text = [&] {
    if (!base::trim(one).empty()) texts.push_back(one);
    one.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (base::trim(line).empty()) {
      end_text();
    } else {
      one += line;
    }
  }
  end_text();
  return texts;
}

std::vector<PieceDocument> piece_documents(const WordPiece& tokenizer, std::span<const std::string> texts,
                                           nn::Team& team) {
  std::vector<PieceDocument> documents(texts.size());
  team.parallel_for(static_cast<nn::Index>(texts.size()), 1, [&](nn::Index begin, nn::Index end) {
    Pieces pieces;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::string_view text = texts[i];
      std::size_t from = 0;
      for (const std::uint32_t to : base::sentence_ends(text)) {
        tokenizer.tokenize(text.substr(from, to - from), pieces);
        from = to;
        if (pieces.size() == 0) continue;
        PieceDocument& document = documents[i];
        document.ids.insert(document.ids.end(), pieces.ids.begin(), pieces.ids.end());
        document.ends.push_back(document.ids.size());
      }
    }
  });
  std::erase_if(documents, [](const PieceDocument& document) { return document.ends.empty(); });
  return documents;
}

std::vector<SentencePair> sentence_pairs(std::span<const PieceDocument> documents, std::size_t max_length,
                                         std::uint64_t seed) {
  if (documents.size() < 2 || max_length < kSpecial + 2) {
    throw std::logic_error("reader::sentence_pairs: two documents and room for two pieces are needed");
  }
  return PairMaker(documents, max_length, seed).run();
}

Masker::Masker(const Vocabulary& vocabulary, const Masking& masking)
    : vocabulary_(vocabulary), masking_(masking) {
  if (vocabulary.mask() < 0) throw std::logic_error("reader::Masker: a vocabulary without [MASK]");
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(vocabulary.size()); ++id) {
    const std::string_view piece = vocabulary.piece(id);
    const bool special = piece.size() > 2 && piece.front() == '[' && piece.back() == ']';
    special_.push_back(special ? 1 : 0);
    if (!special) ordinary_.push_back(id);
  }
}

MaskedInput Masker::mask(std::span<const PieceDocument> documents, const SentencePair& pair,
                         nn::Random random) const {
  MaskedInput masked;
  masked.next = pair.next;
  EncoderInput& input = masked.input;
  input = encode_pair(vocabulary_, pieces_of(documents[pair.a.document], pair.a),
                      pieces_of(documents[pair.b.document], pair.b), pair.length());
  std::vector<std::vector<std::size_t>> words;  // or single pieces
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < input.ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(input.ids[i]);
    if (special_[id] != 0) continue;
    ++pieces;
    const bool joins = masking_.whole_words && !words.empty() && words.back().back() + 1 == i &&
                       vocabulary_.continues(input.ids[i]);
    if (!joins) words.emplace_back();
    words.back().push_back(i);
  }
  const auto share = static_cast<std::size_t>(std::lround(masking_.share * static_cast<double>(pieces)));
  const std::size_t wanted = std::min(masking_.most, std::max<std::size_t>(1, share));
  random.shuffle(words);
  for (const std::vector<std::size_t>& word : words) {
    if (masked.places.size() + word.size() > wanted) continue;
    masked.places.insert(masked.places.end(), word.begin(), word.end());
  }
  std::sort(masked.places.begin(), masked.places.end());
  for (const std::size_t place : masked.places) {
    std::int32_t& id = input.ids[place];
    masked.targets.push_back(id);
    const double draw = random.uniform();
    if (draw < 0.8) {
      id = vocabulary_.mask();
    } else if (draw < 0.9) {
      id = ordinary_[random.below(ordinary_.size())];
    }
  }
  return masked;
}

}  // namespace askbase::reader
