// Campaigns over processes that pretend: what becomes of chance, crashes and hangs, and of a
// campaign that is stopped.
#include "fuzz/campaign/campaign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/campaign/stream.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPass =
    R"({"findings":[],"unknown":{},"malformed":"","kernels":2,"sharing":1,"obligations":3,)"
    R"("elements":4,"unspecified":0,"ambiguous":0})";
constexpr const char* kWrong =
    R"({"findings":[{"judge":"reference","stage":"device","shape":"value","evidence":"1 is 2",)"
    R"("files":[]}],"unknown":{},"malformed":"","kernels":2,"sharing":1,"obligations":3,)"
    R"("elements":4,"unspecified":0,"ambiguous":0})";

// A script that serves trials: `body` says what it does with each `line`, of which it counts `n`.
std::string pretender(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + name + ".sh";
  std::ofstream(path) << "pass='" << kPass << "'\nwrong='" << kWrong
                      << "'\nn=0\nwhile read -r line; do\nn=$((n + 1))\n"
                      << body << "\ndone\n";
  return path;
}

CampaignOptions options_of(const std::string& name, const std::string& body) {
  CampaignOptions how;
  how.out = testing::TempDir() + name;
  fs::remove_all(how.out);
  how.child = {"bash", pretender(name, body)};
  how.programs = 20;
  how.jobs = 2;
  return how;
}

struct Ran {
  reports::End end;
  Progress progress;
  std::vector<reports::Record> records;

  template <typename T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const reports::Record& r : records) {
      if (const auto* one = std::get_if<T>(&r)) result.push_back(*one);
    }
    return result;
  }
};

std::vector<reports::Record> records_of(const std::string& folder) {
  std::ifstream in(folder + "/records.jsonl");
  std::ostringstream text;
  text << in.rdbuf();
  return reports::records_from(text.str()).value();
}

Ran run(const CampaignOptions& how) {
  Campaign campaign(how);
  const std::atomic<bool> stop = false;
  const Result<reports::End> end = campaign.run(stop, [](const Progress&) {});
  EXPECT_TRUE(end.ok()) << to_string(end.error());
  return {end.ok() ? end.value() : reports::End{}, campaign.progress(), records_of(how.out)};
}

TEST(Campaign, CountsWhatPasses) {
  const Ran ran = run(options_of("passes", "echo \"$pass\""));
  EXPECT_EQ(ran.end.cases, 20);
  EXPECT_EQ(ran.progress.kernels, 40);
  EXPECT_EQ(ran.progress.causes, 0);
  EXPECT_EQ(ran.all<reports::CaseRecord>().size(), 20U);
}

TEST(Campaign, TellsAFlakyDeviceFromAWrongOne) {
  // Every second answer of the device is wrong; the simulated one, which a case does not name, is
  // right.
  CampaignOptions how = options_of("flaky",
                                   "case \"$line\" in\n"
                                   "*'# device fake:0'*) w=$((w + 1))\n"
                                   "  if [ $((w % 2)) = 1 ]; then echo \"$wrong\"; else echo "
                                   "\"$pass\"; fi ;;\n*) echo \"$pass\" ;;\nesac");
  how.source.devices = {"fake:0"};
  how.jobs = 1;
  const Ran ran = run(how);
  EXPECT_EQ(ran.progress.causes, 0);
  EXPECT_EQ(ran.progress.failed, 0);
  EXPECT_GT(ran.progress.flaky, 0);
  const auto findings = ran.all<reports::FindingRecord>();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(findings[0].rate, 0);
  EXPECT_LT(findings[0].rate, 1);
  EXPECT_EQ(findings[0].on_sim, "pass");
}

TEST(Campaign, AWrongDeviceIsOneCauseAndEachCaseSaysSo) {
  CampaignOptions how = options_of("wrong",
                                   "case \"$line\" in\n*'# device fake:0'*) echo \"$wrong\" ;;\n"
                                   "*) echo \"$pass\" ;;\nesac");
  how.source.devices = {"fake:0"};
  const Ran ran = run(how);
  EXPECT_EQ(ran.progress.causes, 1);
  EXPECT_EQ(ran.progress.failed, 20);
  const auto findings = ran.all<reports::FindingRecord>();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rate, 1);
  EXPECT_EQ(findings[0].on_sim, "pass");
  for (const reports::CaseRecord& c : ran.all<reports::CaseRecord>()) {
    EXPECT_EQ(c.answer, "fail");
    EXPECT_EQ(c.finding, findings[0].folder);
  }
  const fs::path folder = fs::path(how.out) / findings[0].folder;
  const std::string ending = fs::exists(folder / "original.tp") ? ".tp" : ".uop";
  for (const std::string& name :
       {"original" + ending, "smallest" + ending, std::string("finding.json"),
        std::string("blame.json"), std::string("environment.json"), std::string("reproduce.sh")}) {
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  }
}

TEST(Campaign, ACrashCostsOneCase) {
  const Ran ran = run(options_of("crash", "if [ $n = 3 ]; then exit 7; fi\necho \"$pass\""));
  EXPECT_EQ(ran.end.cases, 20);
  // Each process ends with its third case, so it never does so again on the same one.
  EXPECT_GT(ran.progress.flaky, 0);
  EXPECT_EQ(ran.progress.causes, 0);
}

// The first process ends over the kernels of the first eight, and others over none.
TEST(Campaign, NoCaseIsToBlameForKernelsThatAreCompiledTogether) {
  const fs::path mark = fs::path(testing::TempDir()) / fmt::format("lost_{}", getpid());
  CampaignOptions how =
      options_of("together",
                 fmt::format("case \"$line\" in\n*'\"foresee\"'*) if [ ! -e {0} ]; then touch {0}; "
                             "exit 7; fi; echo '{{}}' ;;\n*) echo \"$pass\" ;;\nesac",
                             mark.string()));
  how.source.devices = {"fake:0"};
  how.jobs = 1;
  const Ran ran = run(how);
  EXPECT_TRUE(fs::exists(mark));
  EXPECT_EQ(ran.end.cases, 20);
  EXPECT_EQ(ran.progress.failed, 0);
  EXPECT_EQ(ran.progress.flaky, 0);
  EXPECT_GT(ran.progress.spent.at("build"), 0);
  fs::remove(mark);
}

// Whether the process of that number runs: what has ended and is not waited for has no words.
bool runs(const std::string& number) {
  std::string words;
  std::getline(std::ifstream("/proc/" + number + "/cmdline"), words);
  return !words.empty();
}

TEST(Campaign, AHangCostsOneCase) {
  const fs::path hung = fs::path(testing::TempDir()) / fmt::format("hung_{}", getpid());
  CampaignOptions how = options_of(
      "hang", fmt::format("if [ $n = 3 ]; then sleep 60 & echo $! > {}; wait; fi\necho \"$pass\"",
                          hung.string()));
  how.limit_ms = 300;
  how.programs = 5;
  how.jobs = 1;
  const Ran ran = run(how);
  EXPECT_EQ(ran.end.cases, 5);
  EXPECT_EQ(ran.progress.failed, 1);
  const auto findings = ran.all<reports::FindingRecord>();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].shape, "hang");
  std::string sleeper;
  std::getline(std::ifstream(hung), sleeper);
  ASSERT_FALSE(sleeper.empty());
  for (int i = 0; i < 500 && runs(sleeper); i++) usleep(10'000);
  EXPECT_FALSE(runs(sleeper)) << "what a child started outlives it";
}

TEST(Campaign, StopsWhereItIsToldTo) {
  const CampaignOptions how = options_of("stops", "echo \"$pass\"");
  {
    Campaign campaign(how);
    std::atomic<bool> stop = false;
    const auto end = campaign.run(stop, [&](const Progress& p) { stop = p.cases == 7; });
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end.value().is_interrupted);
    EXPECT_EQ(end.value().cases, 7);
  }
  CampaignOptions more = how;
  more.resume = true;
  EXPECT_EQ(run(more).end.digest, run(options_of("unstopped", "echo \"$pass\"")).end.digest);
}

// The first case waits until those of the other process are done, and the campaign is stopped with
// it: none of them is tried again.
TEST(Campaign, KeepsWhatIsDoneAheadOfASlowCase) {
  const std::string asked = fmt::format("{}asked_{}", testing::TempDir(), getpid());
  const auto count = [&] {
    std::ifstream in(asked);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  };
  const std::string slow = R"(# seed 4242\ntp 1\nx: i32[2] = iota()\n)";  // as JSON writes it
  CampaignOptions how = options_of(
      "ahead",
      fmt::format("case \"$line\" in\n'{{\"case\":\"{1}\"}}') until [ $(wc -l < {0}) -ge 8 ]; "
                  "do sleep 0.01; done ;;\nesac\necho >> {0}; echo \"$pass\"",
                  asked, slow));
  how.saved = {{"slow", case_from_text("# seed 4242\ntp 1\nx: i32[2] = iota()\n").value()}};
  std::ofstream(asked).close();
  {
    Campaign campaign(how);
    std::atomic<bool> stop = false;
    const auto end = campaign.run(stop, [&](const Progress&) { stop = true; });
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end.value().cases, 1);
  }
  const auto before = count();
  EXPECT_GE(before, 9);
  std::ofstream(how.out + "/ahead", std::ios::app) << "{\"number\": 1";  // cut off
  how.resume = true;
  EXPECT_EQ(run(how).end.cases, 20);
  EXPECT_EQ(count(), 20);
  EXPECT_FALSE(fs::exists(how.out + "/ahead"));
  fs::remove(asked);
}

TEST(Campaign, SaysWhyTheFolderCannotBeWritten) {
  CampaignOptions how = options_of("nowhere", "echo \"$pass\"");
  how.out = "/proc/campaign";
  Campaign campaign(how);
  const std::atomic<bool> stop = false;
  const auto end = campaign.run(stop, [](const Progress&) {});
  ASSERT_FALSE(end.ok());
  EXPECT_NE(end.error().message.find("/proc/campaign"), std::string::npos);
}

TEST(Campaign, AFolderServesOneCampaign) {
  const CampaignOptions how = options_of("twice", "echo \"$pass\"");
  run(how);
  Campaign again(how);
  const std::atomic<bool> stop = false;
  EXPECT_FALSE(again.run(stop, [](const Progress&) {}).ok());
}

TEST(Stream, HandsOutInOrderAndWaitsForWhatIsNeeded) {
  constexpr int64_t kRound = 8;
  std::atomic<int64_t> taken = 0;
  std::vector<int64_t> order;
  const auto needs = [](int64_t i) { return (i / kRound - 1) * kRound; };
  const auto work = [&](int64_t i) {
    EXPECT_GE(taken, needs(i));
    return i * i;
  };
  const auto until = [](int64_t i) { return (i / 4 + 1) * 4; };
  stream<int64_t>(
      0, 100, 4, needs, until, [&] { return work; },
      [&](int64_t i, int64_t square) {
        EXPECT_EQ(square, i * i);
        order.push_back(i);
        taken++;
        return i != 60;
      });
  ASSERT_EQ(order.size(), 61U);
  for (size_t i = 0; i < order.size(); i++) EXPECT_EQ(order[i], static_cast<int64_t>(i));
}

}  // namespace
}  // namespace assay::fuzz
