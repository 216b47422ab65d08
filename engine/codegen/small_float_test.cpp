// Conversions of narrow floats against the scalar meaning (uop/value.h): all of their values, and
// of f32 those at and beside every number and every tie.
#include "engine/codegen/small_float.h"

#include <random>

#include "engine/codegen/lowered_term.h"

namespace assay::codegen {
namespace {

using uop::BF16;
using uop::DType;
using uop::E4M3;
using uop::E5M2;
using uop::F16;
using uop::F32;
using uop::F64;
using uop::Graph;
using uop::Op;
using uop::Value;

class SmallFloat : public testing::TestWithParam<DType> {
 protected:
  // f32s beside every number of the type and beside the middle of every two, and random ones.
  std::vector<uint32_t> samples() const {
    const DType t = GetParam();
    std::vector<uint32_t> all;
    for (uint64_t bits = 0; bits < uint64_t{1} << bits_of(t); bits++) {
      const auto number = static_cast<uint32_t>(uop::cast({t, bits}, F32)->bits);
      const uint32_t half = uint32_t{1} << (22 - uop::format_of(t).mantissa_bits);
      for (const uint32_t middle : {number, number + half, number - half}) {
        for (const uint32_t step : {0U, 1U, ~0U, 2U, ~1U}) all.push_back(middle + step);
      }
    }
    std::mt19937 random(1);
    for (int i = 0; i < 100000; i++) all.push_back(static_cast<uint32_t>(random()));
    for (const uint32_t special : {0x7F800000U, 0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU, 0xFF800000U,
                                   0x80000000U, 0x00000001U, 0x7F7FFFFFU}) {
      all.push_back(special);
    }
    return all;
  }
};

TEST_P(SmallFloat, IsDecodedExactly) {
  const DType t = GetParam();
  Graph g;
  const Term x = {&g, g.variable("x", unsigned_of(t))};
  LoweredTerm term(g, decoded(x, t).u);
  for (uint64_t bits = 0; bits < uint64_t{1} << bits_of(t); bits++) {
    const Value got = term.at({{unsigned_of(t), bits}}).value;
    ASSERT_TRUE(same(got, *uop::cast({t, bits}, F32))) << bits << " " << to_text(got);
  }
}

TEST_P(SmallFloat, IsEncodedWithOneRounding) {
  const DType t = GetParam();
  Graph g;
  const Term x = {&g, g.variable("x", F32)};
  LoweredTerm term(g, encoded(x, t).u);
  for (const uint32_t bits : samples()) {
    const Value got = {t, term.at({{F32, bits}}).value.bits};
    ASSERT_TRUE(same(got, *uop::cast({F32, bits}, t))) << std::hex << bits << " " << to_text(got);
  }
}

TEST_P(SmallFloat, IsRoundedAsItIsEncoded) {
  const DType t = GetParam();
  Graph g;
  const Term x = {&g, g.variable("x", F32)};
  LoweredTerm term(g, rounded(x, t).u);
  for (const uint32_t bits : samples()) {
    const Value got = term.at({{F32, bits}}).value;
    const Value expected = *uop::cast(*uop::cast({F32, bits}, t), F32);
    ASSERT_TRUE(same(got, expected)) << std::hex << bits << " " << to_text(got);
  }
}

TEST_P(SmallFloat, IsNarrowedFromF64WithOneRounding) {
  const DType t = GetParam();
  Graph g;
  const Term x = {&g, g.variable("x", F64)};
  const Term f32 = narrowed(x, t);
  LoweredTerm term(g, encoded(f32, t).u, wide_target());
  std::vector<double> all;
  const std::vector<uint32_t> near_f32 = samples();
  for (size_t i = 0; i < near_f32.size(); i += near_f32.size() > 200000 ? 7 : 1) {
    const double v = uop::as_double({F32, near_f32[i]});
    for (const double end : {v, 0.0, HUGE_VAL, -HUGE_VAL}) all.push_back(std::nextafter(v, end));
  }
  for (const double v : {1e300, 1e-300, 0x1p-1074, -1e-300, -0.0, 70000.0}) all.push_back(v);
  for (const double v : all) {
    const Value value = uop::of_double(F64, v);
    const Value got = {t, term.at({value}).value.bits};
    ASSERT_TRUE(same(got, *uop::cast(value, t))) << std::hexfloat << v << " " << to_text(got);
  }
}

TEST_P(SmallFloat, IsNarrowedFromIntegersWithOneRounding) {
  const DType t = GetParam();
  std::mt19937_64 random(1);
  for (const DType from :
       {uop::I8, uop::U8, uop::I16, uop::U16, uop::I32, uop::U32, uop::I64, uop::U64}) {
    Graph g;
    const Term x = {&g, g.variable("x", from)};
    const Term f32 = narrowed(x, t);
    LoweredTerm term(g, encoded(f32, t).u);
    std::vector<Value> all = {uop::lowest(from), uop::highest(from)};
    for (int i = 0; i < 20000; i++) {
      // Near a number of few bits, where rounding twice shows.
      const int64_t few = static_cast<int64_t>(random() % 1024);
      const int shift = static_cast<int>(random() % 60);
      const auto n = static_cast<int64_t>((static_cast<uint64_t>(few) << shift) + random() % 3 - 1);
      all.push_back(uop::of_int(from, n));
      all.push_back(uop::of_int(from, -uop::Int128{n}));
      all.push_back(uop::of_int(from, static_cast<int64_t>(random()) >> shift));
    }
    for (const Value v : all) {
      const Value got = {t, term.at({v}).value.bits};
      ASSERT_TRUE(same(got, *uop::cast(v, t))) << to_text(from) << to_text(v) << to_text(got);
    }
  }
}

TEST_P(SmallFloat, FusesWithOneRounding) {
  const DType t = GetParam();
  Graph g;
  const Term x = {&g, g.variable("x", F32)};
  const Term y = {&g, g.variable("y", F32)};
  const Term z = {&g, g.variable("z", F32)};
  const Term sum = narrow_fma(x, y, z, t);
  LoweredTerm term(g, encoded(sum, t).u);
  std::mt19937_64 random(1);
  const uint64_t mask = (uint64_t{1} << bits_of(t)) - 1;
  const uint64_t fraction = (uint64_t{1} << uop::format_of(t).mantissa_bits) - 1;
  for (int i = 0; i < 300000; i++) {
    const Value a = {t, random() & mask};
    Value b = {t, random() & mask};
    Value c = {t, random() & mask};
    // Addends beside the product, half of the time.
    if (i % 2 == 0) {
      const Value product = *uop::eval(Op::Mul, t, std::initializer_list<Value>{a, b});
      const uint64_t exponent_step = (random() % 33 - 16) * (fraction + 1);
      c.bits = ((product.bits + exponent_step) & mask & ~fraction) | (c.bits & fraction);
      if (i % 4 == 0) c.bits ^= (mask >> 1) + 1;
    }
    const Value operands[] = {a, b, c};
    const Value expected = *uop::eval(Op::Fma, t, operands);
    const Value got = {
        t, term.at({*uop::cast(a, F32), *uop::cast(b, F32), *uop::cast(c, F32)}).value.bits};
    ASSERT_TRUE(same(got, expected)) << to_text(a) << " * " << to_text(b) << " + " << to_text(c)
                                     << ": " << to_text(got) << ", not " << to_text(expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Codegen, SmallFloat, testing::Values(E4M3, E5M2, F16, BF16),
                         [](const auto& c) { return std::string(uop::to_text(c.param)); });

}  // namespace
}  // namespace assay::codegen
