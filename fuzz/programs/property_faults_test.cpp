// Each property has been seen to fail: for every row of the table of properties there is a planted
// fault that it alone of the table finds. Of those that others find too it is said why that cannot
// be otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/kernel_lists.h"
#include "engine/runtime/profiles.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/seen.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/rule.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"
#include "fuzz/programs/saved_programs.h"
#include "fuzz/trial/case.h"
#include "oracles/workgroup/kernel_file.h"
#include "oracles/workgroup/sim.h"
#include "props/compile.h"
#include "props/kernel/list_edits.h"

namespace assay::fuzz {
namespace {

using props::Judgement;
using props::Verifier;

// A barrier that nothing needs is listed by the property that looks for such, and fails nothing.
bool is_found(const Judgement& j) {
  return j.checked.verdict.answer == props::Answer::Fail ||
         (j.property == "kernel_spare_barriers" && !j.checked.listed.empty());
}

// The properties that find something, in the order of the table.
std::string finders(Verifier& verifier) {
  const std::vector<Judgement> judgements = verifier.take();
  std::string names;
  for (const props::Property& p : props::all_properties()) {
    const bool finds = std::ranges::any_of(
        judgements, [&](const Judgement& j) { return j.property == p.name && is_found(j); });
    if (finds) names += std::string(names.empty() ? "" : " ") + std::string(p.name);
  }
  return names;
}

// Shows what a compilation with a fault in it makes to all properties.
class FaultyCompilation : public Verifier {
 public:
  FaultyCompilation(const Fault& fault, props::Context context)
      : Verifier(props::every_property(), context), planted_(fault) {}

  bool edits() const override { return planted_.edits(); }
  Ref edit(std::string_view stage, Graph& g, Ref u) override { return planted_.edit(stage, g, u); }
  using Verifier::seen;
  void seen(const uop::RuleSeen& seen) override {
    planted_.seen(seen);
    Verifier::seen(seen);
  }
  const Planted& planted() const { return planted_; }

 private:
  Planted planted_;
};

// Of a fault of fuzz/fault, on the saved program that shows it.
std::string finders_of_fault(const Fault& fault) {
  const Result<Case> c = case_from_text(saved_text("faults", fault.name));
  EXPECT_TRUE(c.ok()) << fault.name << ": " << to_string(c.error());
  if (!c.ok()) return "no case";
  const uop::Target& target =
      c.value().profile.empty() ? workgroup::sim_target() : *runtime::profile(c.value().profile);
  smt::Prover prover;
  FaultyCompilation verifier(fault, {prover, target});
  props::CompileOptions options;
  options.switches = verifier.planted().switches();
  if (!c.value().opts.empty()) {
    options.lists = runtime::lists_from_text(std::span(&c.value().opts, 1)).value();
  }
  // A kernel that a fault makes malformed is refused by who comes next.
  (void)props::compile(c.value().program, options, verifier);
  EXPECT_GT(verifier.planted().changes(), 0) << fault.name;
  return finders(verifier);
}

// A list of corpus/kernels, as it stands or changed.
std::string finders_of_list(std::string_view name, const std::function<Ref(Graph&, Ref)>& change) {
  workgroup::KernelFile k;
  const std::string file = std::string(name) + ".uop";
  const auto read = workgroup::read_kernel(file_text(corpus_folder("kernels") / file), k);
  EXPECT_TRUE(read.ok()) << name;
  const Ref linear = change == nullptr ? k.linear : change(k.graph, k.linear);
  smt::Prover prover;
  Verifier verifier(props::every_property(), {prover, k.target});
  verifier.seen(codegen::KernelSeen{k.graph, linear, linear});
  return finders(verifier);
}

std::string finders_of_a_barrier_twice() {
  return finders_of_list("tree_safe", [](Graph& g, Ref linear) {
    props::ListEdit edit(g, linear);
    edit.add_barrier(edit.all(Op::Barrier).front());
    return edit.run();
  });
}

// What each work-item stores once is stored in each iteration of a loop.
std::string finders_of_stores_in_a_loop() {
  constexpr std::string_view kScheduledOnce = R"(uop 1 kernel
%n = const index 8
%x = const f32 1.0
%p = param f32 %n {0}
%r = range index %n {0 weak}
%at = index f32 %p %r
%s = store void %at %x
%e = end void %s %r
%k = sink void %e {"stores"}
)";
  constexpr std::string_view kStoredAgain = R"(uop 1 linear
%n = const i32 8
%four = const i32 4
%x = const f32 1.0
%p = param f32 %n {0}
%l = special i32 %n {"lidx0"}
%r = range i32 %four {0 loop}
%at = index f32 %p %l
%s = store void %at %x
%e = end void %s %r
%list = linear void %n %four %x %p %l %r %at %s %e {"stores"}
)";
  Graph g;
  const Ref kernel = uop::from_text(g, kScheduledOnce).value().root;
  const Ref linear = uop::from_text(g, kStoredAgain).value().root;
  smt::Prover prover;
  Verifier verifier(props::every_property(), {prover, workgroup::sim_target()});
  verifier.seen(codegen::KernelSeen{g, kernel, linear});
  return finders(verifier);
}

// A LINEAR whose kernels multiply where they should add takes the place of what is cached.
class SpoilsTheCache : public Verifier {
 public:
  SpoilsTheCache(schedule::Cache& cache, props::Context context)
      : Verifier(props::every_property(), context), cache_(cache) {}

  using Verifier::seen;
  void seen(const schedule::CacheSeen& seen) override {
    Verifier::seen(seen);
    if (seen.linear == nullptr) return;
    uop::Substitution map;
    for (const Ref u : uop::toposort(seen.graph, seen.linear)) {
      if (u->op == Op::Add && u->dtype == DType::F32) {
        map[u] = seen.graph.make(Op::Mul, u->dtype, u->src);
      }
    }
    const schedule::Cache::Key key = {seen.key, uop::digest(seen.target), seen.switches.digest()};
    cache_.keep(seen.graph, uop::renumber(seen.graph, seen.sink), key,
                uop::substitute(seen.graph, seen.linear, map));
  }

 private:
  schedule::Cache& cache_;
};

std::string finders_of_a_stale_cache() {
  const Result<tensor::Program> program = tensor::from_text(R"(tp 1
x: f32[8] = input(start=0, step=1)
y: f32[8] = input(start=3, step=2)
s: f32[8] = add(x, y)
force s
)");
  EXPECT_TRUE(program.ok());
  schedule::Cache cache;
  smt::Prover prover;
  SpoilsTheCache verifier(cache, {prover, workgroup::sim_target()});
  props::CompileOptions options;
  options.cache = &cache;
  for (int turn = 0; turn < 3; turn++) {
    EXPECT_TRUE(props::compile(program.value(), options, verifier).ok());
  }
  return finders(verifier);
}

// A rule is wrong, and what it made is undone before its pass ends: no pass is wrong.
std::string finders_of_a_wrong_firing() {
  Graph g;
  smt::Prover prover;
  Verifier verifier(props::every_property(), {prover, workgroup::sim_target()});
  const uop::Pat x = uop::any("x");
  const uop::Pat y = uop::any("y");
  const uop::RuleSet set("planted", {{"shorter", uop::kIndex, x + y, x}});
  const Ref n = g.variable("n", uop::of_int(DType::Index, 0), uop::of_int(DType::Index, 9));
  const Ref one = g.constant(DType::Index, 1);
  const Ref more = g.alu(Op::Add, {n, one});
  verifier.seen(uop::RuleSeen{g, set, set.rules()[0], more, n, 1});
  return finders(verifier);
}

// The last call of a list is lost, with what it waits for: all that comes after takes the list for
// what is to be done.
Ref without_last_call(Graph& g, Ref linear) {
  const Result<std::vector<schedule::Edge>> edges = schedule::edges_of(linear);
  if (!edges.ok() || linear->src.size() < 2) return linear;
  std::vector<schedule::Edge> kept = edges.value();
  const auto last = static_cast<int32_t>(linear->src.size()) - 1;
  std::erase_if(kept, [&](const schedule::Edge& e) { return e.to == last; });
  const std::vector<Ref> calls(linear->src.begin(), linear->src.end() - 1);
  return schedule::make_linear(g, calls, std::move(kept));
}

std::string finders_in(const std::string& witness, Verifier& verifier) {
  const Result<Case> c = case_from_text(saved_text("faults", witness));
  EXPECT_TRUE(c.ok());
  (void)props::compile(c.value().program, {}, verifier);
  return finders(verifier);
}

std::string finders_of_a_lost_call() {
  const Fault fault = {"a lost call", FaultClass::Order, "The last call is lost.", "schedule",
                       Whole{without_last_call}};
  smt::Prover prover;
  FaultyCompilation verifier(fault, {prover, workgroup::sim_target()});
  return finders_in("order.war_edge_dropped", verifier);
}

// A list loses its edges once its memory is planned: the plan still has them.
class LosesEdges : public Verifier {
 public:
  using Verifier::seen;
  using Verifier::Verifier;
  void seen(const schedule::PlanSeen& seen) override {
    const Ref bare = schedule::make_linear(seen.graph, seen.linear->src, {});
    Verifier::seen(schedule::PlanSeen{seen.graph, bare, seen.planned, seen.plan, seen.options,
                                      seen.variables});
  }
};

std::string finders_of_edges_lost_after_planning() {
  smt::Prover prover;
  LosesEdges verifier(props::every_property(), {prover, workgroup::sim_target()});
  return finders_in("order.war_edge_dropped", verifier);
}

// Faults that are none of fuzz/fault.
struct OwnFault {
  std::string_view name;
  std::string (*finders)();
};
constexpr OwnFault kOwn[] = {
    {"a wrong firing that is undone", finders_of_a_wrong_firing},
    {"a lost call", finders_of_a_lost_call},
    {"edges lost after planning", finders_of_edges_lost_after_planning},
    {"a stale cache", finders_of_a_stale_cache},
    {"a barrier twice", finders_of_a_barrier_twice},
    {"stores in a loop", finders_of_stores_in_a_loop},
};

// Of fuzz/fault by its name, of those above, or a list of corpus/kernels.
std::string finders_of(std::string_view fault) {
  const auto own = std::ranges::find(kOwn, fault, &OwnFault::name);
  if (own != std::end(kOwn)) return own->finders();
  const auto all = stage_faults();
  const auto at = std::ranges::find(all, fault, &Fault::name);
  return at != all.end() ? finders_of_fault(*at) : finders_of_list(fault, nullptr);
}

struct PlantedFor {
  std::string_view property;
  std::string_view fault;
  std::string_view finders;   // all that find it, in the order of the table
  std::string_view why = {};  // where it is more than one
};

constexpr std::string_view kEdges =
    "a schedule's edges are those of the list over the session's storage and of its plan";
constexpr std::string_view kValues =
    "what is wrong with a kernel's accesses changes what it computes";
constexpr std::string_view kPlaces = "bytes that two have at once are open in some order as well";

constexpr PlantedFor kPlantedFor[] = {
    {"rule_firing", "a wrong firing that is undone", "rule_firing"},
    {"pass_meaning", "ranges.flip_lost", "pass_meaning"},
    {"pass_meaning", "order.version_before", "pass_meaning"},
    {"pass_meaning", "dtype.unsigned_compared_signed", "pass_meaning"},
    {"pass_meaning", "vector.lanes_reversed", "pass_meaning"},
    {"schedule_order", "a lost call", "schedule_order"},
    {"schedule_order", "order.war_edge_dropped", "schedule_order linear_order plan_order", kEdges},
    {"schedule_order", "order.raw_edge_dropped", "schedule_order linear_order plan_order", kEdges},
    {"linear_order", "edges lost after planning", "linear_order"},
    {"plan_order", "memory.last_reuse_edge_dropped", "plan_order"},
    {"plan_order", "memory.one_over_another", "plan_order plan_layout", kPlaces},
    {"plan_layout", "memory.arena_too_small", "plan_layout"},
    {"plan_layout", "memory.temporary_in_held", "plan_layout"},
    {"schedule_cache", "a stale cache", "schedule_cache"},
    {"kernel_races", "local.first_barrier_dropped", "kernel_races"},
    {"kernel_races", "local.last_store_unguarded", "pass_meaning kernel_races", kValues},
    {"kernel_races", "group_reduce_no_barrier", "kernel_races"},
    {"kernel_barriers", "tree_barrier_in_if", "kernel_barriers"},
    {"kernel_bounds", "ranges.picked_without_gate", "kernel_bounds"},
    {"kernel_bounds", "index.bound_inclusive", "pass_meaning kernel_bounds", kValues},
    {"kernel_bounds", "index_wraps_past_32_bits", "kernel_bounds"},
    {"kernel_stores", "stores in a loop", "kernel_stores"},
    {"kernel_alignment", "vectors_misaligned_load", "kernel_alignment"},
    {"kernel_reads", "local_gap", "kernel_reads"},
    {"kernel_reads", "reduce.not_begun", "pass_meaning kernel_reads", kValues},
    {"kernel_spare_barriers", "a barrier twice", "kernel_spare_barriers"},
};

class PropertyFaults : public testing::TestWithParam<PlantedFor> {};

TEST_P(PropertyFaults, AreFoundByThese) {
  const PlantedFor& planted = GetParam();
  EXPECT_EQ(finders_of(planted.fault), planted.finders);
  const bool is_alone = planted.finders == planted.property;
  EXPECT_EQ(is_alone, planted.why.empty()) << "who else finds it, and why";
  EXPECT_NE(planted.finders.find(planted.property), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(Table, PropertyFaults, testing::ValuesIn(kPlantedFor),
                         [](const auto& test) {
                           std::string name(test.param.fault);
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

TEST(Properties, EachFindsAFaultAlone) {
  for (const props::Property& p : props::all_properties()) {
    const bool is_alone = std::ranges::any_of(kPlantedFor, [&](const PlantedFor& planted) {
      return planted.property == p.name && planted.finders == p.name;
    });
    EXPECT_TRUE(is_alone) << p.name << " has no row of its own";
  }
}

}  // namespace
}  // namespace assay::fuzz
