// Keeps the vectors of a served KB up to date: a thread that makes the ones that are missing and reads them
// into memory when they or the documents have changed. Until they are there, passages are found by their
// words.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "kb/store.h"
#include "reader/passage_vectors.h"

namespace askbase::reader {

// Thread-safe.
class VectorKeeper {
 public:
  // The store must outlive the keeper. A store opened for reading has only the vectors that it was written
  // with.
  VectorKeeper(kb::Store& store, SentenceModel model, int threads);
  ~VectorKeeper();  // stops what is being made; what is written stays
  VectorKeeper(const VectorKeeper&) = delete;
  VectorKeeper& operator=(const VectorKeeper&) = delete;

  const SentenceModel& model() const { return model_; }
  // What retrieve() takes: null before they were read for the first time.
  std::shared_ptr<const PassageVectors> vectors() const;

  struct Status {
    bool complete = false;  // every passage that can have a vector has one of this model, and is in memory
    std::uint64_t passages = 0, vectors = 0, missing = 0;
    std::string problem;  // why no more are made; empty: none
  };
  Status status() const;

 private:
  void run();
  base::Status bring_up_to_date();

  kb::Store& store_;
  const SentenceModel model_;
  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::shared_ptr<const PassageVectors> vectors_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace askbase::reader
