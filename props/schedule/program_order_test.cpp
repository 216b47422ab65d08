// Schedules of saved programs, whole and with edges left out.
#include <gtest/gtest.h>

#include "props/schedule/planted.h"
#include "props/schedule/program_schedules.h"

namespace assay::props {
namespace {

// Judges each schedule, and then each edge left out.
class OrderWatch : public uop::Watch {
 public:
  explicit OrderWatch(size_t every) : every_(every) {}

  void seen(const schedule::ScheduleSeen& seen) override {
    Context context{prover_, uop::generic_target()};
    const Checked whole = schedule_order(seen, context);
    EXPECT_EQ(whole.verdict.answer, Answer::Pass) << whole.verdict.evidence;
    EXPECT_EQ(whole.unknown, 0);
    schedules++;
    obligations += whole.obligations;
    if (seen.linear == nullptr || every_ == 0) return;
    for (const auto& [edge, faulty] : each_edge_dropped(seen.graph, seen.linear)) {
      if (edges++ % every_ != 0) continue;
      const Checked c = schedule_order({seen.graph, seen.kernels, faulty, seen.error}, context);
      dropped++;
      EXPECT_NE(c.verdict.answer, Answer::Pass) << edge.from << " " << edge.to;
      if (c.verdict.answer == Answer::Unknown) unconfirmed.push_back(c.verdict.evidence);
    }
  }

  size_t schedules = 0;
  int64_t obligations = 0;
  size_t edges = 0;
  size_t dropped = 0;
  std::vector<std::string> unconfirmed;

 private:
  size_t every_;
  smt::Prover prover_;
};

size_t judge_folder(std::string_view folder, size_t every) {
  OrderWatch watch(every);
  schedule::Options options;
  options.watch = &watch;
  for (const std::string& file : corpus_files(folder)) {
    SCOPED_TRACE(file);
    schedule_program(read_program(file), options);
  }
  for (const std::string& u : watch.unconfirmed) std::printf("%s\n", u.c_str());
  std::printf("%zu schedules, %lld obligations, %zu edges, %zu dropped, %zu unconfirmed\n",
              watch.schedules, static_cast<long long>(watch.obligations), watch.edges,
              watch.dropped, watch.unconfirmed.size());
  return watch.unconfirmed.size();
}

TEST(ProgramOrder, OfRegressEachEdgeIsNeeded) { EXPECT_EQ(judge_folder("regress", 1), 0U); }
TEST(ProgramOrder, OfOps) { EXPECT_EQ(judge_folder("ops", 1), 0U); }
TEST(ProgramOrder, OfSeeds) { EXPECT_EQ(judge_folder("seeds/program", 1), 0U); }
TEST(ProgramOrder, OfModels) { EXPECT_EQ(judge_folder("models", 0), 0U); }

}  // namespace
}  // namespace assay::props
