#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/result.h"

// What a campaign writes down, a line of JSON each, and what reports are made of. Fields are added,
// never renamed; what a reader does not know it leaves out.
namespace assay::reports {

using Counts = std::map<std::string, int64_t, std::less<>>;

// The first line of a campaign: what was run, with what, on what.
struct Begin {
  std::string commit;  // of the engine
  std::string solver;  // "Z3 4.8.12, cvc5 1.0.3"
  std::vector<std::string> devices;
  std::vector<std::string> drivers;  // of them, in their own words
  std::string target;
  uint64_t seed = 0;
  std::string corpus;
  std::string machine;  // no part of the digest
  std::string time;     // when, by the machine's clock; no part of the digest
};

// One case, tried.
struct CaseRecord {
  int64_t number = 0;
  std::string source;  // a file of the corpus, or "random", "mutated", "spliced", "terms", "kernel"
  std::string device;
  std::string profile;
  std::string answer;  // "pass", "fail", "flaky", "unknown", "malformed"
  int64_t kernels = 0;
  int64_t sharing = 0;
  int64_t obligations = 0;
  int64_t elements = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  Counts unknown;                  // by cause
  std::vector<std::string> novel;  // features (CoverageRecord) that no case before had
  bool is_kept = false;            // others are made from it: corpus/<number>.tp
  std::string failure;             // of one that fails: judge, stage and shape of the witness
  std::string finding;             // the folder of what is behind it, where that was looked for
  double ms = 0;                   // no part of the digest
};

// One cause, found.
struct FindingRecord {
  int64_t number = 0;  // of the case
  std::string judge, stage, shape, evidence;
  std::string pass, rule, title;  // who is to blame
  std::string program;            // shrunk, as text
  std::string folder;             // of all that belongs to it
  double rate = 1;                // how often it shows again; below 1 it is flaky
  std::string device;
  std::string blamed;      // the stage that is to blame, of which `pass` may be a part
  std::string on_sim;      // of a device that is none: what the simulated one makes of it
  std::string command;     // that shows it again, in `folder`
  int64_t statements = 0;  // of the program as it was found
};

// What was covered: features by group, each with the case that showed it first, and those that
// never were. Of pairs of rules there is but the count, under "pairs".
struct CoverageRecord {
  std::string group;
  Counts seen;
  std::vector<std::string> never;
};

// A property or rule of which was judged.
struct ProofRecord {
  std::string kind;    // "rule" or "property"
  std::string name;    // of it, with the type of a rule
  std::string answer;  // "pass", "fail", "unknown"
  std::string strength;
  std::string evidence;
  Counts methods;  // what decided how many obligations
  Counts causes;   // why how many are unknown
  int64_t obligations = 0;
  int64_t unknown = 0;
};

// A seeded fault that the harness was scored by.
struct ScoreRecord {
  std::string fault, fault_class, judge;  // judge: "" where it was not found
  double seconds = 0;
  bool is_blamed_right = false;
  std::vector<std::string> judges;  // all who found something wrong with the witness
  std::string blame;                // the place that blame names
  std::string why;                  // it was not found
};

// What libFuzzer said of a target (reports/libfuzzer.h).
struct TargetRecord {
  std::string name;
  int64_t executions = 0;
  int64_t edges = 0;      // of the program, that inputs reached
  int64_t all_edges = 0;  // that there are
  int64_t features = 0;
  int64_t inputs = 0;   // of its corpus
  int64_t kept = 0;     // new ones, after distilling
  int64_t crashes = 0;  // and time-outs, and inputs that took all memory
  std::string trouble;  // the first of them, in a sanitizer's words
  double seconds = 0;
};

// A part of a night.
struct StepRecord {
  std::string name;
  int64_t code = 0;  // what it exited with
  double seconds = 0;
};

// The last line.
struct End {
  std::string digest;  // of all that does not depend on time or machine
  int64_t cases = 0;
  double seconds = 0;
  bool is_interrupted = false;
  Counts spent;  // microseconds of this run by part of the work; no part of the digest
};

using Record = std::variant<Begin, CaseRecord, FindingRecord, CoverageRecord, ProofRecord,
                            ScoreRecord, TargetRecord, StepRecord, End>;

// One line, with its end; `with_facts` is false for what the digest is made of: without times and
// machines.
std::string to_line(const Record& record, bool with_facts = true);
// An error says what of the line is wrong. A line of a kind that is not known is nothing.
Result<std::vector<Record>> records_from(std::string_view text);

}  // namespace assay::reports
