#include "fuzz/coverage/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "engine/check.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/pipeline.h"
#include "engine/codegen/seen.h"
#include "engine/runtime/rules.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/memory_plan.h"
#include "engine/schedule/prepare.h"
#include "engine/schedule/rangeify.h"
#include "engine/schedule/seen.h"
#include "engine/schedule/stages.h"
#include "engine/uop/pass.h"
#include "engine/uop/spec.h"
#include "engine/uop/walk.h"

namespace assay::fuzz {
namespace {

using uop::Op;
using uop::Ref;

constexpr uint32_t kBuckets = 8;  // 0, 1, 2, 3–4, 5–8, 9–16, 17–32, more
constexpr std::string_view kCounts[] = {"0",      "1",       "2",        "3 to 4",
                                        "5 to 8", "9 to 16", "17 to 32", "more than 32"};

uint32_t bucket_of(int64_t count) {
  if (count <= 2) return static_cast<uint32_t>(std::max<int64_t>(0, count));
  const auto bits = static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(count - 1)));
  return std::min(bits + 1, kBuckets - 1);
}

constexpr std::string_view kScheduleCounts[] = {"kernels",   "copies",    "RAW edges",
                                                "WAR edges", "WAW edges", "refused"};
constexpr std::string_view kPlanCounts[] = {"arenas", "planned buffers", "kept buffers",
                                            "reuse edges", "copy arenas"};
constexpr std::string_view kTraits[] = {"LOCAL storage", "a barrier", "a gate", "a vector"};
constexpr int kLookups = 5;

struct Names {
  std::vector<std::string> rules;
  std::map<std::string, uint32_t, std::less<>> rule_by_name;
  std::unordered_map<const uop::Rule*, uint32_t> rule_by_address;  // only searched
  std::vector<std::string_view> passes;  // the last stands for all that are not listed
};

const Names& names() {
  static const Names table = [] {
    Names n;
    for (const uop::RuleSet* set : runtime::all_rules()) {
      for (const uop::Rule& rule : set->rules()) {
        std::string name = full_name(*set, rule);
        const auto next = static_cast<uint32_t>(n.rules.size());
        const auto [place, is_new] = n.rule_by_name.emplace(name, next);
        n.rule_by_address[&rule] = place->second;
        if (is_new) n.rules.push_back(std::move(name));
      }
    }
    const auto add = [&](std::string_view name) {
      if (std::ranges::find(n.passes, name) == n.passes.end()) n.passes.push_back(name);
    };
    for (const uop::Pass* p : schedule::prepare_passes()) add(p->name);
    add(schedule::rangeify_pass().name);
    add(schedule::remove_stages_pass().name);
    add(schedule::split_store_pass().name);
    add("limit_buffers");
    for (const uop::Pass* p : codegen::pipeline()) add(p->name);
    n.passes.emplace_back("another pass");
    return n;
  }();
  return table;
}

uint32_t rule_number(const uop::RuleSet& set, const uop::Rule& rule) {
  const Names& n = names();
  const auto known = n.rule_by_address.find(&rule);
  if (known != n.rule_by_address.end()) return known->second;
  // A substitute, which stands in the place of the rule of its name.
  const auto named = n.rule_by_name.find(full_name(set, rule));
  return named != n.rule_by_name.end() ? named->second : static_cast<uint32_t>(n.rules.size());
}

uint32_t pass_number(std::string_view name) {
  const std::vector<std::string_view>& passes = names().passes;
  const auto found = std::ranges::find(passes, name);
  return static_cast<uint32_t>(std::min(found - passes.begin(), std::ssize(passes) - 1));
}

// How many features there are of each kind, and before them.
struct Layout {
  std::array<uint32_t, kFeatureKinds + 1> first{};
};

const Layout& layout() {
  static const Layout made = [] {
    const auto rules = static_cast<uint32_t>(names().rules.size()) + 1;
    const auto passes = static_cast<uint32_t>(names().passes.size());
    const uint32_t counts[] = {
        rules,
        rules * rules,
        passes * uop::kOpCount,
        uop::kDTypeCount * uop::kOpCount,
        static_cast<uint32_t>(codegen::kOptKinds) * (1 + codegen::kOptKinds) +
            static_cast<uint32_t>(std::size(kTraits)),
        static_cast<uint32_t>(std::size(kScheduleCounts)) * kBuckets,
        static_cast<uint32_t>(std::size(kPlanCounts)) * kBuckets,
        kLookups,
    };
    static_assert(std::size(counts) == kFeatureKinds);
    Layout l;
    for (size_t i = 0; i < kFeatureKinds; i++) l.first[i + 1] = l.first[i] + counts[i];
    return l;
  }();
  return made;
}

Feature feature(FeatureKind kind, uint32_t number) {
  return layout().first[static_cast<size_t>(kind)] + number;
}

std::string rule_text(uint32_t number) {
  const std::vector<std::string>& rules = names().rules;
  return number < rules.size() ? rules[number] : "another rule";
}

std::string opt_text(uint32_t n) {
  const auto kind = [](uint32_t k) { return info(static_cast<codegen::OptKind>(k)).text; };
  const uint32_t kinds = codegen::kOptKinds;
  if (n < kinds) return fmt::format("opt {}", kind(n));
  n -= kinds;
  if (n < kinds * kinds) return fmt::format("opts {}, {}", kind(n / kinds), kind(n % kinds));
  return fmt::format("kernel with {}", kTraits[n - kinds * kinds]);
}

std::string number_text(FeatureKind kind, uint32_t n) {
  const uint32_t rules = static_cast<uint32_t>(names().rules.size()) + 1;
  const uint32_t ops = uop::kOpCount;
  switch (kind) {
    case FeatureKind::Rule: return rule_text(n);
    case FeatureKind::RulePair:
      return fmt::format("{}, {}", rule_text(n / rules), rule_text(n % rules));
    case FeatureKind::PassOp:
      return fmt::format("{}: {}", names().passes[n / ops], uop::to_text(static_cast<Op>(n % ops)));
    case FeatureKind::TypeOp:
      return fmt::format("{} {}", uop::to_text(static_cast<uop::DType>(n / ops)),
                         uop::to_text(static_cast<Op>(n % ops)));
    case FeatureKind::Opt: return opt_text(n);
    case FeatureKind::Schedule:
      return fmt::format("{}: {}", kScheduleCounts[n / kBuckets], kCounts[n % kBuckets]);
    case FeatureKind::Plan:
      return fmt::format("{}: {}", kPlanCounts[n / kBuckets], kCounts[n % kBuckets]);
    case FeatureKind::Cache:
      return std::string(schedule::to_text(static_cast<schedule::Lookup>(n)));
  }
  ASSAY_CHECK(false, "no kind of feature");
}

// Sets bit f; whether it was not set.
bool set_bit(std::vector<uint64_t>& bits, Feature f) {
  const size_t word = f / 64;
  if (word >= bits.size()) bits.resize(std::max<size_t>(word + 1, feature_count() / 64 + 1));
  const uint64_t bit = uint64_t{1} << (f % 64);
  if ((bits[word] & bit) != 0) return false;
  bits[word] |= bit;
  return true;
}

uop::OpSet ops_outside_bodies(uop::Graph& g, Ref root) {
  uop::OpSet ops = uop::ops_below(g, root);
  if (!ops.has(Op::Call)) return ops;
  ops = {};
  for (const Ref u : uop::toposort(g, root, uop::Extent::OutsideBodies)) ops.insert(u->op);
  return ops;
}

}  // namespace

Feature feature_count() { return layout().first[kFeatureKinds]; }

FeatureKind kind_of(Feature f) {
  const auto& first = layout().first;
  const auto above = std::ranges::upper_bound(first, f);
  return static_cast<FeatureKind>(above - first.begin() - 1);
}

std::string_view to_text(FeatureKind kind) {
  static constexpr std::string_view kTexts[] = {"rule", "rules",    "pass", "op",
                                                "opts", "schedule", "plan", "cache"};
  return kTexts[static_cast<size_t>(kind)];
}

std::string to_text(Feature f) {
  const FeatureKind kind = kind_of(f);
  const uint32_t number = f - layout().first[static_cast<size_t>(kind)];
  return fmt::format("{} {}", to_text(kind), number_text(kind, number));
}

std::optional<Feature> feature_named(std::string_view text) {
  static const std::unordered_map<std::string, Feature> by_text = [] {
    std::unordered_map<std::string, Feature> all;  // only searched
    for (Feature f = 0; f < feature_count(); f++) all.emplace(to_text(f), f);
    return all;
  }();
  const auto found = by_text.find(std::string(text));
  return found == by_text.end() ? std::nullopt : std::optional(found->second);
}

bool is_listed(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::Rule:
    case FeatureKind::Opt:
    case FeatureKind::Schedule:
    case FeatureKind::Plan:
    case FeatureKind::Cache: return true;
    case FeatureKind::RulePair:
    case FeatureKind::PassOp:
    case FeatureKind::TypeOp: return false;
  }
  ASSAY_CHECK(false, "no kind of feature");
}

std::vector<Feature> all_features(FeatureKind kind) {
  const size_t k = static_cast<size_t>(kind);
  std::vector<Feature> result;
  for (Feature f = layout().first[k]; f < layout().first[k + 1]; f++) result.push_back(f);
  if (kind == FeatureKind::Rule) result.pop_back();  // "another"
  return result;
}

Coverage::Coverage() : last_rule_(static_cast<uint32_t>(names().rules.size())) {}

void Coverage::add(Feature f) {
  if (set_bit(is_seen_, f)) features_.push_back(f);
}

void Coverage::add_count(FeatureKind kind, uint32_t what, int64_t count) {
  add(feature(kind, what * kBuckets + bucket_of(count)));
}

void Coverage::seen(const uop::RuleSeen& seen) {
  const auto none = static_cast<uint32_t>(names().rules.size());
  const uint32_t rule = rule_number(seen.set, seen.rule);
  add(feature(FeatureKind::Rule, rule));
  if (last_rule_ != none) add(feature(FeatureKind::RulePair, last_rule_ * (none + 1) + rule));
  last_rule_ = rule;
}

void Coverage::seen(const uop::PassSeen& seen) {
  last_rule_ = static_cast<uint32_t>(names().rules.size());
  if (seen.before == seen.after) return;
  const uint32_t pass = pass_number(seen.pass.name);
  const uop::OpSet ops = ops_outside_bodies(seen.graph, seen.after);
  for (uint32_t op = 0; op < uop::kOpCount; op++) {
    if (!ops.has(static_cast<Op>(op))) continue;
    add(feature(FeatureKind::PassOp, pass * uop::kOpCount + op));
  }
}

void Coverage::seen(const schedule::CacheSeen& seen) {
  add(feature(FeatureKind::Cache, static_cast<uint32_t>(seen.lookup)));
}

void Coverage::seen(const schedule::ScheduleSeen& seen) {
  if (seen.linear == nullptr) return add_count(FeatureKind::Schedule, 5, 1);
  const Result<std::vector<schedule::Edge>> edges = schedule::edges_of(seen.linear);
  if (!edges.ok()) return;
  int64_t counts[3] = {};
  for (const schedule::Edge& e : edges.value()) {
    if (e.kind != schedule::EdgeKind::Reuse) counts[static_cast<size_t>(e.kind)]++;
  }
  for (uint32_t k = 0; k < 3; k++) add_count(FeatureKind::Schedule, 2 + k, counts[k]);
}

// Which calls are copies shows only now.
void Coverage::seen(const schedule::PlanSeen& seen) {
  const auto calls = seen.linear->src;
  const auto copied = std::ranges::count_if(calls, schedule::is_copy);
  add_count(FeatureKind::Schedule, 0, std::ssize(calls) - copied);
  add_count(FeatureKind::Schedule, 1, copied);
  const schedule::MemoryPlan& plan = seen.plan;
  const auto planned =
      std::ranges::count_if(plan.buffers, [](const auto& b) { return b.arena >= 0; });
  const auto copies = std::ranges::count_if(
      plan.arenas, [](const auto& a) { return a.lane != schedule::Lane::Compute; });
  add_count(FeatureKind::Plan, 0, std::ssize(plan.arenas));
  add_count(FeatureKind::Plan, 1, planned);
  add_count(FeatureKind::Plan, 2, std::ssize(plan.buffers) - planned);
  add_count(FeatureKind::Plan, 3, std::ssize(plan.reuse));
  add_count(FeatureKind::Plan, 4, copies);
}

void Coverage::seen(const codegen::KernelSeen& seen) {
  const uint32_t kinds = codegen::kOptKinds;
  bool has[std::size(kTraits)] = {};
  for (const Ref u : seen.linear->src) {
    if (u->dtype != uop::DType::Void) {
      add(feature(FeatureKind::TypeOp,
                  static_cast<uint32_t>(u->dtype) * uop::kOpCount + static_cast<uint32_t>(u->op)));
    }
    has[0] = has[0] || (u->op == Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Local);
    has[1] = has[1] || u->op == Op::Barrier;
    has[2] = has[2] || u->op == Op::If;
    has[3] = has[3] || u->op == Op::Stack;
  }
  for (uint32_t i = 0; i < std::size(has); i++) {
    if (has[i]) add(feature(FeatureKind::Opt, kinds + kinds * kinds + i));
  }
  const auto opts = codegen::kernel_name(seen.linear).opts;
  if (!opts) return;
  const Result<std::vector<codegen::Opt>> list = codegen::opts_from_text(*opts);
  if (!list.ok()) return;
  for (size_t i = 0; i < list.value().size(); i++) {
    const auto kind = static_cast<uint32_t>(list.value()[i].kind);
    add(feature(FeatureKind::Opt, kind));
    if (i == 0) continue;
    const auto before = static_cast<uint32_t>(list.value()[i - 1].kind);
    add(feature(FeatureKind::Opt, kinds + before * kinds + kind));
  }
}

std::vector<Feature> Coverage::take() {
  std::vector<Feature> result = std::exchange(features_, {});
  for (const Feature f : result) is_seen_[f / 64] &= ~(uint64_t{1} << (f % 64));
  last_rule_ = static_cast<uint32_t>(names().rules.size());
  std::ranges::sort(result);
  return result;
}

size_t Seen::add(std::span<const Feature> features) {
  size_t fresh = 0;
  for (const Feature f : features) fresh += set_bit(bits_, f) ? 1 : 0;
  size_ += fresh;
  return fresh;
}

bool Seen::has(Feature f) const {
  return f / 64 < bits_.size() && (bits_[f / 64] >> (f % 64) & 1) != 0;
}

std::vector<Feature> Seen::missing(FeatureKind kind) const {
  std::vector<Feature> result = all_features(kind);
  std::erase_if(result, [&](Feature f) { return has(f); });
  return result;
}

}  // namespace assay::fuzz
