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
  if (line != u) nodes_[kernel_.at(u)].line = line;
  // What differed only by a GROUP is one line.
  if (line == u || place_of(line) == kNowhere) write(line);
}

Ref LineList::line_of(Ref u) const {
  const Ref line = nodes_[kernel_.at(u)].line;
  return line != nullptr ? line : u;
}

uint32_t LineList::place_of(Ref line) const {
  if (const uint32_t* position = kernel_.find(line)) return nodes_[*position].place;
  const auto found = places_.find(line);
  return found == places_.end() ? kNowhere : found->second;
}

void LineList::write(Ref line) {
  ASSAY_CHECK(place_of(line) == kNowhere, "{} stands in the list twice", to_text(line->op));
  const auto place = static_cast<uint32_t>(lines_.size());
  if (const uint32_t* position = kernel_.find(line)) {
    nodes_[*position].place = place;
  } else {
    places_.emplace(line, place);
  }
  lines_.push_back(line);
}

Ref LineList::rebuilt(Ref u) {
  sources_.clear();
  for (const Ref s : u->src) {
    if (s->op == Op::Group) {
      flatten(s);
    } else {
      sources_.push_back(line_of(s));
    }
  }
  if (u->op == Op::End && u->src[0]->op == Op::Group) {
    // A loop ends with the last effect of a group, which is never empty here.
    const Ref range = sources_.back();
    sources_.pop_back();
    ASSAY_CHECK(!sources_.empty(), "range {} ends with nothing", range->arg.number());
    const auto later = [this](Ref x, Ref y) { return place_of(x) < place_of(y); };
    const Ref body = *std::max_element(sources_.begin(), sources_.end(), later);
    return g_.make(Op::End, DType::Void, {body, range});
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
    sources_.push_back(line_of(u));
  }
}

// Two stores may differ by their gates alone. The second of them names the line before it, so that
// it is a line of its own.
Ref LineList::rebuilt_store(Ref u) {
  const Ref now = rebuilt(u);
  const Ref store = if_ == nullptr ? now : g_.make(Op::Store, DType::Void, now->src.first(2));
  if (place_of(store) == kNowhere) return store;
  const Ref place = g_.make(Op::After, store->src[0]->dtype, {store->src[0], lines_.back()});
  write(place);
  return g_.make(Op::Store, DType::Void, {place, store->src[1]});
}

void LineList::open_if(Ref gate) {
  const Ref now = line_of(gate);
  const Ref first = g_.make(Op::If, DType::Void, {now});
  if_ = place_of(first) != kNowhere ? g_.make(Op::If, DType::Void, {now, lines_.back()}) : first;
  write(if_);
}

void LineList::close_if() {
  write(g_.make(Op::EndIf, DType::Void, {if_}));
  if_ = nullptr;
}

}  // namespace assay::codegen
