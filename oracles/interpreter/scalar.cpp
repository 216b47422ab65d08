#include "oracles/interpreter/scalar.h"

#include <array>

#include "oracles/interpreter/convert.h"
#include "oracles/interpreter/functions.h"
#include "oracles/interpreter/loops.h"

namespace assay::interpreter {
namespace {

using LoopOf = decltype(Scalar::loop);

// The loops of an operation: at signed integers and `index`, at unsigned ones and bool, at floats;
// `rounds` says whether what the last one gives has yet to be rounded.
struct Row {
  Op op;
  LoopOf at_signed = nullptr;
  LoopOf at_unsigned = nullptr;
  LoopOf at_float = nullptr;
  bool rounds = true;
};

void pick(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], src[1], src[2], n, [](Slot c, Slot a, Slot b) { return c != 0 ? a : b; });
}
void flip_sign(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return a ^ kSign; });
}
void copy(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return a; });
}

template <auto F>
constexpr Row ints1(Op op) {
  return {op, int1<true, F>, int1<false, F>};
}
template <auto F>
constexpr Row ints2(Op op) {
  return {op, int2<true, F>, int2<false, F>};
}
template <auto F>
constexpr Row floats1(Op op) {
  return {op, nullptr, nullptr, float1<F>};
}
template <auto F, auto G>
constexpr Row numbers2(Op op) {
  return {op, int2<true, F>, int2<false, F>, float2<G>};
}
template <auto F>
constexpr Row compares(Op op) {
  return {op, int_compare<true, F>, int_compare<false, F>, float_compare<F>, false};
}

constexpr Row kRows[] = {
    {Op::Neg, int1<true, kNegative>, int1<false, kNegative>, flip_sign, false},
    ints1<kInverted>(Op::Not),
    floats1<kReciprocal>(Op::Recip),
    floats1<kSqrt>(Op::Sqrt),
    floats1<kExp>(Op::Exp),
    floats1<kExp2>(Op::Exp2),
    floats1<kLog>(Op::Log),
    floats1<kLog2>(Op::Log2),
    floats1<kSin>(Op::Sin),
    floats1<kCos>(Op::Cos),
    floats1<kTan>(Op::Tan),
    floats1<kTrunc>(Op::Trunc),
    floats1<kFloor>(Op::Floor),
    floats1<kCeil>(Op::Ceil),
    floats1<kRound>(Op::Round),
    numbers2<kSum, kFloatSum>(Op::Add),
    numbers2<kDifference, kFloatDifference>(Op::Sub),
    numbers2<kProduct, kFloatProduct>(Op::Mul),
    {Op::FDiv, nullptr, nullptr, float2<kQuotient>},
    ints2<kFloorDiv>(Op::Div),
    ints2<kFloorMod>(Op::Mod),
    ints2<kTruncDiv>(Op::TDiv),
    ints2<kTruncMod>(Op::TMod),
    numbers2<kLarger, kFloatLarger>(Op::Max),
    numbers2<kSmaller, kFloatSmaller>(Op::Min),
    ints2<kAnd>(Op::And),
    ints2<kOr>(Op::Or),
    ints2<kXor>(Op::Xor),
    {Op::Shl, shift2<true, kShiftedLeft>, shift2<false, kShiftedLeft>},
    {Op::Shr, shift2<true, kShiftedRight>, shift2<false, kShiftedRight>},
    compares<kLess>(Op::Lt),
    compares<kEqual>(Op::Eq),
    compares<kUnequal>(Op::Ne),
    {Op::Pow, int2<true, kIntPower>, int2<false, kIntPower>, float2<kPower>},
    {Op::Threefry, nullptr, int2<false, kThreefry>},
    {Op::Where, pick, pick, pick, false},
    {Op::Fma, int3<true, kSumOfProduct>, int3<false, kSumOfProduct>, float3<kOddFma>},
};

struct ByOp {
  std::array<const Row*, uop::kOpCount> rows = {};
  constexpr ByOp() {
    for (const Row& row : kRows) rows[static_cast<size_t>(row.op)] = &row;
  }
};
constexpr ByOp kByOp;

template <typename Codec>
void round_all(Slot* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = Codec::round(number(out[i]));
}
decltype(Scalar::round) rounding(DType t) {
  return with_float_codec(
      t, []<typename Codec>(Codec) -> decltype(Scalar::round) { return round_all<Codec>; });
}

// What a float operation folds with: its result at the type.
template <auto F, typename Codec>
void fold_floats(Slot* acc, int64_t rows, const Slot* x, int64_t row, DType /*t*/) {
  for (int64_t i = 0; i < rows; i++) {
    Slot a = acc[i];
    for (int64_t k = 0; k < row; k++) a = Codec::round(F(number(a), number(*x++)));
    acc[i] = a;
  }
}
template <bool S, auto F>
void fold_ints(Slot* acc, int64_t rows, const Slot* x, int64_t row, DType t) {
  const int unused = 64 - uop::bits_of(t);
  for (int64_t i = 0; i < rows; i++) {
    Slot a = acc[i];
    for (int64_t k = 0; k < row; k++) a = cut<S>(F(as_int<S>(a), as_int<S>(*x++)), unused);
    acc[i] = a;
  }
}

using OverRows = decltype(Fold::over_rows);
template <auto F>
OverRows float_rows(DType t) {
  return with_float_codec(t, []<typename C>(C) -> OverRows { return fold_floats<F, C>; });
}
template <auto F>
OverRows int_rows(DType t) {
  return is_signed(t) ? OverRows{fold_ints<true, F>} : OverRows{fold_ints<false, F>};
}
template <auto F, auto G>
OverRows rows_of(DType t) {
  return uop::is_float(t) ? float_rows<G>(t) : int_rows<F>(t);
}

// The least and the largest of a type: the units of max and min.
Slot end_of(DType t, bool least) {
  if (t == DType::E4M3) return slot(least ? -448.0 : 448.0);
  if (uop::is_float(t)) return kInfinity | (least ? kSign : 0);
  const Slot half = Slot{1} << (uop::bits_of(t) - 1);
  if (is_signed(t)) return wrapped(least ? half : half - 1, t);
  return least ? 0 : wrapped(~Slot{0}, t);
}

Fold fold_parts(Op op, DType t) {
  const Slot one = uop::is_float(t) ? slot(1.0) : 1;
  switch (op) {
    case Op::Add: return {{}, 0, rows_of<kSum, kFloatSum>(t)};
    case Op::Mul: return {{}, one, rows_of<kProduct, kFloatProduct>(t)};
    case Op::Max: return {{}, end_of(t, true), rows_of<kLarger, kFloatLarger>(t)};
    case Op::Min: return {{}, end_of(t, false), rows_of<kSmaller, kFloatSmaller>(t)};
    case Op::And: return {{}, wrapped(~Slot{0}, t), int_rows<kAnd>(t)};
    case Op::Or: return {{}, 0, int_rows<kOr>(t)};
    case Op::Xor: return {{}, 0, int_rows<kXor>(t)};
    default: return {};
  }
}

}  // namespace

Scalar moved(DType t) { return {copy, nullptr, {t, t}}; }

std::optional<Scalar> scalar_of(Op op, Types types) {
  if (op == Op::Cast) return cast_of(types);
  if (op == Op::Bitcast) return bitcast_of(types);
  const Row* row = kByOp.rows[static_cast<size_t>(op)];
  if (row == nullptr) return std::nullopt;
  const bool compares = uop::info(op).typing == uop::Typing::Compare;
  const DType t = compares ? types.operand : types.result;
  if (!uop::info(op).over.has(t)) return std::nullopt;
  if (op == Op::Fma && t == DType::F64) return Scalar{float3<kFma>, rounding(t), types};
  if (uop::is_float(t)) return Scalar{row->at_float, row->rounds ? rounding(t) : nullptr, types};
  return Scalar{is_signed(t) ? row->at_signed : row->at_unsigned, nullptr, types};
}

Scalar rounded(Scalar scalar) {
  scalar.round = rounding(scalar.types.result);
  return scalar;
}

std::optional<Fold> fold_of(Op op, DType t) {
  const std::optional<Scalar> step = scalar_of(op, {t, t});
  if (!step) return std::nullopt;
  Fold fold = fold_parts(op, t);
  if (fold.over_rows == nullptr) return std::nullopt;
  fold.step = *step;
  return fold;
}

}  // namespace assay::interpreter
