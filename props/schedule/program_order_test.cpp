// Schedules of saved programs, whole and with edges left out.
#include <gtest/gtest.h>

#include "props/schedule/planted.h"
#include "props/schedule/program_schedules.h"

namespace assay::props {
namespace {

// Judges each schedule and plan, and then with each edge left out.
class OrderWatch : public uop::Watch {
 public:
  OrderWatch(size_t every, const smt::ProverOptions& how) : every_(every), prover_(how) {}

  void seen(const schedule::ScheduleSeen& seen) override {
    Context context{prover_, uop::generic_target()};
    whole(schedule_order(seen, context));
    if (seen.linear == nullptr) return;
    for (const auto& [edge, faulty] : each_edge_dropped(seen.graph, seen.linear)) {
      if (is_left_out()) {
        faulty_one(edge, schedule_order({seen.graph, seen.kernels, faulty, seen.error}, context));
      }
    }
  }

  void seen(const schedule::PlanSeen& seen) override {
    Context context{prover_, uop::generic_target()};
    whole(linear_order(seen, context));
    whole(plan_order(seen, context));
    whole(plan_layout(seen, context));
    for (const auto& [edge, faulty] : each_edge_dropped(seen.graph, seen.linear)) {
      if (!is_left_out()) continue;
      faulty_one(edge, linear_order({seen.graph, faulty, seen.planned, seen.plan, seen.options,
                                     seen.variables},
                                    context));
    }
    for (const auto& [edge, faulty] : each_edge_dropped(seen.graph, seen.planned)) {
      if (!is_left_out()) continue;
      const schedule::PlanSeen wrong{seen.graph, seen.linear,  faulty,
                                     seen.plan,  seen.options, seen.variables};
      faulty_one(edge, plan_order(wrong, context));
      if (edge.kind == 3) continue;
      EXPECT_EQ(plan_layout(wrong, context).verdict.answer, Answer::Fail);
    }
  }

  size_t judged = 0;
  int64_t obligations = 0;
  int64_t by_solver = 0;
  size_t dropped = 0;
  size_t listed = 0;                     // edges that are said to be needless
  std::vector<std::string> needless;     // edges that no byte needs
  std::vector<std::string> unconfirmed;  // that a byte needs, and no value

 private:
  void whole(const Checked& c) {
    EXPECT_EQ(c.verdict.answer, Answer::Pass) << c.verdict.evidence;
    EXPECT_EQ(c.unknown, 0);
    judged++;
    obligations += c.obligations;
    const auto solved = c.by_method.find("z3");
    by_solver += solved == c.by_method.end() ? 0 : solved->second;
    for (const std::string& l : c.listed) listed += l.starts_with("needless") ? 1 : 0;
  }
  bool is_left_out() { return every_ != 0 && edges_++ % every_ == 0; }
  void faulty_one(const CallEdge& edge, const Checked& c) {
    dropped++;
    if (c.verdict.answer == Answer::Pass) {
      needless.push_back(fmt::format("{} {} {}", edge.from, edge_kind(edge.kind), edge.to));
    }
    if (c.verdict.answer == Answer::Unknown) unconfirmed.push_back(c.verdict.evidence);
  }

  size_t every_;
  size_t edges_ = 0;
  smt::Prover prover_;
};

std::string judge_folder(std::string_view folder, size_t every) {
  OrderWatch watch(every, {});
  schedule::Options options;
  options.watch = &watch;
  for (const std::string& file : corpus_files(folder)) {
    SCOPED_TRACE(file);
    schedule_program(read_program(file), options);
  }
  std::printf("%zu judged, %lld obligations, %zu edges left out\n", watch.judged,
              static_cast<long long>(watch.obligations), watch.dropped);
  if (every == 1) {
    EXPECT_EQ(watch.listed, watch.needless.size());
  }
  return fmt::format("{} needless, {} unconfirmed", watch.needless.size(),
                     watch.unconfirmed.size());
}

// What no value shows: b021_ways writes a value twice, which counts in three LINEARs. The edge of
// b022_storage between kernels that touch other elements counts in two; over an arena it keeps
// bytes apart.
TEST(ProgramOrder, OfRegressEachEdgeIsNeeded) {
  EXPECT_EQ(judge_folder("regress", 1), "2 needless, 3 unconfirmed");
}
TEST(ProgramOrder, OfOpsByASolverToo) {
  smt::ProverOptions how;
  how.asks_z3 = true;
  OrderWatch watch(0, how);
  schedule::Options options;
  options.watch = &watch;
  for (const std::string& file : corpus_files("ops")) {
    schedule_program(read_program(file), options);
  }
  EXPECT_GT(watch.by_solver, 100);
}
TEST(ProgramOrder, OfOps) { EXPECT_EQ(judge_folder("ops", 1), "0 needless, 0 unconfirmed"); }
TEST(ProgramOrder, OfSeeds) {
  EXPECT_EQ(judge_folder("seeds/program", 1), "0 needless, 0 unconfirmed");
}
TEST(ProgramOrder, OfModels) { EXPECT_EQ(judge_folder("models", 67), "0 needless, 0 unconfirmed"); }

}  // namespace
}  // namespace assay::props
