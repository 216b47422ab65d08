#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oracles/workgroup/kernel_file.h"
#include "props/kernel/question.h"
#include "props/property.h"

namespace assay::props::kernel {

// A list of instructions that is judged.
struct Subject {
  uop::Graph& graph;
  uop::Ref linear;
  KernelModel& model;
  Context& context;
  const uop::Target& target;
  // Where the list was read from a file, what that says of arguments and launch.
  workgroup::KernelFile* file = nullptr;
  // Takes what was refuted, as "race %7 %11".
  std::set<std::string>* refuted = nullptr;
};

// Says in the verdict which memory contract it assumes. What needs one that the target has not is
// unknown.
void state_contract(const Subject& subject, Checked& checked);

// Whether what one method decides is to be put to the prover too.
bool wants_two(const Context& context);

// What became of a question.
struct Decided {
  Found found = Found::Unknown;
  std::vector<Int128> values;  // of the problem's variables, where there is such a point
  std::string method;          // what decided; of what is unknown, the cause
};

// Decides by search, then by a prover; by both where the prover's options want two methods.
Decided decide(const Question& question, Context& context, std::string_view kind);

// Values of variables, and what arguments hold at some elements, by slot: a case that is run.
struct Inputs {
  interpreter::Variables variables;
  std::map<int, std::map<int64_t, Int128>> contents;
};
// Those for which the points of an answer are what they are, as far as data is read from arguments
// that nobody writes, at places that are no data.
Inputs inputs_of(const Subject& subject, const Question& question, std::span<const Int128> values);

// What is claimed to be wrong with a kernel, for these values of its variables.
struct Claim {
  workgroup::Fault fault;
  std::vector<int> lines;  // of the nodes, in rising order
  std::string text;        // a sentence
  std::string shape;
  Inputs inputs;
};

// The list as a file, for these inputs, with what is said in its first line. An
// error says why it cannot be run.
Result<std::string> file_of(const Subject& subject, std::string_view said, const Inputs& inputs);

// Runs the kernel on the work-group machine for the variables of the first claim, and adds an
// obligation for each: a failure where the machine finds that fault at these nodes, and unknown
// where it does not. Evidence is a file that shows what it found.
void confirm(const Subject& subject, const std::vector<Claim>& claims, std::string_view method,
             Checked& checked);

}  // namespace assay::props::kernel
