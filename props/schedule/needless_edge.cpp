#include "props/schedule/needless_edge.h"

#include <fmt/format.h>

#include <algorithm>

#include "props/schedule/order_judge.h"

namespace assay::props {
namespace {

constexpr size_t kMostListed = 64;
constexpr size_t kMostLeftOut = 16;  // edges that the whole list is looked at without

class EdgeLister {
 public:
  EdgeLister(const CallAccesses& accesses, const CallOrder& order, std::span<const CallPair> also)
      : accesses_(accesses), order_(order), also_(also), footprints_(accesses.graph()) {}

  std::vector<std::string> list() {
    const std::vector<CallOrder::Path> paths = order_.paths(order_.edges());
    std::vector<CallPair> implied;
    std::vector<CallPair> needless;
    size_t left_out = 0;
    for (size_t i = 0; i < paths.size(); i++) {
      const CallPair& e = order_.edges()[i];
      if (paths[i].is_longer) {
        implied.push_back(e);
      } else if (!conflicts(e) && left_out++ < kMostLeftOut && !is_missed(e)) {
        needless.push_back(e);
      }
    }
    say("implied", implied);
    say("needless", needless);
    if (left_out > kMostLeftOut) {
      listed_.push_back(fmt::format("{} more edges are between calls that share no bytes",
                                    left_out - kMostLeftOut));
    }
    return std::move(listed_);
  }

 private:
  // Whether the two calls themselves must be in order.
  bool conflicts(CallPair e) {
    if (std::find(also_.begin(), also_.end(), e) != also_.end()) return true;
    for (const CallAccess& a : accesses_.of(e.from)) {
      for (const CallAccess& b : accesses_.of(e.to)) {
        const bool meet = a.storage == b.storage && a.begin < b.end && b.begin < a.end;
        if (!meet || (!a.use.writes && !b.use.writes)) continue;
        const CallConflict c = {e.from, e.to, ConflictKind::Raw, a.storage, a.begin, a.end};
        if (may_meet(accesses_, c, footprints_)) return true;
      }
    }
    return false;
  }

  // Whether other calls are in order only by way of this edge.
  bool is_missed(CallPair e) {
    const CallOrder without = order_.without(e);
    const OpenOrder found = open_order(accesses_, without);
    if (!found.open.empty() || found.too_many > 0) return true;
    return !without.unordered({also_.begin(), also_.end()}).empty();
  }

  void say(std::string_view kind, const std::vector<CallPair>& edges) {
    for (size_t i = 0; i < std::min(edges.size(), kMostListed); i++) {
      listed_.push_back(fmt::format("{}: {} to {}", kind,
                                    call_name(accesses_.linear(), edges[i].from),
                                    call_name(accesses_.linear(), edges[i].to)));
    }
    if (edges.size() > kMostListed) {
      listed_.push_back(fmt::format("{}: {} more", kind, edges.size() - kMostListed));
    }
  }

  const CallAccesses& accesses_;
  const CallOrder& order_;
  std::span<const CallPair> also_;
  Footprints footprints_;
  std::vector<std::string> listed_;
};

}  // namespace

std::vector<std::string> needless_edges(const CallAccesses& accesses, const CallOrder& order,
                                        std::span<const CallPair> also) {
  return EdgeLister(accesses, order, also).list();
}

}  // namespace assay::props
