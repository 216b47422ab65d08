// Schedules of saved programs, whole and with edges left out.
#include <gtest/gtest.h>

#include "props/schedule/planted.h"
#include "props/schedule/program_schedules.h"

namespace assay::props {
namespace {

// Judges each schedule and plan, and then with each edge left out.
class OrderWatch : public uop::Watch {
 public:
  explicit OrderWatch(size_t every) : every_(every) {}

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
  size_t dropped = 0;
  std::vector<std::string> needless;     // edges that no byte needs
  std::vector<std::string> unconfirmed;  // that a byte needs, and no value

 private:
  void whole(const Checked& c) {
    EXPECT_EQ(c.verdict.answer, Answer::Pass) << c.verdict.evidence;
    EXPECT_EQ(c.unknown, 0);
    judged++;
    obligations += c.obligations;
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
  OrderWatch watch(every);
  schedule::Options options;
  options.watch = &watch;
  for (const std::string& file : corpus_files(folder)) {
    SCOPED_TRACE(file);
    const size_t was = watch.unconfirmed.size();
    schedule_program(read_program(file), options);
    if (watch.unconfirmed.size() != was) std::printf("%s\n", file.c_str());
  }
  for (const std::string& u : watch.unconfirmed) std::printf("unconfirmed: %s\n", u.c_str());
  for (const std::string& u : watch.needless) std::printf("needless: %s\n", u.c_str());
  std::printf("%zu judged, %lld obligations, %zu edges left out\n", watch.judged,
              static_cast<long long>(watch.obligations), watch.dropped);
  return fmt::format("{} needless, {} unconfirmed", watch.needless.size(),
                     watch.unconfirmed.size());
}

TEST(ProgramOrder, OfRegressEachEdgeIsNeeded) {
  EXPECT_EQ(judge_folder("regress", 1), "0 needless, 0 unconfirmed");
}
TEST(ProgramOrder, OfOps) { EXPECT_EQ(judge_folder("ops", 1), "0 needless, 0 unconfirmed"); }
TEST(ProgramOrder, OfSeeds) {
  EXPECT_EQ(judge_folder("seeds/program", 1), "0 needless, 0 unconfirmed");
}
TEST(ProgramOrder, OfModels) { EXPECT_EQ(judge_folder("models", 17), "0 needless, 0 unconfirmed"); }

}  // namespace
}  // namespace assay::props
