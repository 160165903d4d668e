// The features of readings that the learned parts tell: matcher, memory
// network, tagger.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_slots = 2048;  // of the memory
constexpr float nearly_none = 0.02F;     // of the tagger's probability

bool is_inverse(const Reading& reading) {
  return reading.shape == Shape::inverse || reading.shape == Shape::flagged;
}

void set_match(Reading& reading) {
  // Those of chains are set where they are found.
  if (!reading.predicate || !reading.match.learned || reading.shape == Shape::chain) return;
  const std::size_t way = is_inverse(reading) ? 1 : 0;
  feature(reading, Feature::matched) = of_log_share(reading.match.log_share[way]);
  feature(reading, Feature::fits) = of_logit(reading.match.logit[way]);
  if (reading.match.text_cover > 0 || reading.inferred) return;
  feature(reading, Feature::guessed) = 1;
  feature(reading, Feature::guess_matched) = feature(reading, Feature::matched);
  feature(reading, Feature::guess_fits) = feature(reading, Feature::fits);
}

void set_tagged(const Context& context, Reading& reading) {
  if (!context.links.tagged || reading.mention == nullptr) return;
  feature(reading, Feature::tagged) = reading.mention->tagged;
  feature(reading, Feature::untagged) = reading.mention->tagged < nearly_none ? 1 : 0;
}

// One slot for an entity, predicate and direction, however many readings speak
// of it.
void set_memory(const Context& context, std::vector<Reading>& readings) {
  const FactMemory& memory = *context.models->memory;
  std::vector<const Mention*> named;
  std::vector<MemoryMention> mentions;
  std::vector<MemorySlot> slots;
  std::map<std::tuple<const Mention*, std::uint64_t, std::size_t>, std::size_t> places;
  std::vector<std::pair<Reading*, std::size_t>> slot_of;
  for (Reading& reading : readings) {
    if (!reading.predicate || reading.mention == nullptr || reading.missing()) continue;
    // It remembers single facts: of a chain the one that it begins with.
    const std::size_t path = reading.chain.empty()
                                 ? path_of(*reading.predicate, is_inverse(reading))
                                 : path_of(reading.chain[0].predicate, reading.chain[0].inverse);
    const auto [at, added] = places.try_emplace({reading.mention, reading.entity.bits, path}, slots.size());
    if (added) {
      if (slots.size() >= max_slots) {
        places.erase(at);
        continue;
      }
      auto mention = std::find(named.begin(), named.end(), reading.mention);
      if (mention == named.end()) {
        mentions.push_back({reading.mention->begin, reading.mention->end});
        mention = named.insert(named.end(), reading.mention);
      }
      const bool entity = reading.candidate != nullptr;
      slots.push_back({.key = &context.codes->keys[path],
                       .subject = entity ? std::string_view(reading.candidate->name)
                                         : std::string_view(reading.mention->text),
                       .facts = entity ? reading.candidate->facts : 0,
                       .mention = static_cast<std::uint32_t>(mention - named.begin())});
    }
    slot_of.emplace_back(&reading, at->second);
  }
  if (slots.empty()) return;
  const MemoryReading read = memory.read(context.question.text, mentions, slots);
  for (const auto& [reading, slot] : slot_of) {
    feature(*reading, Feature::remembered) = of_log_share(std::log(std::max(1e-9F, read.attention[slot])));
    feature(*reading, Feature::recalled) = read.scores[slot];
  }
}

}  // namespace

void set_learned_features(const Context& context, std::vector<Reading>& readings) {
  if (context.models == nullptr) return;
  for (Reading& reading : readings) {
    set_match(reading);
    set_tagged(context, reading);
  }
  if (context.models->memory && !context.deadline.passed()) set_memory(context, readings);
}

}  // namespace askbase::qa
