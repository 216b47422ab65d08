#include <bit>
#include <cmath>

#include "engine/uop/bounds.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using uop::OpSet;
using uop::Pat;
using uop::Run;

constexpr int64_t kSignBit = 0x8000'0000;
constexpr int64_t kInfinityBits = 0x7F80'0000;

// A cast between these types, through another on the way.
Ref cast_through(Graph& g, Ref u, DType from, DType to, Op how, DType middle) {
  if (u->op != Op::Cast || u->src[0]->dtype != from || u->dtype != to) return u;
  if (u->src[0]->op == how) return u;
  return g.make(Op::Cast, to, {g.make(how, middle, {u->src[0]})});
}

bool is_low_mask(Ref u) {
  return is_int_const(u) && u->arg.bits >= 0x7FF && std::has_single_bit(u->arg.bits + 1) &&
         u->arg.bits < 0x7FFF'FFFF;
}

Ref for_negative(Graph& g, Ref u, Op from, Op to) {
  if (u->op != from || uop::bounds(g, u->src[0]).lo >= 0) return u;
  return g.make(to, u->dtype, {u->src[0], u->src[1]});
}

// A constant that takes more bits than a table of round numbers has.
bool is_coefficient(Ref u) {
  if (u->op != Op::Const || u->dtype != DType::F32) return false;
  return std::popcount(u->arg.bits & 0x7F'FFFF) > 6;
}

Ref skipped_cast(Run& run, Ref u) {
  const Ref inner = u->src[0];
  if (inner->op != Op::Cast) return nullptr;
  return run.graph().make(Op::Cast, u->dtype, {inner->src[0]});
}

void add_wrong_casts(std::vector<Fault>& faults) {
  constexpr FaultClass kOf = FaultClass::DType;
  const Pat x = uop::any("x");
  const OpSet casts = {Op::Cast};
  faults.push_back({"dtype.casts_merged", kOf, "A cast of a cast is one cast.", "cast.cast_of_cast",
                    WrongRule{"cast", uop::by("cast_of_cast", uop::kScalars, casts, skipped_cast,
                                              "the inner cast is skipped")},
                    "B109"});
  faults.push_back({"dtype.float_plus_zero", kOf, "x + 0 is x at floats.", "identity.add_zero",
                    WrongRule{"identity", {"add_zero", uop::kNumbers, x + 0, x}}, "B046"});
  faults.push_back({"dtype.float_times_zero", kOf, "x * 0 is 0 at floats.", "identity.mul_zero",
                    WrongRule{"identity", {"mul_zero", uop::kNumbers, x * 0, 0}}, "B097"});
  faults.push_back({"dtype.nan_is_itself", kOf, "x == x at floats.", "compare.eq_self",
                    WrongRule{"compare", {"eq_self", uop::kScalars, x == x, 1}}, "B123"});
}

}  // namespace

std::vector<Fault> dtype_faults() {
  constexpr FaultClass kOf = FaultClass::DType;
  std::vector<Fault> faults = {
      {"dtype.rounding_addend_lost", kOf, "A narrower float is cut off instead of rounded.",
       "dtype_emulation",
       Nodes{Which::All,
             [](Graph&, Ref u) {
               const bool is_addend =
                   u->op == Op::Add && u->dtype == DType::U32 && is_low_mask(u->src[1]);
               return is_addend ? u->src[0] : u;
             }},
       "B098"},
      {"dtype.nan_rounded", kOf, "What is no number is rounded as if it were one.",
       "dtype_emulation",
       Nodes{Which::All,
             [](Graph&, Ref u) {
               if (u->op != Op::Where || u->src[0]->op != Op::Lt) return u;
               const Ref c = u->src[0]->src[0];
               return is_int_const(c) && int_of(c) >= kInfinityBits ? u->src[2] : u;
             }},
       "B099"},
      {"dtype.infinity_saturates", kOf, "Infinity becomes the largest number.", "dtype_emulation",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               const bool is_picked = u->op == Op::Where && u->dtype == DType::U32 &&
                                      is_int_const(u->src[1]) && int_of(u->src[1]) > 1;
               return is_picked ? with_source(g, u, 1, nudged_constant(g, u->src[1], -1)) : u;
             }},
       "B101"},
      {"dtype.subnormals_lost", kOf, "What is subnormal in the narrower float is zero.",
       "dtype_emulation",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Where || u->dtype != DType::U32) return u;
               const Ref z = u->src[2];
               const bool is_subnormal = z->op == Op::Bitcast ||
                                         (z->op == Op::Sub && z->src[0]->op == Op::Bitcast) ||
                                         (z->op == Op::Add && z->src[0]->op == Op::Bitcast);
               return is_subnormal ? with_source(g, u, 2, g.constant(DType::U32, 0)) : u;
             }},
       "B102"},
      {"dtype.sign_lost", kOf, "The sign of an emulated float is lost.", "dtype_emulation",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const bool is_sign =
                   u->op == Op::And && is_int_const(u->src[1]) && int_of(u->src[1]) == kSignBit;
               return is_sign ? g.constant(u->dtype, 0) : u;
             }},
       "B046"},
      {"dtype.unsigned_as_signed", kOf, "An unsigned integer becomes a float as if it had a sign.",
       "decompose",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               return cast_through(g, u, DType::U32, DType::F32, Op::Bitcast, DType::I32);
             }},
       "B115"},
      {"dtype.unsigned_compared_signed", kOf,
       "Unsigned integers are compared as if they had a sign.", "decompose",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Lt || u->src[0]->dtype != DType::U32) return u;
               const Ref a = g.make(Op::Bitcast, DType::I32, {u->src[0]});
               const Ref b = g.make(Op::Bitcast, DType::I32, {u->src[1]});
               return g.make(Op::Lt, DType::Bool, {a, b});
             }},
       "B114"},
      {"dtype.shift_without_sign", kOf, "A shift to the right draws in zeros before a sign.",
       "decompose",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Shr || u->dtype != DType::I32) return u;
               const Ref a = g.make(Op::Bitcast, DType::U32, {u->src[0]});
               const Ref n = g.make(Op::Bitcast, DType::U32, {u->src[1]});
               return g.make(Op::Bitcast, DType::I32, {g.make(Op::Shr, DType::U32, {a, n})});
             }},
       "B067"},
      {"dtype.wide_through_float", kOf, "64 bits become a double by way of a float.", "index_width",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Cast || u->dtype != DType::F64) return u;
               const DType from = u->src[0]->dtype;
               if (from != DType::I64 && from != DType::U64 && from != DType::I32) return u;
               return g.make(Op::Cast, DType::F64, {g.make(Op::Cast, DType::F32, {u->src[0]})});
             }},
       "B103"},
      {"dtype.double_constant_short", kOf, "A constant of a double has the bits of a float.",
       "decompose",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Const || u->dtype != DType::F64) return u;
               const double x = uop::as_double(u->value());
               return std::isnan(x)
                          ? u
                          : g.constant(uop::of_double(
                                DType::F64, uop::as_double(uop::of_double(DType::F32, x))));
             }},
       "B122"},
      {"dtype.floor_cuts", kOf, "Rounding down cuts towards zero.", "simplify_kernel",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               return u->op == Op::Floor ? g.make(Op::Trunc, u->dtype, {u->src[0]}) : u;
             }},
       "B198"},
      {"dtype.quotient_cuts", kOf, "A quotient that rounds down is computed by one that cuts.",
       "simplify_kernel",
       Nodes{Which::First, [](Graph& g, Ref u) { return for_negative(g, u, Op::Div, Op::TDiv); }},
       "B067"},
      {"dtype.remainder_of_cut", kOf, "A remainder has the sign of what it is of.",
       "simplify_kernel",
       Nodes{Which::First, [](Graph& g, Ref u) { return for_negative(g, u, Op::Mod, Op::TMod); }},
       "B089"},
      {"dtype.truth_of_low_bit", kOf, "An integer is true where its lowest bit is set.",
       "index_width",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const Ref x = u->src.empty() ? u : u->src[0];
               const bool is_truth = u->op == Op::Cast && u->dtype == DType::Bool &&
                                     uop::kInts.has(x->dtype) && x->dtype != DType::Index;
               if (!is_truth) return u;
               const Ref low = g.make(Op::And, x->dtype, {x, g.constant(x->dtype, 1)});
               return with_source(g, u, 0, low);
             }},
       "B109"},
      {"dtype.maximum_by_comparison", kOf, "A maximum of floats is picked by a comparison.",
       "simplify_kernel",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Max || !uop::is_float(u->dtype)) return u;
               const Ref less = g.make(Op::Lt, DType::Bool, {u->src[0], u->src[1]});
               return g.make(Op::Where, u->dtype, {less, u->src[1], u->src[0]});
             }},
       "B123"},
      {"dtype.coefficient_off", kOf, "A coefficient of a polynomial is off in its third digit.",
       "decompose",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_coefficient(u)) return u;
               return g.constant(uop::of_double(DType::F32, uop::as_double(u->value()) * 1.002));
             }},
       "B121"},
      {"dtype.unsigned_minimum_by_sign", kOf, "A minimum is that of the numbers with a sign.",
       "simplify_kernel",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Min || u->dtype != DType::U8) return u;
               const Ref a = g.make(Op::Bitcast, DType::I8, {u->src[0]});
               const Ref b = g.make(Op::Bitcast, DType::I8, {u->src[1]});
               return g.make(Op::Bitcast, DType::U8, {g.make(Op::Min, DType::I8, {a, b})});
             }},
       "B114"},
  };
  add_wrong_casts(faults);
  return faults;
}

}  // namespace assay::fuzz
