#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace assay::fuzz {

// Does work(0) to work(count - 1) in `jobs` threads, each with a worker of its own that
// `make_worker` makes in it, and hands the results to `take` in the order of their numbers, as soon
// as all before them are there.
template <typename T, typename MakeWorker, typename Take>
void in_order(size_t count, size_t jobs, MakeWorker make_worker, Take take) {
  std::vector<std::optional<T>> results(count);
  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0;
  const auto serve = [&] {
    auto worker = make_worker();
    for (;;) {
      size_t mine = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == count) return;
        mine = next++;
      }
      T result = worker(mine);
      const std::lock_guard lock(mutex);
      results[mine] = std::move(result);
      changed.notify_one();
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < jobs; ++i) threads.emplace_back(serve);
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return results[i].has_value(); });
    T result = std::move(*results[i]);
    results[i].reset();
    lock.unlock();
    take(i, std::move(result));
  }
}

}  // namespace assay::fuzz
