#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

// While it lives, other numbers stand on this thread where there is no value: those of place
// `which` below kPoisons, of which 0 is the usual.
inline constexpr int kPoisons = 4;
class PoisonScope {
 public:
  explicit PoisonScope(int which);
  PoisonScope(const PoisonScope&) = delete;
  PoisonScope& operator=(const PoisonScope&) = delete;
  ~PoisonScope() { poison_now = before_; }

 private:
  Poison before_ = poison_now;
};

// A bit for each byte that a run leaves, storage by storage: whether it depends on what stands
// where there is no value, so that the numeric contract leaves it open. `usual` is what the run
// leaves with the usual poison; `run` runs again. An error is that of a run with other poison.
using Storages = std::vector<std::vector<std::byte>>;
using ByteMarks = std::vector<std::vector<bool>>;
Result<ByteMarks> unspecified_bytes(const Storages& usual,
                                    const std::function<Result<Storages>()>& run);

// Whether a byte of an element of so many bytes is marked.
bool is_marked(const std::vector<bool>& marks, size_t element, size_t width);

// Whether some scalar below a node may have no value, so that its poison may be seen.
bool may_lack_value(uop::Graph& g, uop::Ref root);

}  // namespace assay::interpreter
