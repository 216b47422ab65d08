#include "props/schedule/footprint.h"

#include <algorithm>

#include "engine/uop/bounds.h"
#include "engine/uop/dtype.h"
#include "engine/uop/eval.h"
#include "engine/uop/walk.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

constexpr int64_t kMostPoints = int64_t{1} << 18;  // of one index

ByteRuns joined(ByteRuns runs) {
  std::sort(runs.begin(), runs.end());
  ByteRuns out;
  for (const auto& [begin, end] : runs) {
    if (begin >= end) continue;
    if (!out.empty() && begin <= out.back().second) {
      out.back().second = std::max(out.back().second, end);
    } else {
      out.emplace_back(begin, end);
    }
  }
  return out;
}

// Whether the evaluator knows all nodes of the term, and its leaves have few values.
bool is_countable(uop::Graph& g, Ref term, int64_t& points) {
  points = 1;
  for (const Ref u : uop::toposort(g, term)) {
    if (u->op == Op::Range) {
      if (!uop::is_const(u->src[0])) return false;
      const auto n = static_cast<int64_t>(u->src[0]->arg.bits);
      if (n > kMostPoints / std::max<int64_t>(points, 1)) return false;
      points *= n;
      continue;
    }
    const bool is_known = uop::is_const(u) || u->op == Op::Invalid || uop::is_scalar(u->op);
    if (!is_known) return false;
  }
  return true;
}

}  // namespace

bool are_disjoint(const ByteRuns& a, const ByteRuns& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].second <= b[j].first) {
      i++;
    } else if (b[j].second <= a[i].first) {
      j++;
    } else {
      return false;
    }
  }
  return true;
}

// The elements that an index takes. Nothing is known where it says so.
bool Footprints::add_index(Ref index, ByteRuns& elements) {
  int64_t points = 0;
  if (!is_countable(g_, index, points)) {
    const Ref place =
        index->op == Op::Where && index->src[2]->op == Op::Invalid ? index->src[1] : index;
    const uop::Bounds b = uop::bounds(g_, place);
    if (b.lo < 0 || b.hi > INT64_MAX / 64) return false;
    elements.emplace_back(static_cast<int64_t>(b.lo), static_cast<int64_t>(b.hi) + 1);
    return true;
  }
  uop::Evaluator evaluator(g_, index);
  const std::vector<Ref>& leaves = evaluator.leaves();
  std::vector<uop::Value> values;
  for (const Ref r : leaves) values.push_back(uop::of_int(r->dtype, 0));
  for (int64_t point = 0; point < points; point++) {
    int64_t rest = point;
    for (size_t i = leaves.size(); i-- > 0;) {
      const auto n = static_cast<int64_t>(leaves[i]->src[0]->arg.bits);
      values[i] = uop::of_int(leaves[i]->dtype, rest % n);
      rest /= n;
    }
    const uop::Cell at = evaluator.run(values);
    if (at.state == uop::Cell::State::Unspecified) return false;
    if (!at.defined()) continue;
    const auto element = static_cast<int64_t>(uop::as_int(at.value));
    if (!elements.empty() && elements.back().second == element) {
      elements.back().second++;
    } else {
      elements.emplace_back(element, element + 1);
    }
  }
  return true;
}

// The elements of a PARAM that a view right above it takes.
bool Footprints::add_place(Ref view, ByteRuns& elements) {
  if (view->op == Op::Index && view->src.size() == 2) return add_index(view->src[1], elements);
  if (view->op != Op::Shrink || view->src.size() != 3) return false;
  if (!uop::is_const(view->src[1]) || !uop::is_const(view->src[2])) return false;
  const auto begin = static_cast<int64_t>(view->src[1]->arg.bits);
  elements.emplace_back(begin, begin + static_cast<int64_t>(view->src[2]->arg.bits));
  return true;
}

// All of them in the body. A PARAM in any other place is read whole.
bool Footprints::add_places(Ref body, int32_t slot, Kind kind, ByteRuns& elements) {
  const auto is_slot = [&](Ref u) { return u->op == Op::Param && u->arg.number() == slot; };
  const std::vector<Ref> nodes = uop::toposort(g_, body);
  uop::NodeMap<char> is_target;  // views that are stored to
  uop::NodeMap<char> is_read;    // views that are sources elsewhere
  for (const Ref u : nodes) {
    for (size_t i = 0; i < u->src.size(); i++) {
      (u->op == Op::Store && i == 0 ? is_target : is_read).set(u->src[i], 1);
    }
  }
  for (const Ref u : nodes) {
    if (u->op == Op::Store && is_slot(viewed_storage(u->src[0]))) {
      if (u->src[0]->src.empty() || !is_slot(u->src[0]->src[0])) return false;
    }
    if (u->src.empty() || !is_slot(u->src[0])) {
      if (std::any_of(u->src.begin(), u->src.end(), is_slot)) return false;
      continue;
    }
    const bool counts = kind == Kind::Writes ? is_target.has(u) : is_read.has(u);
    if (counts && !add_place(u, elements)) return false;
    if (!is_target.has(u) && !is_read.has(u)) return false;
  }
  return true;
}

ByteRuns Footprints::of(Ref call, const CallAccess& access, Kind kind) {
  const bool is_done = kind == Kind::Reads ? access.use.reads : access.use.writes;
  if (!is_done) return {};
  ByteRuns elements;
  const Ref body = call->src[0];
  const Ref argument = storage_arguments(call)[static_cast<size_t>(access.slot)];
  const bool is_known = body->op == Op::Sink && access.is_whole && argument->op != Op::MStack &&
                        add_places(body, access.slot, kind, elements);
  if (!is_known) return {{access.begin, access.end}};
  const int64_t width = uop::bytes_of(argument->dtype);
  for (auto& [begin, end] : elements) {
    begin = std::clamp(access.begin + begin * width, access.begin, access.end);
    end = std::clamp(access.begin + end * width, access.begin, access.end);
  }
  return joined(std::move(elements));
}

}  // namespace assay::props
