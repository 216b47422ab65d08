#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/uop/sample.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

// Kernels with a mistake that code generation could make, or a change that is none, for tests.
namespace assay::props {

// A list of instructions that is written anew from another.
class ListEdit {
 public:
  ListEdit(uop::Graph& g, uop::Ref linear) : g_(g), linear_(linear) {}

  std::vector<uop::Ref> all(uop::Op op) const {
    std::vector<uop::Ref> found;
    for (const uop::Ref u : linear_->src) {
      if (u->op == op) found.push_back(u);
    }
    return found;
  }

  // The list without a line: who named it names what it named first.
  void drop(uop::Ref line) { dropped_ = line; }
  // A barrier before a line.
  void add_barrier(uop::Ref before) { before_ = before; }
  // Another node for a line, made of what the line has become.
  using Change = std::function<uop::Ref(uop::Ref)>;
  void change(uop::Ref line, Change change) {
    changed_ = line;
    change_ = std::move(change);
  }

  uop::Ref run() {
    for (const uop::Ref u : linear_->src) {
      // Its sources tell it from one that may be there.
      if (u == before_) {
        const std::vector<uop::Ref> src = {last_effect_, list_.front()};
        put(g_.make(uop::Op::Barrier, uop::Void, src));
      }
      if (u == dropped_) {
        now_[u] = u->src.empty() ? last_effect_ : now(u->src[0]);
        continue;
      }
      std::vector<uop::Ref> src;
      for (const uop::Ref s : u->src) src.push_back(now(s));
      uop::Ref made = g_.with_sources(u, src);
      if (u == changed_) made = change_(made);
      now_[u] = made;
      put(made);
    }
    return g_.make(uop::Op::Linear, uop::Void, list_, linear_->arg);
  }

 private:
  uop::Ref now(uop::Ref u) const {
    const auto known = now_.find(u);
    return known == now_.end() ? u : known->second;
  }
  void put(uop::Ref u) {
    if (!listed_.insert(u).second) return;
    for (const uop::Ref s : u->src) put(s);
    list_.push_back(u);
    if (u->dtype == uop::Void || u->op == uop::Op::Const) last_effect_ = u;
  }

  uop::Graph& g_;
  uop::Ref linear_;
  uop::Ref dropped_ = nullptr;
  uop::Ref before_ = nullptr;
  uop::Ref changed_ = nullptr;
  uop::Ref last_effect_ = nullptr;
  Change change_;
  std::unordered_map<uop::Ref, uop::Ref> now_;
  std::unordered_set<uop::Ref> listed_;
  std::vector<uop::Ref> list_;
};

// The positions that a list has.
inline std::vector<uop::Ref> positions(uop::Ref linear, std::string_view start) {
  std::vector<uop::Ref> found;
  for (const uop::Ref u : linear->src) {
    if (u->op == uop::Op::Special && u->arg.name().starts_with(start)) found.push_back(u);
  }
  return found;
}

// An index in which something is another than it was.
inline uop::Ref other_index(uop::Graph& g, uop::Ref linear, uop::Ref index, uop::Random& random) {
  const std::vector<uop::Ref> items = positions(linear, "lidx");
  const std::vector<uop::Ref> groups = positions(linear, "gidx");
  const auto kind = random.below(9);
  const bool is_group = kind == 7 && !groups.empty();
  const std::vector<uop::Ref>& from = is_group ? groups : items;
  if (kind == 0 || from.empty()) return g.alu(uop::Op::Add, {index, g.constant(index->dtype, 1)});
  const uop::Ref p = from[random.below(from.size())];
  const uop::Ref q = from[random.below(from.size())];
  const uop::Ref one = g.constant(p->dtype, 1);
  const uop::Ref two = g.constant(p->dtype, 2);
  const uop::Ref zero = g.constant(p->dtype, 0);
  uop::Ref other = zero;
  switch (kind) {
    case 1:
    case 7: other = g.alu(uop::Op::Div, {p, two}); break;
    case 2: break;
    case 3:
    case 4: {
      // The last comes first: each place is taken by another, and by one alone.
      const uop::Ref last = g.alu(uop::Op::Sub, {p->src[0], one});
      other = g.alu(uop::Op::Sub, {last, p});
      break;
    }
    case 5: {
      const uop::Ref next = g.alu(uop::Op::Add, {p, one});
      other = g.alu(uop::Op::Mod, {next, p->src[0]});
      break;
    }
    default: other = q; break;
  }
  uop::Substitution map = {{p, other}};
  if (kind == 6 && q != p) map.emplace(q, p);
  return uop::substitute(g, index, map);
}

// The list with one change; what it was is put into `what`.
inline uop::Ref with_one_edit(uop::Graph& g, uop::Ref linear, uop::Random& random,
                              std::string& what) {
  ListEdit edit(g, linear);
  const std::vector<uop::Ref> barriers = edit.all(uop::Op::Barrier);
  std::vector<uop::Ref> accesses = edit.all(uop::Op::Store);
  for (const uop::Ref load : edit.all(uop::Op::Load)) accesses.push_back(load);
  std::erase_if(accesses, [](uop::Ref a) {
    uop::Ref place = a->src[0];
    if (place->op != uop::Op::Index && place->op != uop::Op::Shrink) return true;
    uop::Ref storage = place->src[0];
    while (storage->op == uop::Op::After) storage = storage->src[0];
    return storage->op == uop::Op::Buffer && storage->arg.addr_space() == uop::AddrSpace::Reg;
  });
  const auto pick = [&](const std::vector<uop::Ref>& from) {
    return from[random.below(from.size())];
  };
  // Where a barrier may be put: before what touches storage, wherever that is.
  const auto somewhere = [&] { return pick(accesses); };
  const auto kind = random.below(8);
  if (kind <= 1 && !barriers.empty()) {
    what = "drop barrier";
    edit.drop(pick(barriers));
  } else if (kind == 2 && !barriers.empty()) {
    what = "move barrier";
    edit.drop(pick(barriers));
    edit.add_barrier(somewhere());
  } else if (kind == 3) {
    what = "add barrier";
    edit.add_barrier(somewhere());
  } else if (kind == 4) {
    const std::vector<uop::Ref> branches = edit.all(uop::Op::If);
    std::vector<uop::Ref> gated = branches;
    for (const uop::Ref a : accesses) {
      if (a->op == uop::Op::Load && a->src.size() == 3) gated.push_back(a);
    }
    if (gated.empty()) return linear;
    what = "drop gate";
    edit.change(pick(gated), [&](uop::Ref u) {
      if (u->op == uop::Op::Load) return g.make(u->op, u->dtype, {u->src[0]}, u->arg);
      std::vector<uop::Ref> src(u->src.begin(), u->src.end());
      src[0] = g.constant(uop::of_bool(true));
      return g.with_sources(u, src);
    });
  } else {
    what = "change index";
    edit.change(somewhere(), [&](uop::Ref u) {
      std::vector<uop::Ref> place(u->src[0]->src.begin(), u->src[0]->src.end());
      place[1] = other_index(g, linear, place[1], random);
      std::vector<uop::Ref> src(u->src.begin(), u->src.end());
      src[0] = g.with_sources(u->src[0], place);
      return g.with_sources(u, src);
    });
  }
  return edit.run();
}

}  // namespace assay::props
