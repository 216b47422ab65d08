#include <gtest/gtest.h>

#include "reports/html.h"
#include "reports/libfuzzer.h"
#include "reports/markup.h"
#include "reports/record.h"
#include "reports/summary.h"

namespace assay::reports {
namespace {

std::vector<Record> some_records() {
  Begin begin;
  begin.commit = "abc";
  begin.devices = {"sim:0"};
  begin.drivers = {"sim:0: <all>"};
  begin.seed = 7;
  begin.time = "now";
  CaseRecord good;
  good.source = "a.tp";
  good.device = "sim:0";
  good.answer = "pass";
  good.kernels = 4;
  good.sharing = 1;
  good.elements = 100;
  good.ms = 3;
  CaseRecord bad = good;
  bad.number = 1;
  bad.source = "random";
  bad.answer = "fail";
  FindingRecord finding;
  finding.number = 1;
  finding.judge = "races";
  finding.shape = "race LOCAL";
  finding.title = "a < b & c";
  finding.program = "tp 1\n";
  ScoreRecord found = {"order.war", "order", "races", 0.5, true, {"races", "values"}, "", ""};
  ScoreRecord missed = {"order.raw", "order", "", 20, false, {}, "", "no case <touches> it"};
  End end;
  end.cases = 2;
  return {begin, good, finding, bad, found, missed, end};
}

std::string text_of(const std::vector<Record>& records, bool with_facts = true) {
  std::string text;
  for (const Record& r : records) text += to_line(r, with_facts);
  return text;
}

TEST(Records, ReadBack) {
  const std::string text = text_of(some_records());
  const Result<std::vector<Record>> read = records_from(text);
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  EXPECT_EQ(text_of(read.value()), text);
}

TEST(Records, WhatWasCutOffIsNoRecord) {
  std::string text = text_of(some_records());
  text.resize(text.size() - 3);
  const Result<std::vector<Record>> read = records_from(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().size(), some_records().size() - 1);
}

TEST(Records, KindsAndFieldsOfLaterTimesAreLeftOut) {
  const auto read =
      records_from("{\"kind\":\"song\"}\n{\"kind\":\"case\",\"case\":3,\"mood\":1}\n");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().size(), 1U);
  EXPECT_EQ(std::get<CaseRecord>(read.value()[0]).number, 3);
}

TEST(Records, AnErrorNamesItsLine) {
  const auto read = records_from("{\"kind\":\"end\"}\n{\n");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().line, 2);
}

TEST(Records, FactsOfTimeAndMachineStandApart) {
  std::vector<Record> other = some_records();
  std::get<CaseRecord>(other[1]).ms = 99;
  std::get<Begin>(other[0]).time = "later";
  EXPECT_NE(text_of(other), text_of(some_records()));
  EXPECT_EQ(text_of(other, false), text_of(some_records(), false));
}

TEST(Summary, AddsUp) {
  const Summary s = summarize(some_records());
  EXPECT_EQ(s.cases, 2);
  EXPECT_EQ(s.replayed, 1);
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.kernels, 8);
  EXPECT_EQ(s.faults_found, 1);
  EXPECT_EQ(s.matrix.at("order").at("not found"), 1);
  EXPECT_EQ(s.matrix.at("order").at("values"), 1) << "each judge who finds it counts";
  EXPECT_EQ(s.by_device.at("sim:0").cases, 2);
  EXPECT_EQ(s.by_source.at("saved").cases, 1);
  EXPECT_DOUBLE_EQ(s.by_source.at("random").seconds, 0.003);
  const std::vector<std::string> red = {"1 cause of failures", "1 of 2 seeded faults found"};
  EXPECT_EQ(s.red, red);
}

TEST(Summary, ACleanCampaignIsGreen) {
  const std::vector<Record> records = some_records();
  const Summary s = summarize(std::vector<Record>{records[0], records[1]});
  EXPECT_TRUE(s.red.empty());
  EXPECT_FALSE(s.end);
}

// What a night of which all is well has besides.
std::vector<Record> a_night() {
  std::vector<Record> night = {some_records()[0], some_records()[1]};
  for (const char* name : {"schedule_order", "plan_order", "kernel_races", "kernel_bounds"}) {
    ProofRecord proof;
    proof.kind = "property";
    proof.name = name;
    proof.answer = "pass";
    proof.methods = {{"reachability", 9}, {"z3", 4}};
    night.emplace_back(proof);
  }
  night.emplace_back(StepRecord{"verify", 0, 1.5});
  night.emplace_back(End{});
  return night;
}

TEST(Summary, ANightIsGreenWhereZ3DecidedSomeOfEachGroup) {
  const Summary s = summarize(a_night());
  EXPECT_TRUE(s.red.empty());
  for (const Z3Group& group : s.z3) EXPECT_EQ(group.decided, 4) << group.name;
}

TEST(Summary, ANightIsRedWhereZ3DecidedNothingOfAGroup) {
  const std::string_view groups[] = {"order", "plan", "barriers and races", "bounds"};
  for (size_t i = 0; i < std::size(groups); i++) {
    std::vector<Record> night = a_night();
    std::get<ProofRecord>(night[2 + i]).methods.erase("z3");
    const std::vector<std::string> red = {"Z3 decided nothing of " + std::string(groups[i])};
    EXPECT_EQ(summarize(night).red, red);
    night.erase(night.begin() + 2 + static_cast<ptrdiff_t>(i));
    EXPECT_EQ(summarize(night).red, red) << "not even judged";
  }
}

TEST(Summary, RecordsOfNoNightNeedNotBePutToZ3) {
  std::vector<Record> records = a_night();
  std::erase_if(records, [](const Record& r) { return std::holds_alternative<StepRecord>(r); });
  std::get<ProofRecord>(records[2]).methods.clear();
  EXPECT_TRUE(summarize(records).red.empty());
}

TEST(Summary, ANightIsRedWhereAStepOrATargetFails) {
  std::vector<Record> night = a_night();
  night.emplace_back(StepRecord{"prove", 4, 1});
  TargetRecord target;
  target.name = "rewrite";
  target.crashes = 2;
  night.emplace_back(target);
  const std::vector<std::string> red = {"target rewrite: 2 failures", "step prove exits with 4"};
  EXPECT_EQ(summarize(night).red, red);
}

constexpr std::string_view kForkLog =
    "Dictionary: 109 entries\n"
    "INFO: Loaded 1 modules   (23913 inline 8-bit counters): 23913 [0x55, 0x56), \n"
    "INFO: -fork=1: 14 seed inputs, starting to fuzz in /tmp/libFuzzerTemp.FuzzWithFork1.dir\n"
    "#5195: cov: 781 ft: 1512 corp: 14 exec/s: 2597 oom/timeout/crash: 0/0/0 time: 3s job: 1\n"
    "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n"
    "SUMMARY: AddressSanitizer: heap-use-after-free engine/uop/uop.cpp:12 in make\n"
    "#234509: cov: 863 ft: 2602 corp: 180 exec/s: 11092 oom/timeout/crash: 1/0/2 time: 34s job: 6\n"
    "INFO: exiting: 0 time: 35s\n"
    "MERGE-OUTER: 188 files, 3 in the initial corpus, 0 processed earlier\n"
    "#188\tDONE  cov: 842 ft: 2654 exec/s: 0 rss: 50Mb\n"
    "MERGE-OUTER: 164 new files with 2654 new features added; 842 new coverage edges\n";

TEST(LibFuzzer, IsReadOfAForkAndTheMergeAfterIt) {
  const TargetRecord r = target_from_log("prefix", kForkLog);
  EXPECT_EQ(r.name, "prefix");
  EXPECT_EQ(r.executions, 234509);
  EXPECT_EQ(r.edges, 863);
  EXPECT_EQ(r.all_edges, 23913);
  EXPECT_EQ(r.features, 2602);
  EXPECT_EQ(r.inputs, 180);
  EXPECT_EQ(r.kept, 164);
  EXPECT_EQ(r.crashes, 3);
  EXPECT_EQ(r.trouble, "AddressSanitizer: heap-use-after-free engine/uop/uop.cpp:12 in make");
  EXPECT_EQ(r.seconds, 35);
}

TEST(LibFuzzer, IsReadOfARunWithoutFork) {
  const TargetRecord r = target_from_log(
      "text",
      "#2\tINITED cov: 123 ft: 234 corp: 1/1b exec/s: 0 rss: 40Mb\n"
      "#5000\tDONE   cov: 200 ft: 300 corp: 44/1234b lim: 4096 exec/s: 500 rss: 80Mb\n"
      "Done 5000 runs in 10 second(s)\n");
  EXPECT_EQ(r.executions, 5000);
  EXPECT_EQ(r.edges, 200);
  EXPECT_EQ(r.inputs, 44);
  EXPECT_EQ(r.seconds, 10);
  EXPECT_EQ(r.crashes, 0);
  const TargetRecord crashed = target_from_log(
      "text", "#7 NEW cov: 1\nartifact_prefix='x/'; Test unit written to x/crash-12\n");
  EXPECT_EQ(crashed.crashes, 1);
}

TEST(LibFuzzer, OfAnyPieceOfALogIsARecord) {
  for (size_t n = 0; n < kForkLog.size(); n++) {
    const TargetRecord r = target_from_log("prefix", kForkLog.substr(0, n));
    EXPECT_LE(r.crashes, 3);
    EXPECT_LE(r.executions, 234509);
  }
}

TEST(Html, ShowsWhatLettersWouldHide) {
  EXPECT_EQ(escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
  EXPECT_EQ(escaped("a\nb\tc"), "a\nb\tc");
  EXPECT_EQ(escaped("\x07"), "<span class=\"code\">\\x07</span>");
  EXPECT_EQ(escaped("\u202e"), "<span class=\"code\">\\xe2\\x80\\xae</span>");
  EXPECT_EQ(escaped("ä…"), "ä…");
}

TEST(Html, CutsNoLetterInTwo) {
  EXPECT_EQ(beginning("aä", 2), "a");
  EXPECT_EQ(beginning("aä", 3), "aä");
  EXPECT_EQ(beginning("\x80\x80", 1), "");
  EXPECT_NE(clipped(std::string(500, 'x')).find("100 more letters"), std::string::npos);
}

// How often a text stands in another.
size_t count(std::string_view text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) n++;
  return n;
}

// Of any records: each tag that is opened is closed, and nothing of theirs is one.
void expect_whole(std::string_view page) {
  for (const char* tag :
       {"div", "table", "tr", "td", "th", "p", "pre",  "details", "summary", "span",
        "ul",  "li",    "h2", "h3", "b",  "a", "main", "nav",     "body",    "html"}) {
    const std::string name = tag;
    EXPECT_EQ(count(page, "<" + name + ">") + count(page, "<" + name + " "),
              count(page, "</" + name + ">"))
        << name;
  }
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "it asks for something from elsewhere";
  EXPECT_EQ(page.find("src="), std::string::npos);
}

TEST(Html, IsWholeWithoutFindingsAndWithFifty) {
  expect_whole(to_html(summarize({})));
  expect_whole(to_html(summarize(a_night())));
  std::vector<Record> many = a_night();
  for (int i = 0; i < 50; i++) {
    FindingRecord f;
    f.number = i;
    f.title = std::string(static_cast<size_t>(i * 40), 't');
    f.judge = "</td><script>";
    f.rule = "<b>";
    f.evidence = std::string(5000, '<');
    f.program = "tp 1\n</pre></div><script>alert(1)</script>\n";
    f.rate = i % 3 == 0 ? 0.4 : 1;
    many.emplace_back(f);
  }
  const std::string page = to_html(summarize(many));
  expect_whole(page);
  EXPECT_EQ(count(page, "class=\"finding"), 50U);
}

TEST(Html, NamesWhatWasNeverSeenAndWhatSurvived) {
  std::vector<Record> records = some_records();
  CoverageRecord coverage;
  coverage.group = "rule";
  coverage.seen = {{"div_mod.mod_below", 3}};
  coverage.never = {"movement.flip_of_flip"};
  records.emplace_back(coverage);
  coverage.group = "rule pair";
  coverage.seen = {{"pairs", 4321}};
  coverage.never = {};
  records.emplace_back(coverage);
  FindingRecord finding;
  finding.judge = "values";
  finding.blamed = "plan";
  finding.command = "assay trial <original>.tp";
  finding.on_sim = "pass";
  finding.statements = 211;
  records.emplace_back(finding);
  std::get<End>(records[6]).spent = {{"generate", 1'500'000}, {"judge", 3'000'000}};
  records.emplace_back(target_from_log("prefix", kForkLog));
  const std::string page = to_html(summarize(records));
  expect_whole(page);
  for (const char* name :
       {"movement.flip_of_flip", "order.raw", "heap-use-after-free", "4\u202f321",
        "stage <b>plan</b>", "assay trial &lt;original&gt;.tp", "211 statements", "67 %"}) {
    EXPECT_NE(page.find(name), std::string::npos) << name;
  }
}

// What is known of a survivor is what is to be done, so all of it is there to read.
TEST(Html, ShowsWhoFoundEachFaultAndAllThatIsKnownOfSurvivors) {
  ScoreRecord missed = {"dtype.lost", "dtype", "", 20, false, {}, "", ""};
  for (int i = 0; i < 90; i++) missed.why += "reason " + std::to_string(i) + "; ";
  const ScoreRecord found = {"order.war",         "order", "races", 0.5, true,
                             {"races", "values"}, "order", ""};
  const std::string page = to_html(summarize(std::vector<Record>{found, missed}));
  expect_whole(page);
  EXPECT_NE(page.find(missed.why), std::string::npos);
  EXPECT_NE(page.find("races, values"), std::string::npos);
  EXPECT_NE(page.find("1 of 1"), std::string::npos) << "of its class";
  EXPECT_NE(page.find("0 of 1"), std::string::npos);
}

TEST(Html, SaysThatACampaignWasKilled) {
  std::string text = text_of(some_records());
  text.resize(text.size() - 3);
  const std::string page = to_html(summarize(records_from(text).value()));
  expect_whole(page);
  EXPECT_NE(page.find("did not come to its end"), std::string::npos);
}

TEST(Html, IsOnePageThatQuotesNothingAsMarkup) {
  const std::string page = to_html(summarize(some_records()));
  EXPECT_NE(page.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(page.find("&lt;all&gt;"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "it asks for something from elsewhere";
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page, to_html(summarize(some_records())));
}

}  // namespace
}  // namespace assay::reports
