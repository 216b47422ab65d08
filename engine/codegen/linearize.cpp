#include "engine/codegen/linearize.h"

#include <algorithm>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/line_list.h"
#include "engine/codegen/loop_nest.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::Graph;
using uop::NodeMap;
using uop::Op;
using uop::Ref;

// Each node has a rank: what comes first in the kernel, the straight piece of its block that it
// stands in (pieces end where a loop does), its place in the toposort. Of what may come next the
// least rank does.
constexpr uint64_t kBody = uint64_t{1} << 63;
constexpr int kPieceShift = 32;
// How many places a read of memory is moved ahead.
constexpr uint32_t kAhead = 16;

uint64_t piece_of(uint64_t rank) { return rank >> kPieceShift; }

bool reads_memory(Graph& g, Ref u) {
  if (u->op != Op::Load) return false;
  const Ref buffer = uop::buffer(g, u->src[0]);
  return buffer == nullptr || buffer->op == Op::Param || buffer->arg.addr_space() != AddrSpace::Reg;
}

// What stands in a block: a node or, in the place of its END, a loop. Items are numbered by the
// toposort.
class Blocks {
 public:
  Blocks(Graph& g, std::span<const Ref> order, LoopNest nest)
      : g_(g), order_(order), nest_(std::move(nest)), home_(order.size()) {
    for (uint32_t i = 0; i < order.size(); i++) {
      at_.set(order[i], i);
      home_[i] = nest_.home(g, order[i]);
    }
    find_users();
    find_ranks();
  }

  const LoopNest& nest() const { return nest_; }
  size_t size() const { return order_.size(); }
  Ref node(uint32_t item) const { return order_[item]; }
  bool is_item(uint32_t item) const { return order_[item]->op != Op::Range; }
  uint32_t home(uint32_t item) const { return home_[item]; }
  uint64_t rank(uint32_t item) const { return ranks_[item]; }
  uint32_t sources(uint32_t item) const { return waits_[item]; }
  // The items of the same block that wait for this one.
  std::span<const uint32_t> users(uint32_t item) const {
    return std::span(users_).subspan(first_user_[item], first_user_[item + 1] - first_user_[item]);
  }

 private:
  // Calls with each item and an item of its block that it waits for.
  template <typename Edge>
  void each_edge(Edge edge) const {
    for (uint32_t i = 0; i < order_.size(); i++) {
      const Ref u = order_[i];
      const uint32_t inside = u->op == Op::End ? nest_.closed_by(u) : home_[i];
      for (const Ref s : u->src) {
        if (s->op == Op::Range) continue;  // stands before all else of its block
        const uint32_t source = at_.at(s);
        const uint32_t block = home_[source];
        if (block != inside) {
          edge(at_.at(nest_.blocks()[nest_.below(block, inside)].end), source);
        } else if (u->op != Op::End) {
          edge(i, source);
        }
      }
    }
  }

  void find_users() {
    first_user_.assign(order_.size() + 1, 0);
    waits_.assign(order_.size(), 0);
    each_edge([&](uint32_t user, uint32_t source) {
      first_user_[source + 1]++;
      waits_[user]++;
    });
    for (size_t i = 1; i < first_user_.size(); i++) first_user_[i] += first_user_[i - 1];
    users_.resize(first_user_.back());
    std::vector<uint32_t> next(first_user_.begin(), first_user_.end() - 1);
    each_edge([&](uint32_t user, uint32_t source) { users_[next[source]++] = user; });
  }

  void find_ranks() {
    ranks_.resize(order_.size());
    std::vector<uint32_t> piece(nest_.blocks().size(), 0);
    for (uint32_t i = 0; i < order_.size(); i++) {
      const uint32_t ahead = reads_memory(g_, order_[i]) ? std::min(i, kAhead) : 0;
      ranks_[i] = kBody | uint64_t{piece[home_[i]]} << kPieceShift | (i - ahead);
      if (order_[i]->op == Op::End) piece[home_[i]]++;
    }
    put_first();
    // What a node waits for is as urgent as the node.
    for (uint32_t i = static_cast<uint32_t>(order_.size()); i-- > 0;) {
      for (const uint32_t user : users(i)) ranks_[i] = std::min(ranks_[i], ranks_[user]);
    }
  }

  // PARAMs by slot, then VARIABLEs and SPECIALs by name, then storage by number.
  void put_first() {
    std::vector<uint32_t> named;
    for (uint32_t i = 0; i < order_.size(); i++) {
      const Ref u = order_[i];
      if (u->op == Op::Variable || u->op == Op::Special) named.push_back(i);
      if (u->op == Op::Param) ranks_[i] = static_cast<uint64_t>(u->arg.number());
      if (u->op == Op::Buffer) {
        ranks_[i] = uint64_t{2} << 40 | static_cast<uint64_t>(u->arg.number());
      }
    }
    std::sort(named.begin(), named.end(), [&](uint32_t a, uint32_t b) {
      const Ref x = order_[a];
      const Ref y = order_[b];
      if (x->op != y->op) return x->op == Op::Variable;
      return x->arg.name() != y->arg.name() ? x->arg.name() < y->arg.name() : a < b;
    });
    for (size_t i = 0; i < named.size(); i++) ranks_[named[i]] = uint64_t{1} << 40 | i;
  }

  Graph& g_;
  std::span<const Ref> order_;
  LoopNest nest_;
  NodeMap<uint32_t> at_;
  std::vector<uint32_t> home_;
  std::vector<uint64_t> ranks_;
  std::vector<uint32_t> waits_;
  std::vector<uint32_t> first_user_;
  std::vector<uint32_t> users_;
};

class Scheduler {
 public:
  Scheduler(Graph& g, const Blocks& blocks) : blocks_(blocks), lines_(g) {
    waits_.reserve(blocks.size());
    open_.resize(blocks.nest().blocks().size());
    for (uint32_t i = 0; i < blocks.size(); i++) {
      waits_.push_back(blocks.sources(i));
      if (blocks.is_item(i) && waits_[i] == 0) push(i);
    }
  }

  std::vector<Ref> run() {
    std::vector<uint32_t> stack = {0};  // the blocks that are open, the innermost last
    while (!stack.empty()) {
      Open& block = open_[stack.back()];
      if (is_flush_due(block)) {
        flush(block);
      } else if (!block.ready.empty()) {
        take(block, stack);
      } else {
        leave(stack);
      }
    }
    return lines_.take();
  }

 private:
  struct Ready {
    uint64_t rank;
    uint32_t item;
    bool operator>(const Ready& o) const { return rank != o.rank ? rank > o.rank : item > o.item; }
  };
  struct Open {
    std::vector<Ready> ready;    // a heap, the least rank on top
    std::vector<uint32_t> held;  // gated stores that nothing but their turn keeps back
  };

  void push(uint32_t item) {
    std::vector<Ready>& ready = open_[blocks_.home(item)].ready;
    ready.push_back({blocks_.rank(item), item});
    std::push_heap(ready.begin(), ready.end(), std::greater<>());
  }

  // Gated stores wait for one another until their piece of the block ends.
  bool is_flush_due(const Open& block) const {
    if (block.held.empty()) return false;
    return block.ready.empty() ||
           piece_of(block.ready[0].rank) > piece_of(blocks_.rank(block.held[0]));
  }

  void flush(Open& block) {
    std::vector<uint32_t> held = std::move(block.held);
    block.held.clear();
    std::vector<uint32_t> left;
    while (!held.empty()) {
      const Ref gate = blocks_.node(held[0])->src[2];
      left.clear();
      lines_.open_if(gate);
      for (const uint32_t item : held) {
        if (blocks_.node(item)->src[2] != gate) {
          left.push_back(item);
          continue;
        }
        lines_.add(blocks_.node(item));
        release(item);
      }
      lines_.close_if();
      held.swap(left);
    }
  }

  void take(Open& block, std::vector<uint32_t>& stack) {
    const uint32_t item = block.ready[0].item;
    std::pop_heap(block.ready.begin(), block.ready.end(), std::greater<>());
    block.ready.pop_back();
    const Ref u = blocks_.node(item);
    if (u->op == Op::End) {
      stack.push_back(blocks_.nest().closed_by(u));
      lines_.add(u->src[1]);
      entered_.push_back(item);
    } else if (u->op == Op::Store && u->src.size() == 3) {
      block.held.push_back(item);
    } else {
      lines_.add(u);
      release(item);
    }
  }

  void leave(std::vector<uint32_t>& stack) {
    stack.pop_back();
    if (stack.empty()) return;
    const uint32_t item = entered_.back();
    entered_.pop_back();
    lines_.add(blocks_.node(item));
    release(item);
  }

  void release(uint32_t item) {
    for (const uint32_t user : blocks_.users(item)) {
      if (--waits_[user] == 0) push(user);
    }
  }

  const Blocks& blocks_;
  LineList lines_;
  std::vector<Open> open_;         // by block
  std::vector<uint32_t> entered_;  // the loops on the stack, as items
  std::vector<uint32_t> waits_;
};

Result<Ref> order_lines(uop::Run& run, Ref sink) {
  Graph& g = run.graph();
  const std::vector<Ref> order = uop::toposort(g, sink);
  ASSAY_TRY(nest, LoopNest::of(g, order));
  const Blocks blocks(g, order, std::move(nest));
  const std::vector<Ref> lines = Scheduler(g, blocks).run();
  return g.make(Op::Linear, uop::DType::Void, lines, sink->arg);
}

}  // namespace

const uop::Pass& linearize() {
  static const uop::Pass pass = {.name = "linearize",
                                 .accepts = looped_form(),
                                 .yields = linear_form(),
                                 .rules = {},
                                 .function = order_lines};
  return pass;
}

}  // namespace assay::codegen
