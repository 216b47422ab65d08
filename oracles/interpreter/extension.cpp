#include "oracles/interpreter/extension.h"

#include <algorithm>
#include <span>

#include "engine/check.h"

namespace assay::interpreter {
namespace {

struct Edge {
  size_t from;
  size_t to;
};

std::vector<Edge> edges_of(uop::Ref linear) {
  ASSAY_CHECK(linear->op == uop::Op::Linear, "{} is no linear", uop::to_text(linear->op));
  std::vector<Edge> edges;
  if (linear->arg.kind != uop::ArgKind::Info) return edges;
  const std::span<const int64_t> numbers = linear->arg.numbers();
  ASSAY_CHECK(numbers.size() % 3 == 0, "{} numbers are no edges", numbers.size());
  for (size_t i = 0; i < numbers.size(); i += 3) {
    const auto from = static_cast<size_t>(numbers[i]);
    const auto to = static_cast<size_t>(numbers[i + 1]);
    ASSAY_CHECK(from < linear->src.size() && to < linear->src.size(), "edge {} {} of {} calls",
                from, to, linear->src.size());
    edges.push_back({from, to});
  }
  return edges;
}

// splitmix64.
uint64_t next_number(uint64_t& state) {
  state += 0x9E37'79B9'7F4A'7C15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

// Takes pick(ready), a position in the list of calls that may come next, until none is left.
template <typename Pick>
std::vector<int> extension(uop::Ref linear, Pick pick) {
  const size_t n = linear->src.size();
  std::vector<std::vector<size_t>> users(n);
  std::vector<size_t> waits(n, 0);
  for (const Edge& e : edges_of(linear)) {
    users[e.from].push_back(e.to);
    waits[e.to]++;
  }
  std::vector<size_t> ready;
  for (size_t i = 0; i < n; i++) {
    if (waits[i] == 0) ready.push_back(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const size_t at = pick(ready);
    const size_t call = ready[at];
    ready.erase(ready.begin() + static_cast<int64_t>(at));
    order.push_back(static_cast<int>(call));
    for (const size_t user : users[call]) {
      if (--waits[user] == 0) ready.push_back(user);
    }
  }
  ASSAY_CHECK(order.size() == n, "the edges of {} calls have a circle", n);
  return order;
}

}  // namespace

std::vector<int> random_extension(uop::Ref linear, uint64_t seed) {
  return extension(
      linear, [&](const std::vector<size_t>& ready) { return next_number(seed) % ready.size(); });
}

std::vector<int> last_first_extension(uop::Ref linear) {
  return extension(linear, [](const std::vector<size_t>& ready) {
    return static_cast<size_t>(std::max_element(ready.begin(), ready.end()) - ready.begin());
  });
}

bool is_extension(uop::Ref linear, const std::vector<int>& order) {
  const size_t n = linear->src.size();
  if (order.size() != n) return false;
  std::vector<int> at(n, -1);
  for (size_t i = 0; i < n; i++) {
    if (order[i] < 0 || static_cast<size_t>(order[i]) >= n) return false;
    at[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  if (std::find(at.begin(), at.end(), -1) != at.end()) return false;
  const std::vector<Edge> edges = edges_of(linear);
  return std::all_of(edges.begin(), edges.end(),
                     [&](const Edge& e) { return at[e.from] < at[e.to]; });
}

}  // namespace assay::interpreter
