#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fuzz/campaign/stream.h"

namespace assay::fuzz {

// stream() of work(0) to work(count - 1), all of which is taken, and none of which waits for other
// results.
template <typename T, typename MakeWorker, typename Take>
void in_order(size_t count, size_t jobs, MakeWorker make_worker, Take take) {
  const auto needs = [](int64_t) { return int64_t{0}; };
  const auto until = [](int64_t number) { return number + 1; };
  const auto make_numbered = [&] {
    return [work = make_worker()](int64_t number) mutable {
      return work(static_cast<size_t>(number));
    };
  };
  stream<T>(0, static_cast<int64_t>(count), jobs, needs, until, make_numbered,
            [&](int64_t number, T result) {
              take(static_cast<size_t>(number), std::move(result));
              return true;
            });
}

}  // namespace assay::fuzz
