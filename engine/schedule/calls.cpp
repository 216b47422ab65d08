#include "engine/schedule/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "engine/schedule/buckets.h"

namespace assay::schedule {
namespace {

using uop::Op;

constexpr std::array<std::string_view, 4> kKinds = {"RAW", "WAR", "WAW", "reuse"};

bool is_same_pair(const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; }

}  // namespace

std::string_view to_text(EdgeKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string_view kernel_name(Ref call) {
  for (const Ref u : {call->src[0], call}) {
    if (u->arg.has_record() && !u->arg.name().empty()) return u->arg.name();
  }
  return uop::to_text(call->src[0]->op);
}

bool is_copy(Ref call) {
  const Ref body = call->src[0];
  if (body->op != Op::Sink || body->src.size() != 1 || body->src[0]->op != Op::Store) return false;
  return body->src[0]->src[1]->op == Op::Copy;
}

Ref make_linear(Graph& g, std::span<const Ref> calls, std::vector<Edge> edges) {
  for (const Edge& e : edges) {
    ASSAY_CHECK(0 <= e.from && e.from < e.to && e.to < static_cast<int64_t>(calls.size()),
                "edge from {} to {} of {} calls", e.from, e.to, calls.size());
  }
  bucket(
      edges, calls.size(), [](const Edge& e) { return static_cast<size_t>(e.from); },
      [](const Edge& a, const Edge& b) { return a < b; });
  edges.erase(std::unique(edges.begin(), edges.end(), is_same_pair), edges.end());
  std::vector<int64_t> numbers;
  numbers.reserve(edges.size() * 3);
  for (const Edge& e : edges) {
    numbers.insert(numbers.end(), {e.from, e.to, static_cast<int64_t>(e.kind)});
  }
  return g.make(Op::Linear, uop::DType::Void, calls, g.info("", numbers));
}

Result<std::vector<Edge>> edges_of(Ref linear) {
  std::vector<Edge> edges;
  if (!linear->arg.has_record()) return edges;
  const std::span<const int64_t> numbers = linear->arg.numbers();
  const auto calls = static_cast<int64_t>(linear->src.size());
  if (numbers.size() % 3 != 0) {
    return Error{fmt::format("linear has {} numbers, and an edge is three", numbers.size())};
  }
  edges.reserve(numbers.size() / 3);
  for (size_t i = 0; i < numbers.size(); i += 3) {
    const int64_t from = numbers[i];
    const int64_t to = numbers[i + 1];
    const int64_t kind = numbers[i + 2];
    if (from < 0 || from >= to || to >= calls || kind < 0 ||
        kind >= static_cast<int64_t>(kKinds.size())) {
      return Error{fmt::format("linear of {} calls has an edge {} {} {}", calls, from, to, kind)};
    }
    edges.push_back(
        {static_cast<int32_t>(from), static_cast<int32_t>(to), static_cast<EdgeKind>(kind)});
  }
  return edges;
}

}  // namespace assay::schedule
