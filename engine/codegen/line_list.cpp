#include "engine/codegen/line_list.h"

#include <algorithm>

#include "engine/check.h"

namespace assay::codegen {

using uop::DType;
using uop::Op;
using uop::Ref;

void LineList::add(Ref u) {
  if (u->op == Op::Sink || u->op == Op::Group) return;
  const Ref line = u->op == Op::Store ? rebuilt_store(u) : rebuilt(u);
  if (line != u) line_of_.set(u, line);
  // What differed only by a GROUP is one line.
  if (line == u || !place_of_.has(line)) write(line);
}

void LineList::write(Ref line) {
  ASSAY_CHECK(!place_of_.has(line), "{} stands in the list twice", to_text(line->op));
  place_of_.set(line, static_cast<uint32_t>(lines_.size()));
  lines_.push_back(line);
}

Ref LineList::rebuilt(Ref u) {
  sources_.clear();
  for (const Ref s : u->src) {
    if (s->op == Op::Group) {
      flatten(s);
    } else {
      const Ref* line = line_of_.find(s);
      sources_.push_back(line != nullptr ? *line : s);
    }
  }
  if (u->op == Op::End && u->src[0]->op == Op::Group) {
    // What the loop ends with: the last effect of the group, or nothing but the loop itself.
    const Ref range = sources_.back();
    const auto later = [&](Ref a, Ref b) { return place_of_.at(a) < place_of_.at(b); };
    const Ref body = *std::max_element(sources_.begin(), sources_.end(), later);
    return g_.make(Op::End, body->dtype, {body, range});
  }
  const bool same = std::equal(sources_.begin(), sources_.end(), u->src.begin(), u->src.end());
  return same ? u : g_.with_sources(u, sources_);
}

void LineList::flatten(Ref group) {
  stack_.assign(1, group);
  while (!stack_.empty()) {
    const Ref u = stack_.back();
    stack_.pop_back();
    if (u->op == Op::Group) {
      stack_.insert(stack_.end(), u->src.rbegin(), u->src.rend());
      continue;
    }
    const Ref* line = line_of_.find(u);
    sources_.push_back(line != nullptr ? *line : u);
  }
}

// Two stores may differ by their gates alone. The second of them names the line before it, so that
// it is a line of its own.
Ref LineList::rebuilt_store(Ref u) {
  const Ref now = rebuilt(u);
  const Ref store = if_ == nullptr ? now : g_.make(Op::Store, DType::Void, now->src.first(2));
  if (!place_of_.has(store)) return store;
  const Ref place = g_.make(Op::After, store->src[0]->dtype, {store->src[0], lines_.back()});
  write(place);
  return g_.make(Op::Store, DType::Void, {place, store->src[1]});
}

void LineList::open_if(Ref gate) {
  const Ref* line = line_of_.find(gate);
  const Ref now = line != nullptr ? *line : gate;
  const Ref first = g_.make(Op::If, DType::Void, {now});
  if_ = place_of_.has(first) ? g_.make(Op::If, DType::Void, {now, lines_.back()}) : first;
  write(if_);
}

void LineList::close_if() {
  write(g_.make(Op::EndIf, DType::Void, {if_}));
  if_ = nullptr;
}

}  // namespace assay::codegen
