#include "fuzz/score/score_cases.h"

#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/generate.h"
#include "fuzz/mutate/mutate.h"

namespace assay::fuzz {
namespace {

CaseOptions case_options(Choices& choices, const std::vector<std::string>& devices, bool is_small) {
  CaseOptions how;
  how.devices = devices;
  how.profiles = {"generic", "adreno-630"};
  how.program.statements = 1 + static_cast<int>(choices.below(is_small ? 3 : 14));
  how.program.elements = is_small ? choices.pick({int64_t{16}, int64_t{64}})
                                  : choices.pick({int64_t{64}, int64_t{256}, int64_t{1024}});
  how.program.folds = is_small ? choices.pick({0, 8, 14}) : choices.pick({0, 0, 6, 12});
  how.program.only_floats = choices.chance(1, 6);
  how.program.edges = is_small ? choices.pick({0, 8, 14}) : choices.pick({0, 0, 8, 14});
  return how;
}

}  // namespace

Case ScoreCases::make(int64_t number) const {
  const auto place = static_cast<size_t>(number / 2);
  if (number % 2 != 0 || place >= saved_.size()) return random(number);
  Case c = saved_[place];
  c.device = devices_[place % devices_.size()];
  if (place % 3 == 2) c.profile = "adreno-630";
  c.seed = 2 + 2 * static_cast<uint64_t>(number);
  return c;
}

Case ScoreCases::random(int64_t number) const {
  Choices choices(seed_ * 1'000'003 + static_cast<uint64_t>(number));
  CaseOptions how = case_options(choices, devices_, is_dear());
  const bool is_mutated = number % 4 == 0 && !saved_.empty();
  Case c = is_mutated ? choices.pick(saved_) : make_case(choices, how);
  if (is_mutated) {
    c.device = choices.pick(std::span<const std::string>(devices_));
    c.seed = 1 + choices.below(1 << 16);
    c = mutate(c, choices, {.cases = std::move(how)});
  }
  // What a device lacks is emulated, which has faults of its own.
  if (c.profile.empty() && choices.chance(1, 4)) c.profile = "adreno-630";
  // Those with odd seeds may be put to properties that cost much (Trial): the witness is, later.
  c.seed *= 2;
  return c;
}

Case with_extremes(Case c, uint64_t seed) {
  forget_expectations(c.program);
  const tensor::OpRow& row = tensor::row(tensor::Op::Input);
  for (size_t i = 0; i < c.program.statements.size(); i++) {
    tensor::Define* d = define_at(c.program, i);
    if (d == nullptr || d->op != tensor::Op::Input) continue;
    d->attrs = tensor::default_attrs(tensor::Op::Input);
    d->attrs[row.attr("random")] = std::string("nasty");
    d->attrs[row.attr("seed")] = static_cast<int64_t>((seed + i) & 0xFFFF);
  }
  return c;
}

}  // namespace assay::fuzz
