#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuzz/trial/case.h"

namespace assay::fuzz {

// How large a case is: what counts first stands first. A case that is shrunk gets smaller by this.
struct CaseSize {
  int64_t statements = 0;
  int64_t settings =
      0;  // that are not as by default: device, profile, opts, seed, hints, variables
  int64_t elements = 0;  // of all values
  int64_t types = 0;     // values of other types than f32, i32 and bool
  int64_t letters = 0;   // of the text
  auto operator<=>(const CaseSize&) const = default;
};
CaseSize size_of(const Case& c);

struct ShrinkOptions {
  int64_t trials = 4000;  // the most
  // The lists of opts that kernels of a case are made with, in the order in which they run: what a
  // seed draws is then said, and shortened. May be left out.
  std::function<std::vector<std::string>(const Case&)> lists = {};
};

struct Shrunk {
  Case smallest;
  int64_t trials = 0;
  bool is_done = false;  // nothing that is tried makes it smaller; else trials ran out
};

// The smallest case that can be found for which `still_fails`, which holds of `failing`, still
// holds: sub-graphs, statements, operands, shapes, types, contents, opts, settings, each while that
// makes it smaller. The same case and the same answers give the same result. Each candidate is
// well-formed where `failing` is.
Shrunk shrink(const Case& failing, const std::function<bool(const Case&)>& still_fails,
              const ShrinkOptions& options = {});

// Cases a step smaller than this one, the boldest first.
std::vector<Case> smaller(const Case& c);

// One kind of step. It offers candidates to `takes`, which says whether one was taken: then `c` is
// that one, and it goes on from there.
class Shrinking;
struct ShrinkStep {
  std::string_view name;
  void (*run)(Shrinking& s);
};
// Of settings and statements, then of parts of statements, coarse ones first.
std::span<const ShrinkStep> statement_steps();
std::span<const ShrinkStep> part_steps();

class Shrinking {
 public:
  Shrinking(const Case& failing, const std::function<bool(const Case&)>& still_fails,
            const ShrinkOptions& options);

  const Case& now() const { return now_; }
  const tensor::Program& program() const { return now_.program; }
  const ShrinkOptions& options() const { return options_; }
  // Whether the candidate, made well-formed, is smaller and still fails: then it is the case now.
  bool takes(Case candidate);
  bool takes(tensor::Program program);
  bool is_spent() const { return trials_ >= options_.trials; }
  int64_t trials() const { return trials_; }

 private:
  const std::function<bool(const Case&)>& still_fails_;
  const ShrinkOptions& options_;
  Case now_;
  CaseSize size_;
  bool is_well_formed_;
  int64_t most_elements_;
  int64_t trials_ = 0;
  std::vector<uint64_t> tried_;  // hashes of texts, sorted
};

}  // namespace assay::fuzz
