#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/check.h"
#include "engine/uop/dim.h"
#include "engine/uop/prefix.h"
#include "engine/uop/target.h"
#include "engine/uop/walk.h"

// Kernels of the schedule for tests: made of a few words, and printed in a few.
namespace assay::codegen {

// The least target with groups of 256 work-items.
inline uop::Target grouped_target() {
  uop::Target t = uop::generic_target();
  t.limits.group_size = 256;
  std::ranges::fill(t.limits.item_sizes, 256);
  return t;
}

// Makes a kernel's parts. Index terms are prefix text over r0, r1, …, the ranges made so far, and
// variables.
struct ScheduledSample {
  uop::Graph& g;
  uop::Leaves leaves = {};

  uop::Ref range(uop::Ref size, uop::AxisType type) {
    const auto number = static_cast<int32_t>(std::ranges::count_if(
        leaves, [](const auto& l) { return l.second->op == uop::Op::Range; }));
    const uop::Ref r = g.make(uop::Op::Range, uop::Index, {size}, uop::Arg::axis(number, type));
    leaves[fmt::format("r{}", number)] = r;
    return r;
  }
  uop::Ref loop(int64_t size) { return range(uop::dim(g, size), uop::AxisType::Weak); }
  uop::Ref fold(int64_t size) { return range(uop::dim(g, size), uop::AxisType::Reduce); }
  uop::Ref variable(std::string_view name, int64_t lo, int64_t hi) {
    const uop::Ref v = g.variable(name, uop::of_int(uop::Index, lo), uop::of_int(uop::Index, hi));
    leaves[std::string(name)] = v;
    return v;
  }
  // A term of type `index`, or a condition.
  uop::Ref term(std::string_view text) const {
    const Result<uop::Ref> u = uop::from_prefix(g, text, leaves);
    ASSAY_CHECK(u.ok(), "{}: {}", text, to_string(u.error()));
    return u.value();
  }
  uop::Ref at(int64_t slot, int64_t size, std::string_view index, uop::DType t = uop::F32) const {
    const uop::Ref param = g.make(uop::Op::Param, t, {uop::dim(g, size)}, uop::Arg::number(slot));
    return g.make(uop::Op::Index, t, {param, term(index)});
  }
  uop::Ref f32(double value) const { return g.constant(uop::of_double(uop::F32, value)); }
  uop::Ref reduce(uop::Op op, uop::Ref x, std::vector<uop::Ref> over) const {
    over.insert(over.begin(), x);
    return g.make(uop::Op::Reduce, x->dtype, over, uop::Arg::fold(op, 0));
  }
  uop::Ref end(uop::Ref target, uop::Ref value, std::vector<uop::Ref> loops) const {
    const uop::Ref store = g.make(uop::Op::Store, uop::Void, {target, value});
    if (loops.empty()) return store;
    loops.insert(loops.begin(), store);
    return g.make(uop::Op::End, uop::Void, loops);
  }
  uop::Ref kernel(std::string_view name, std::vector<uop::Ref> effects) const {
    const uop::Arg arg = g.info(name, {});
    return g.make(uop::Op::Sink, uop::Void, effects, arg);
  }
};

// A kernel in few words, ranges named by their type (capital of weak, global, local, loop "o",
// upcast, unroll "n", group_reduce "s", reduce) and number:
//
//   r_16_64 LOCAL(0,8)
//   G0:2 L2:8 R1:64
//   p0[(+ (* G0 8) L2)] = (reduce_add p1[(+ (* G0 512) (* L2 64) R1)] R1)
class SampleText {
 public:
  static std::string of(uop::Graph& g, uop::Ref kernel) {
    SampleText t;
    std::vector<uop::Ref> ranges;
    std::string stores;
    for (const uop::Ref u : uop::toposort(g, kernel)) {
      t.words_[u] = t.word(u);
      if (u->op == uop::Op::Range) ranges.push_back(u);
      if (u->op == uop::Op::End || (u->op == uop::Op::Sink && u->src[0]->op == uop::Op::Store)) {
        stores += t.words_[u->src[0]] + '\n';
      }
    }
    std::ranges::sort(ranges, {}, [](uop::Ref r) { return r->arg.number(); });
    std::vector<std::string> sizes;
    sizes.reserve(ranges.size());
    for (const uop::Ref r : ranges) sizes.push_back(t.words_[r] + ':' + t.words_[r->src[0]]);
    return fmt::format("{}\n{}\n{}", kernel->arg.name(), fmt::join(sizes, " "), stores);
  }

 private:
  std::string word(uop::Ref u) {
    using uop::Op;
    static constexpr std::string_view kTypes = "OWRGLPSUN";  // in the order of AxisType
    switch (u->op) {
      case Op::Const: return uop::to_text(u->value());
      case Op::Invalid: return "invalid";
      case Op::Variable: return std::string(u->arg.name());
      case Op::Range:
        return fmt::format("{}{}", kTypes[static_cast<size_t>(u->arg.axis_type())],
                           u->arg.number());
      case Op::Param: return fmt::format("p{}", u->arg.number());
      case Op::Index: return fmt::format("{}[{}]", words_[u->src[0]], words_[u->src[1]]);
      case Op::Store: return fmt::format("{} = {}", words_[u->src[0]], words_[u->src[1]]);
      default: break;
    }
    std::string text = "(";
    text += u->op == Op::Reduce ? fmt::format("reduce_{}", uop::to_text(u->arg.fold_op()))
                                : std::string(uop::info(u->op).symbol);
    if (u->op == Op::Cast || u->op == Op::Bitcast) {
      text += fmt::format(" {}", uop::to_text(u->dtype));
    }
    // (+ a b c) for (+ (+ a b) c).
    const bool joins = u->op == Op::Add && u->src[0]->op == Op::Add;
    const std::string& first = u->src.empty() ? text : words_[u->src[0]];
    for (size_t i = 0; i < u->src.size(); ++i) {
      text += ' ';
      text += i == 0 && joins ? first.substr(3, first.size() - 4) : words_[u->src[i]];
    }
    return text + ")";
  }

  std::map<uop::Ref, std::string> words_;
};

}  // namespace assay::codegen
