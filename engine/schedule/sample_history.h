#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/schedule/history.h"

namespace assay::schedule {

// Decisions of a test, one number each; zero when they have run out.
class Choices {
 public:
  explicit Choices(std::vector<uint32_t> numbers) : numbers_(std::move(numbers)) {}
  int32_t below(int32_t end) {
    const uint32_t n = next_ < numbers_.size() ? numbers_[next_++] : 0;
    return static_cast<int32_t>(n % static_cast<uint32_t>(end));
  }

 private:
  std::vector<uint32_t> numbers_;
  size_t next_ = 0;
};

// Numbers of a seed, for histories that are too long to shrink.
inline std::vector<uint32_t> numbers_of(uint64_t seed, size_t count) {
  std::vector<uint32_t> numbers(count);
  for (uint32_t& n : numbers) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    n = static_cast<uint32_t>(seed >> 33);
  }
  return numbers;
}

// A history with what its kernels do to the cells of buffers: a kernel hashes all cells that it
// reads, and writes a value of its own into each cell that it writes. What it must read and what
// must be left at the end is known from the versions alone.
struct SampleHistory {
  static constexpr int kCells = 3;
  using Cells = std::vector<uint64_t>;
  struct Read {
    int32_t version;
    std::vector<int> cells;
  };
  struct Work {
    int32_t buffer;
    std::vector<int> cells;  // written
    std::vector<Read> reads;
  };

  History history;
  std::vector<Work> work;     // by kernel
  std::vector<Cells> value;   // by version
  std::vector<int32_t> tips;  // by buffer: the last version

  static uint64_t mixed(uint64_t a, uint64_t b) {
    const uint64_t h = (a ^ (b + 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U;
    return h ^ h >> 31;
  }
  static uint64_t written(int32_t kernel, uint64_t seen, int cell) {
    return mixed(mixed(static_cast<uint64_t>(kernel) + 1, seen), static_cast<uint64_t>(cell));
  }

  void add_buffer() {
    const auto b = static_cast<int32_t>(tips.size());
    tips.push_back(history.start(b));
    Cells cells;
    for (int c = 0; c < kCells; c++) cells.push_back(mixed(1000 + static_cast<uint64_t>(b), c));
    value.push_back(cells);
  }

  int32_t add_kernel(int32_t over, std::vector<int> cells, std::vector<Read> reads) {
    std::vector<int32_t> versions;
    for (const Read& r : reads) versions.push_back(r.version);
    const int32_t overs[] = {over};
    const int32_t k = history.kernel(overs, versions);
    work.push_back({history.buffer(over), std::move(cells), std::move(reads)});
    return k;
  }

  uint64_t seen_of_versions(int32_t kernel) const {
    uint64_t seen = 0;
    for (const Read& r : work[static_cast<size_t>(kernel)].reads) {
      for (const int c : r.cells) {
        seen = mixed(seen, value[static_cast<size_t>(r.version)][static_cast<size_t>(c)]);
      }
    }
    return seen;
  }

  // The next version of a buffer, made of `prior` by these kernels.
  int32_t add_version(int32_t prior, std::span<const int32_t> writers,
                      std::span<const int32_t> joined = {}) {
    Cells cells = value[static_cast<size_t>(prior)];
    const auto apply = [&](int32_t k) {
      for (const int c : work[static_cast<size_t>(k)].cells) {
        cells[static_cast<size_t>(c)] = written(k, seen_of_versions(k), c);
      }
    };
    for (const int32_t k : writers) apply(k);
    for (const int32_t v : joined) {
      for (const int32_t k : history.writers(v)) apply(k);
    }
    const int32_t v = history.version(prior, writers, joined);
    value.push_back(cells);
    tips[static_cast<size_t>(history.buffer(prior))] = v;
    return v;
  }

  // What goes wrong when kernels run in this order, or nothing.
  std::optional<std::string> trouble(std::span<const int32_t> order) const {
    std::vector<Cells> memory(tips.size());
    for (int32_t v = 0; v < static_cast<int32_t>(tips.size()); v++) memory[v] = value[v];
    for (const int32_t k : order) {
      const Work& w = work[static_cast<size_t>(k)];
      uint64_t seen = 0;
      for (const Read& r : w.reads) {
        const Cells& cells = memory[static_cast<size_t>(history.buffer(r.version))];
        for (const int c : r.cells) seen = mixed(seen, cells[static_cast<size_t>(c)]);
      }
      if (seen != seen_of_versions(k))
        return "kernel " + std::to_string(k) + " reads another version";
      for (const int c : w.cells) {
        memory[static_cast<size_t>(w.buffer)][static_cast<size_t>(c)] = written(k, seen, c);
      }
    }
    for (size_t b = 0; b < tips.size(); b++) {
      if (memory[b] != value[static_cast<size_t>(tips[b])]) {
        return "buffer " + std::to_string(b) + " ends as another version";
      }
    }
    return std::nullopt;
  }
};

inline const std::vector<int>& all_cells() {
  static const std::vector<int> cells = {0, 1, 2};
  return cells;
}

enum class Writes {
  Any,      // joins, and writes of single cells
  Whole,    // each kernel writes all cells
  InPlace,  // and reads them
};

// A random history in which one in `old` reads is of any version, others of the last; buffers come
// first, so that versions 0, 1, … are what they hold at first.
inline SampleHistory sample_history(Choices& choose, int32_t kernels, int32_t buffers,
                                    Writes writes, int32_t old = 3) {
  SampleHistory h;
  for (int32_t b = 0; b < buffers; b++) h.add_buffer();
  std::vector<int32_t> whole = h.tips;  // versions that can be read everywhere
  const auto draw_reads = [&] {
    std::vector<SampleHistory::Read> reads;
    for (int32_t n = choose.below(3); n > 0; n--) {
      const bool is_old = choose.below(old) == 0;
      const int32_t v =
          is_old ? whole[static_cast<size_t>(choose.below(static_cast<int32_t>(whole.size())))]
                 : h.tips[static_cast<size_t>(choose.below(buffers))];
      reads.push_back({v, all_cells()});
    }
    return reads;
  };
  while (h.history.kernels() < kernels) {
    const int32_t prior = h.tips[static_cast<size_t>(choose.below(buffers))];
    const int32_t left = kernels - h.history.kernels();
    const bool is_whole = writes != Writes::Any;
    const int32_t members = is_whole ? 1 : 1 + choose.below(std::min(left, SampleHistory::kCells));
    if (members == 1) {
      auto reads = draw_reads();
      if (writes == Writes::InPlace) reads.push_back({prior, all_cells()});
      const bool is_partial = !is_whole && choose.below(2) == 1;
      const int32_t k = h.add_kernel(
          prior, is_partial ? std::vector<int>{choose.below(SampleHistory::kCells)} : all_cells(),
          reads);
      whole.push_back(h.add_version(prior, std::vector{k}));
      continue;
    }
    // Kernels that write a cell each, joined by name or through versions of their own.
    std::vector<int32_t> writers;
    std::vector<int32_t> joined;
    for (int32_t c = 0; c < members; c++) {
      const int32_t k = h.add_kernel(prior, {c}, draw_reads());
      if (choose.below(2) == 0) {
        writers.push_back(k);
        continue;
      }
      joined.push_back(h.add_version(prior, std::vector{k}));
      h.tips[static_cast<size_t>(h.history.buffer(prior))] = prior;  // a branch is not read whole
    }
    whole.push_back(h.add_version(prior, writers, joined));
  }
  return h;
}

// All orders of the kernels in which the dependencies go forward, until `visit` says false.
template <typename Visit>
void each_extension(int32_t kernels, std::span<const Dependency> dependencies, Visit visit) {
  std::vector<int32_t> order(static_cast<size_t>(kernels));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int32_t> place(order.size());
  do {
    for (size_t i = 0; i < order.size(); i++)
      place[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
    const bool is_right =
        std::all_of(dependencies.begin(), dependencies.end(), [&](const Dependency& d) {
          return place[static_cast<size_t>(d.from)] < place[static_cast<size_t>(d.to)];
        });
    if (is_right && !visit(order)) return;
  } while (std::next_permutation(order.begin(), order.end()));
}

// A random order of that kind.
inline std::vector<int32_t> draw_extension(Choices& choose, int32_t kernels,
                                           std::span<const Dependency> dependencies) {
  std::vector<int32_t> waits(static_cast<size_t>(kernels));
  std::vector<std::vector<int32_t>> later(waits.size());
  for (const Dependency& d : dependencies) {
    waits[static_cast<size_t>(d.to)]++;
    later[static_cast<size_t>(d.from)].push_back(d.to);
  }
  std::vector<int32_t> ready;
  for (int32_t k = 0; k < kernels; k++) {
    if (waits[static_cast<size_t>(k)] == 0) ready.push_back(k);
  }
  std::vector<int32_t> order;
  while (!ready.empty()) {
    std::swap(ready[static_cast<size_t>(choose.below(static_cast<int32_t>(ready.size())))],
              ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const int32_t next : later[static_cast<size_t>(order.back())]) {
      if (--waits[static_cast<size_t>(next)] == 0) ready.push_back(next);
    }
  }
  return order;
}

}  // namespace assay::schedule
