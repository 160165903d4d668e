#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "kb/encoding.h"
#include "kb/subject_cache.h"

using namespace askbase::kb;
using Answer = SubjectCache::Answer;

namespace {

std::string fact(std::uint64_t predicate, TermId object) {
  std::string out;
  append_id(out, make_id(IdType::iri, predicate));
  append_id(out, object);
  return out;
}

// The facts of subject n are a function of n.
std::set<std::string> facts_of(std::uint64_t n) {
  std::mt19937_64 random(n);
  std::set<std::string> facts;
  const std::size_t count = n % 7 == 0 ? 200 : n % 50;
  for (std::size_t i = 0; i < count; ++i)
    facts.insert(fact(random() % 300, make_id(IdType::integer, random() % (1ULL << (random() % 59)))));
  return facts;
}

std::string joined(const std::set<std::string>& facts) {
  std::string all;
  for (const std::string& one : facts) all += one;
  return all;
}

TermId subject(std::uint64_t n) { return make_id(IdType::iri, n); }

}  // namespace

TEST_CASE("the cache gives back what it keeps, and keeps the newest") {
  SubjectCache cache(8 << 20);
  constexpr std::uint64_t subjects = 40'000;  // about four times what fits
  std::mt19937_64 random(11);
  std::size_t kept = 0, seen = 0;
  for (std::uint64_t n = 1; n <= subjects; ++n) {
    if (!cache.admits(subject(n))) CHECK(cache.admits(subject(n)));  // the second miss counts
    cache.insert(subject(n), joined(facts_of(n)));
    std::string all;
    CHECK(cache.copy(subject(n), all) == Answer::yes);
    CHECK(all == joined(facts_of(n)));
    // Any other subject: unknown, or right.
    const std::uint64_t other = 1 + random() % n;
    const auto facts = facts_of(other);
    all.clear();
    const Answer answer = cache.copy(subject(other), all);
    REQUIRE((answer == Answer::yes || answer == Answer::unknown));
    ++seen;
    if (answer == Answer::unknown) continue;
    ++kept;
    CHECK(all == joined(facts));
    for (const std::string& one : facts) CHECK(cache.contains(subject(other), one) == Answer::yes);
    CHECK(cache.contains(subject(other), fact(301, make_id(IdType::blank, 1))) == Answer::no);
    CHECK(cache.contains(subject(other), fact(0, make_id(IdType::year, 1))) == Answer::no);
  }
  CHECK(kept > seen / 10);
  CHECK(kept < seen);
  std::string none;
  CHECK(cache.copy(subject(1), none) == Answer::unknown);
  CHECK(cache.copy(subject(subjects + 1), none) == Answer::unknown);
}

TEST_CASE("a subject with too many facts is remembered as such") {
  SubjectCache cache(8 << 20);
  cache.insert(subject(1), std::string(SubjectCache::max_bytes + 1, '\x10'));
  std::string none;
  CHECK(cache.copy(subject(1), none) == Answer::large);
  CHECK(cache.contains(subject(1), fact(1, subject(1))) == Answer::large);
  cache.insert(subject(2), "");
  CHECK(cache.copy(subject(2), none) == Answer::yes);
  CHECK(none.empty());
  // The largest that is kept.
  std::set<std::string> facts;
  std::size_t bytes = 0;
  for (std::uint64_t i = 1; bytes + 11 <= SubjectCache::max_bytes; ++i)
    bytes += facts.insert(fact(1, make_id(IdType::iri, i))).first->size();
  cache.insert(subject(3), joined(facts));
  for (const std::string& one : facts) CHECK(cache.contains(subject(3), one) == Answer::yes);
}

TEST_CASE("a cache without room keeps nothing") {
  for (const std::size_t bytes : {0, 1000, 1 << 20}) {
    SubjectCache cache(bytes);
    CHECK_FALSE(cache.admits(subject(1)));
    cache.insert(subject(1), fact(1, subject(1)));
    CHECK(cache.contains(subject(1), fact(1, subject(1))) == Answer::unknown);
  }
}

TEST_CASE("threads share the cache") {
  SubjectCache cache(8 << 20);
  std::vector<std::thread> threads;
  std::vector<std::size_t> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::string all;
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t n = 1 + random() % 20'000;
        all.clear();
        if (cache.copy(subject(n), all) == Answer::yes)
          wrong[t] += all == joined(facts_of(n)) ? 0 : 1;
        else if (cache.admits(subject(n)))
          cache.insert(subject(n), joined(facts_of(n)));
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::count(wrong.begin(), wrong.end(), 0U) == 4);
}
