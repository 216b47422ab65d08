// The command `fuzz` and what follows it, as a user runs them. ASSAY_KILLS says how often a
// campaign is killed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/commands/assay_command.h"
#include "oracles/choices.h"
#include "reports/record.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

std::string fresh_folder(const std::string& name) {
  std::string folder = testing::TempDir() + name;
  fs::remove_all(folder);
  return folder;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<reports::Record> records_in(const std::string& folder) {
  return reports::records_from(text_of_file(folder + "/records.jsonl")).value();
}

// Begin, cases and findings without times: what the digest is made of.
std::string folded(const std::string& folder) {
  std::string text;
  for (const reports::Record& r : records_in(folder)) {
    const bool is_fold = std::holds_alternative<reports::CaseRecord>(r) ||
                         std::holds_alternative<reports::FindingRecord>(r);
    if (is_fold) text += reports::to_line(r, false);
  }
  return text;
}

std::string digest_in(const std::string& output) {
  const size_t at = output.find("digest ");
  return at == std::string::npos ? "" : output.substr(at, output.find('\n', at) - at);
}

constexpr const char* kSaved = "'" ASSAY_CORPUS "/regress'";

TEST(FuzzCommand, FindsTheSameAtAnyNumberOfProcesses) {
  const std::string one = fresh_folder("one_job");
  const std::string three = fresh_folder("three_jobs");
  const std::string how = fmt::format("fuzz --quiet --programs 900 --seed 3 --corpus {}", kSaved);
  const Outcome a = assay(fmt::format("{} --jobs 1 --out '{}'", how, one));
  const Outcome b = assay(fmt::format("{} --jobs 3 --out '{}'", how, three));
  EXPECT_EQ(a.status, b.status) << a.output;
  EXPECT_EQ(digest_in(a.output), digest_in(b.output));
  EXPECT_NE(digest_in(a.output), "");
  EXPECT_EQ(folded(one), folded(three));
  std::map<std::string, int> sources;
  int64_t kept = 0;
  for (const reports::Record& r : records_in(one)) {
    const auto* c = std::get_if<reports::CaseRecord>(&r);
    if (c == nullptr) continue;
    sources[c->source]++;
    kept += c->is_kept ? 1 : 0;
  }
  for (const char* way : {"random", "mutated", "spliced", "terms", "kernel"}) {
    EXPECT_GT(sources[way], 0) << way;
  }
  EXPECT_GT(kept, 0);
}

TEST(FuzzCommand, WritesWhatWasCoveredAndWhatNeverWas) {
  const std::string out = fresh_folder("covered");
  assay(fmt::format("fuzz --quiet --programs 200 --out '{}'", out));
  bool has_rules = false;
  bool has_schedules = false;
  for (const reports::Record& r : records_in(out)) {
    const auto* c = std::get_if<reports::CoverageRecord>(&r);
    if (c == nullptr) continue;
    has_schedules = has_schedules || (c->group == "schedule" && !c->seen.empty());
    if (c->group != "rule") continue;
    has_rules = true;
    EXPECT_GT(c->seen.size(), 100U);
    EXPECT_FALSE(c->never.empty());
    EXPECT_FALSE(c->seen.contains(c->never[0]));
  }
  EXPECT_TRUE(has_rules && has_schedules);
}

// Starts the command, kills it after so long, and returns whether it had come to its end before.
bool run_and_kill(const std::vector<std::string>& words, int milliseconds) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status);
}

TEST(FuzzCommand, LosesNothingWhenItIsKilled) {
  const char* asked = std::getenv("ASSAY_KILLS");
  const int kills = asked == nullptr ? 20 : std::atoi(asked);
  // The fault makes a few cases in a hundred fail.
  const int programs = 40 * kills;
  const std::string how = fmt::format("fuzz --quiet --jobs 2 --programs {} --seed 9 --fault {}",
                                      programs, "reduce.minimum_of_maximum");
  const std::string calm = fresh_folder("calm");
  const Outcome undisturbed = assay(fmt::format("{} --out '{}'", how, calm));
  ASSERT_EQ(undisturbed.status, 1) << undisturbed.output;
  const std::string killed = fresh_folder("killed");
  oracles::Choices choices(11);
  for (int k = 0; k < kills; k++) {
    std::vector<std::string> words = {ASSAY_COMMAND};
    std::istringstream in(how);
    for (std::string word; in >> word;) words.push_back(word);
    for (const char* more : {"--resume", "--out"}) words.emplace_back(more);
    words.push_back(killed);
    run_and_kill(words, static_cast<int>(choices.between(20, 1500)));
  }
  const Outcome last = assay(fmt::format("{} --resume --out '{}'", how, killed));
  EXPECT_EQ(last.status, 1) << last.output;
  EXPECT_EQ(digest_in(last.output), digest_in(undisturbed.output));
  EXPECT_EQ(folded(killed), folded(calm));
  for (const reports::Record& r : records_in(calm)) {
    if (const auto* f = std::get_if<reports::FindingRecord>(&r)) {
      EXPECT_EQ(text_of_file(killed + "/" + f->folder + "/finding.json"),
                text_of_file(calm + "/" + f->folder + "/finding.json"));
    }
    const auto* c = std::get_if<reports::CaseRecord>(&r);
    if (c == nullptr || !c->is_kept) continue;
    const std::string file = fmt::format("/corpus/{:08}.tp", c->number);
    EXPECT_EQ(text_of_file(killed + file), text_of_file(calm + file));
  }
}

TEST(FuzzCommand, ShrinksBlamesAndGroupsWhatItFinds) {
  const std::string out = fresh_folder("found");
  const Outcome fuzzed = assay(
      fmt::format("fuzz --quiet --programs 400 --fault reduce.minimum_of_maximum --out '{}'", out));
  EXPECT_EQ(fuzzed.status, 1) << fuzzed.output;
  std::vector<reports::FindingRecord> findings;
  for (const reports::Record& r : records_in(out)) {
    if (const auto* f = std::get_if<reports::FindingRecord>(&r)) findings.push_back(*f);
  }
  ASSERT_FALSE(findings.empty());
  EXPECT_LE(findings.size(), 3U);  // of one fault
  EXPECT_NE(findings[0].pass, "");
  EXPECT_NE(findings[0].title, "");
  const Outcome again = assay(fmt::format(
      "trial --fault reduce.minimum_of_maximum '{}/{}'/smallest.*", out, findings[0].folder));
  EXPECT_EQ(again.status, 1) << again.output;
  const std::string script = fmt::format("ASSAY='{}' '{}/{}/reproduce.sh' > /dev/null",
                                         ASSAY_COMMAND, out, findings[0].folder);
  EXPECT_EQ(WEXITSTATUS(std::system(script.c_str())), 1) << script;

  const Outcome reported = assay(fmt::format("report '{}'", out));
  EXPECT_EQ(reported.status, 0) << reported.output;

  const Outcome triaged = assay(fmt::format("triage '{0}' '{0}'", out));
  EXPECT_EQ(triaged.status, 1) << triaged.output;
  // Both folders are one: each cause has twice the findings.
  EXPECT_NE(triaged.output.find(
                fmt::format("{} causes in {} findings", findings.size(), 2 * findings.size())),
            std::string::npos)
      << triaged.output;
  EXPECT_NE(triaged.output.find(findings[0].title), std::string::npos) << triaged.output;
}

TEST(TriageCommand, SaysWhatItCannotRead) {
  EXPECT_EQ(assay("triage").status, 2);
  EXPECT_EQ(assay("triage no_such_folder").status, 3);
  const std::string out = fresh_folder("nothing");
  assay(fmt::format("fuzz --quiet --programs 5 --out '{}'", out));
  expect(fmt::format("triage '{}'", out), 0, "0 causes in 0 findings\n");
}

TEST(FuzzCommand, SaysThatTheDiskIsFull) {
  const std::string out = fresh_folder("full");
  const std::string command =
      fmt::format("trap '' XFSZ; ulimit -f 16; '{}' fuzz --quiet --programs 3000 --out '{}' 2>&1",
                  ASSAY_COMMAND, out);
  std::FILE* pipe = popen(fmt::format("bash -c \"{}\"", command).c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 3) << output;
  EXPECT_NE(output.find("records.jsonl"), std::string::npos) << output;
}

TEST(FuzzCommand, RefusesAFaultAndAFolderThatAreNotThere) {
  EXPECT_EQ(assay("fuzz --programs 1 --fault no.fault --out /tmp/assay_no_fault").status, 2);
  EXPECT_EQ(assay("fuzz --programs 1 --out /proc/campaign").status, 3);
}

}  // namespace
}  // namespace assay::fuzz
