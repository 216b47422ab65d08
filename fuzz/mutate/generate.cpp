#include "fuzz/mutate/generate.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "engine/runtime/profiles.h"
#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/repair.h"

namespace assay::fuzz {
namespace {

// Narrower floats are emulated where a device has not got them.
constexpr uop::TypeSet kNotEmulated = uop::kFixedInts | uop::TypeSet{uop::F64};

ProgramOptions varied(Choices& choices, ProgramOptions how) {
  how.statements = static_cast<int>(choices.between(1, how.statements));
  how.elements = choices.pick({how.elements / 4, how.elements, how.elements, how.elements * 4});
  how.folds = choices.pick({4, 10, 12, 14});
  how.only_floats = choices.chance(1, 8);
  how.edges = choices.pick({0, 0, 0, 8});
  return how;
}

}  // namespace

uop::TypeSet types_of(const tensor::Program& program) {
  uop::TypeSet types;
  for (size_t i = 0; i < program.statements.size(); i++) {
    const tensor::Define* d = define_at(program, i);
    if (d == nullptr) continue;
    types = types | uop::TypeSet{d->dtype};
    for (const tensor::AttrValue& attr : d->attrs) {  // what is accumulated in
      if (const auto* t = std::get_if<uop::DType>(&attr)) types = types | uop::TypeSet{*t};
    }
  }
  return types;
}

void fit_types(Case& c, uop::TypeSet device) {
  const uop::TypeSet needed = types_of(c.program) & kNotEmulated;
  if ((device & needed) != needed) {
    for (size_t i = 0; i < c.program.statements.size(); i++) {
      tensor::Define* d = define_at(c.program, i);
      if (d == nullptr) continue;
      const auto fit = [&](uop::DType& t) {
        if (!kNotEmulated.has(t) || device.has(t)) return;
        t = uop::is_float(t) ? uop::DType::F32 : uop::DType::I32;
      };
      fit(d->dtype);
      for (tensor::AttrValue& attr : d->attrs) {
        if (auto* t = std::get_if<uop::DType>(&attr)) fit(*t);
      }
    }
    repair(c.program, most_elements_of(c.program));
  }
  const uop::Target* profile = c.profile.empty() ? nullptr : runtime::profile(c.profile);
  if (profile == nullptr) return;
  const uop::TypeSet left = types_of(c.program) & kNotEmulated;
  if ((profile->arithmetic & left) != left) c.profile.clear();
}

std::string draw_opts(Choices& choices) {
  const uint64_t way = choices.below(8);
  if (way == 0) return "none";
  if (way == 1) return "";
  return "random:" + std::to_string(choices.below(1 << 16));
}

Case make_large_fold(Choices& choices) {
  const std::string_view type = choices.pick({"i32", "i64", "u32", "f32"});
  const std::string_view fold = choices.pick({"sum", "max", "min"});
  const int64_t rows = choices.pick({1, 2, 3});
  const int64_t columns = choices.pick({32768, 32800, 36000});
  std::string text = fmt::format("tp 1\nv0: {}[{}, {}] = input(start={}, step=1)\n", type, rows,
                                 columns, choices.below(100));
  const bool is_moved = choices.chance(1, 2);
  if (is_moved) {
    text += fmt::format("v1: {}[{}, {}] = permute(v0, order=[1, 0])\n", type, columns, rows);
  }
  text += fmt::format("v2: {}[{}] = {}({}, axes=[{}])\n", type, rows, fold, is_moved ? "v1" : "v0",
                      is_moved ? 0 : 1);
  Case result = case_from_text(text).value();
  result.opts = draw_opts(choices);
  result.seed = 1 + choices.below(1 << 16);
  return result;
}

Case make_case(Choices& choices, const CaseOptions& options) {
  Case result;
  result.program =
      make_program(choices, options.is_varied ? varied(choices, options.program) : options.program);
  result.opts = draw_opts(choices);
  if (!options.devices.empty()) {
    result.device = choices.pick(std::span<const std::string>(options.devices));
  }
  if (!options.profiles.empty() && choices.chance(1, 4)) {
    result.profile = choices.pick(std::span<const std::string>(options.profiles));
  }
  fit_types(result, uop::kBool | uop::kFixedInts | uop::kFloats);
  result.seed = 1 + choices.below(1 << 16);
  return result;
}

}  // namespace assay::fuzz
