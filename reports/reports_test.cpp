#include <gtest/gtest.h>

#include "reports/html.h"
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
  ScoreRecord found = {"order.war", "order", "races", 0.5, true};
  ScoreRecord missed = {"order.raw", "order", "", 20, false};
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
  EXPECT_EQ(s.red, std::vector<std::string>{"1 causes of failures"});
}

TEST(Summary, ACleanCampaignIsGreen) {
  const std::vector<Record> records = some_records();
  const Summary s = summarize(std::vector<Record>{records[0], records[1]});
  EXPECT_TRUE(s.red.empty());
  EXPECT_FALSE(s.end);
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
