#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace assay::fuzz {

// Does work(first), work(first + 1), … in `jobs` threads, each with a worker of its own that
// `make_worker` makes in it, and hands the results to `take` in the order of their numbers, as soon
// as all before them are there, until `end` or until `take` returns false: then nothing more
// begins, and what is under way is thrown away. A worker is given all numbers below
// until(number) in turn. Work on a number begins only when all numbers below needs(number) have
// been taken.
template <typename T, typename Needs, typename Until, typename MakeWorker, typename Take>
void stream(int64_t first, int64_t end, size_t jobs, Needs needs, Until until,
            MakeWorker make_worker, Take take) {
  std::map<int64_t, T> done;
  std::mutex mutex;
  std::condition_variable changed;
  int64_t next = first;
  int64_t taken = first;
  bool is_over = false;
  const auto serve = [&] {
    auto worker = make_worker();
    for (;;) {
      int64_t mine = 0;
      int64_t last = 0;
      {
        std::unique_lock lock(mutex);
        if (next >= end) return;
        mine = next;
        last = next = std::min(end, until(mine));
      }
      for (; mine < last; mine++) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return is_over || taken >= needs(mine); });
          if (is_over) return;
        }
        T result = worker(mine);
        const std::lock_guard lock(mutex);
        done.emplace(mine, std::move(result));
        changed.notify_all();
      }
    }
  };
  std::vector<std::jthread> threads;
  threads.reserve(jobs);
  for (size_t i = 0; i < jobs; ++i) threads.emplace_back(serve);
  std::unique_lock lock(mutex);
  while (taken < end && !is_over) {
    changed.wait(lock, [&] { return done.contains(taken); });
    auto one = done.extract(taken);
    lock.unlock();
    const bool goes_on = take(one.key(), std::move(one.mapped()));
    lock.lock();
    taken++;
    is_over = !goes_on;
    changed.notify_all();
  }
}

}  // namespace assay::fuzz
