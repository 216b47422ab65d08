#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/uop/watch.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/poison.h"
#include "oracles/verdict.h"

namespace assay::oracles {

// What a kernel is run on: the bytes of each argument, by slot, before it runs.
struct KernelInputs {
  std::vector<std::vector<std::byte>> arguments;
  interpreter::Variables variables;
};

// Small integers for every parameter of a kernel, so that sums and products of floats are exact
// in any order. Where the size of a parameter is a term of variables, there is room for the largest
// it may be, and poison in what these variables leave over: there a pass may write that size.
Result<KernelInputs> small_inputs(uop::Graph& g, uop::Ref kernel,
                                  const interpreter::Variables& variables, uint64_t seed);

// How far floats may lie apart, in units in the last place of the largest number of their argument,
// or of `most`: a sum that cancels out is as far off as its terms allow. 0 where all are exact.
// Zeros of either sign are one number, and so are NaNs.
struct Tolerance {
  double ulps = 0;
  double most = 0;
};

// Runs kernels between passes on the same inputs and compares what they leave in storage.
class PassJudge : public uop::Watch {
 public:
  // Runs the kernel of the schedule, with what the others are compared.
  PassJudge(uop::Graph& g, uop::Ref kernel, const KernelInputs& inputs, Tolerance tolerance = {});

  using uop::Watch::seen;
  void seen(const uop::PassSeen& seen) override;

  // Pass: each kernel that a pass left computes the same, in both orders that steps may have
  // (StepOrder), and no spec is broken. Fail names the first pass after which that is not so, with
  // the kernel before and after it. Unknown: the kernel of the schedule cannot be run. What the
  // kernel of the schedule leaves unspecified may be anything after a pass.
  const Verdict& verdict() const { return verdict_; }
  std::string_view pass() const { return pass_; }  // the one to blame; empty if there is none
  int compared() const { return compared_; }       // passes whose kernel ran

 private:
  using Bytes = std::vector<std::vector<std::byte>>;
  // Why a kernel is not as good as that of the schedule; Pass where it is.
  using Found = std::pair<Answer, std::string>;
  Result<Bytes> run(uop::Graph& g, uop::Ref kernel, bool last_first) const;
  Found trouble_after(const uop::PassSeen& seen);
  Found difference(const Bytes& bytes);
  Result<bool> is_unspecified(size_t argument, size_t element, size_t width);

  uop::Graph& g_;
  uop::Ref kernel_;
  KernelInputs inputs_;
  Tolerance tolerance_;
  std::vector<uop::DType> types_;  // of arguments, by slot; void where there is none
  Bytes wanted_;
  interpreter::ByteMarks open_;  // bytes of it that may be anything, once asked for
  Verdict verdict_;
  std::string pass_;
  int compared_ = 0;
};

struct PassesJudged {
  Verdict verdict;
  std::string pass;  // the one to blame
  int compared = 0;
};

// Runs the passes over a kernel of the schedule for a target, and judges each. Unknown where a pass
// refuses the kernel.
PassesJudged judge_passes(uop::Graph& g, uop::Ref kernel, const KernelInputs& inputs,
                          const uop::Target& target, Tolerance tolerance = {},
                          std::span<const uop::Pass* const> passes = codegen::pipeline());

}  // namespace assay::oracles
