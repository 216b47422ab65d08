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
  std::string source;  // a file of the corpus, or "random", "mutated"
  std::string device;
  std::string profile;
  std::string answer;  // "pass", "fail", "unknown", "malformed"
  int64_t kernels = 0;
  int64_t sharing = 0;
  int64_t obligations = 0;
  int64_t elements = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  Counts unknown;  // by cause
  double ms = 0;   // no part of the digest
};

// One cause, found.
struct FindingRecord {
  int64_t number = 0;  // of the case
  std::string judge, stage, shape, evidence;
  std::string pass, rule, title;  // who is to blame
  std::string program;            // shrunk, as text
  std::string folder;             // of all that belongs to it
  double rate = 1;                // how often it shows again
  std::string device;
};

// What was covered: features by group, each with how often, and those that never were.
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

// The last line.
struct End {
  std::string digest;  // of all that does not depend on time or machine
  int64_t cases = 0;
  double seconds = 0;
  bool is_interrupted = false;
};

using Record =
    std::variant<Begin, CaseRecord, FindingRecord, CoverageRecord, ProofRecord, ScoreRecord, End>;

// One line, with its end; `with_facts` is false for what the digest is made of: without times and
// machines.
std::string to_line(const Record& record, bool with_facts = true);
// An error says what of the line is wrong. A line of a kind that is not known is nothing.
Result<std::vector<Record>> records_from(std::string_view text);

}  // namespace assay::reports
