#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::schedule {

// Kernels in few words, for tests:
//
//   E_4  p0[r0] = (add p1[r0] 1.0)  <- b2, b0
//
// one line a CALL in the order of the toposort, with the states it takes: b for BUFFERs, a for
// PARAMs of the graph, each with its number and a ' for each version after the first.
class KernelText {
 public:
  static std::string of(uop::Graph& g, uop::Ref root) {
    KernelText t(g);
    for (const uop::Ref u : uop::toposort(g, root, uop::Extent::OutsideBodies)) {
      if (u->op == uop::Op::Call) t.call(u);
    }
    return t.text_;
  }
  static size_t count(uop::Graph& g, uop::Ref root) {
    size_t n = 0;
    for (const uop::Ref u : uop::toposort(g, root, uop::Extent::OutsideBodies))
      n += u->op == uop::Op::Call;
    return n;
  }

 private:
  explicit KernelText(uop::Graph& g) : g_(g) {}

  static std::string state(uop::Ref s) {
    std::string ticks;
    for (; s->op == uop::Op::After; s = s->src[0]) ticks += '\'';
    return fmt::format("{}{}{}", s->op == uop::Op::Buffer ? 'b' : 'a', s->arg.number(), ticks);
  }

  void call(uop::Ref u) {
    std::map<uop::Ref, std::string> words;
    for (const uop::Ref v : uop::toposort(g_, u->src[0])) words[v] = word(words, v);
    std::vector<std::string> states;
    for (const uop::Ref s : u->src.subspan(1)) states.push_back(state(s));
    text_ += fmt::format("{}  {}  <- {}\n", u->src[0]->arg.name(), words[u->src[0]],
                         fmt::join(states, ", "));
  }

  static std::string word(std::map<uop::Ref, std::string>& words, uop::Ref v) {
    using uop::Op;
    const auto src = [&](size_t i) { return words[v->src[i]]; };
    switch (v->op) {
      case Op::Const: return uop::to_text(v->value());
      case Op::Invalid: return "invalid";
      case Op::Variable: return std::string(v->arg.name());
      case Op::Range: return fmt::format("r{}", v->arg.number());
      case Op::Param: return fmt::format("p{}", v->arg.number());
      case Op::Index: return fmt::format("{}[{}]", src(0), src(1));
      case Op::Store: return fmt::format("{} = {}", src(0), src(1));
      case Op::End:
      case Op::Sink: return src(0);
      default: break;
    }
    std::string text =
        fmt::format("({}", v->op == Op::Reduce ? to_text(v->arg.fold_op()) : to_text(v->op));
    if (v->op == Op::Reduce) text = "(reduce_" + text.substr(1);
    if (v->op == Op::Cast || v->op == Op::Bitcast)
      text += fmt::format(" {}", uop::to_text(v->dtype));
    for (size_t i = 0; i < v->src.size(); ++i) text += " " + src(i);
    return text + ")";
  }

  uop::Graph& g_;
  std::string text_;
};

}  // namespace assay::schedule
