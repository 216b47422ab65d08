#include "engine/codegen/forms.h"

#include "engine/codegen/control_flow.h"
#include "engine/codegen/lane_invariants.h"
#include "engine/codegen/linear_order.h"
#include "engine/codegen/loop_invariants.h"

namespace assay::codegen {
namespace {

using uop::fixed_width;
using uop::Op;
using uop::OpSet;
using uop::Spec;
using uop::well_formed;

OpSet scalars() {
  OpSet set = {Op::Const, Op::Variable, Op::Param};
  for (int i = 0; i < uop::kOpCount; ++i) {
    if (uop::is_scalar(static_cast<Op>(i))) set.insert(static_cast<Op>(i));
  }
  return set;
}

constexpr OpSet kKernel = {Op::Invalid, Op::Range, Op::Index, Op::Store, Op::End, Op::Sink};
constexpr OpSet kShapes = {Op::Stack, Op::Reshape, Op::Permute, Op::Expand};
constexpr OpSet kOrder = {Op::Buffer, Op::After, Op::Group};

}  // namespace

const Spec& scheduled_form() {
  static const Spec spec = {"scheduled", scalars() | kKernel | OpSet{Op::Reduce}, {&well_formed()}};
  return spec;
}

const Spec& tiled_form() {
  static const Spec spec = {"tiled",
                            scheduled_form().ops,
                            {&well_formed(), &ranges_have_numbers(), &folds_ranges_only()}};
  return spec;
}

const Spec& expanded_form() {
  static const Spec spec = {"expanded",
                            tiled_form().ops | kShapes,
                            {&well_formed(), &ranges_have_numbers(), &lanes_are_axes()}};
  return spec;
}

const Spec& reduced_form() {
  static const Spec spec = {"reduced",
                            scalars() | kKernel | kShapes | kOrder | OpSet{Op::Stage},
                            {&well_formed(), &ranges_have_numbers(), &lanes_are_axes(),
                             &buffers_have_numbers(), &one_loop_a_fold()}};
  return spec;
}

const Spec& unstaged_form() {
  static const Spec spec = {"unstaged", scalars() | kKernel | kShapes | kOrder,
                            reduced_form().invariants};
  return spec;
}

const Spec& placed_form() {
  static const Spec spec = [] {
    Spec s = {"placed", unstaged_form().ops | OpSet{Op::Special}, unstaged_form().invariants};
    s.invariants.push_back(&axes_are_special());
    return s;
  }();
  return spec;
}

const Spec& loads_form() {
  static const Spec spec = {
      "loads", placed_form().ops | OpSet{Op::Load}, {&well_formed(), &loaded()}};
  return spec;
}

const Spec& scalar_form() {
  static const Spec spec = {"scalar",
                            loads_form().ops - kShapes,
                            {&well_formed(), &loaded(), &shapeless(), &gates_at_places()}};
  return spec;
}

const Spec& vectors_form() {
  static const Spec spec = {"vectors",
                            scalar_form().ops | OpSet{Op::Shrink, Op::Stack},
                            {&well_formed(), &loaded(), &gates_at_places(), &whole_vectors()}};
  return spec;
}

const Spec& narrow_form() {
  static const Spec spec = {"narrow", vectors_form().ops, {&well_formed(), &fixed_width()}};
  return spec;
}

const Spec& lowered_form() {
  static const Spec spec = {
      "lowered", narrow_form().ops - OpSet{Op::Threefry}, {&well_formed(), &fixed_width()}};
  return spec;
}

const Spec& gated_form() {
  static const Spec spec = {"gated",
                            (lowered_form().ops - OpSet{Op::Invalid}) | OpSet{Op::Barrier},
                            {&well_formed(), &fixed_width()}};
  return spec;
}

const Spec& looped_form() {
  static const Spec spec = {
      "looped", gated_form().ops, {&well_formed(), &fixed_width(), &one_end_a_range()}};
  return spec;
}

const Spec& linear_form() {
  static const Spec spec = {
      "linear",
      (gated_form().ops - OpSet{Op::Sink, Op::Group}) | OpSet{Op::Linear, Op::If, Op::EndIf},
      {&well_formed(), &fixed_width(), &linear_order()}};
  return spec;
}

}  // namespace assay::codegen
