#include "oracles/compare.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::oracles {
namespace {

using reference::Array;
using reference::Bounded;
using tensor::Literal;
using enum uop::DType;

template <typename T>
std::vector<std::byte> bytes_of(std::initializer_list<T> numbers) {
  std::vector<std::byte> bytes;
  for (const T& x : numbers) {
    const auto* first = reinterpret_cast<const std::byte*>(&x);
    bytes.insert(bytes.end(), first, first + sizeof(T));
  }
  return bytes;
}

Bounded around(double value, double bound) {
  Bounded r;
  r.value = value;
  r.bound = bound;
  r.certainty = reference::Certainty::Bounded;
  return r;
}
Bounded loose_zero() {
  Bounded r;
  r.loose_zero = true;
  return r;
}
Array vector_of(uop::DType t, const std::vector<Bounded>& elements) {
  return {t, {std::ssize(elements)}, reference::mapped(elements)};
}

Literal real(double x) { return {Literal::Kind::Float, 0, x}; }
Literal whole(uop::Int128 x) { return {Literal::Kind::Int, x, 0}; }

TEST(Compare, CountsElementsByWhatIsKnownOfThem) {
  const Array expected = vector_of(F32, {reference::of_double(F32, 1), around(2, 0.1),
                                         reference::unspecified(), reference::ambiguous()});
  const Comparison c = compare(expected, bytes_of<float>({1, 2.05F, 7, NAN}));
  EXPECT_TRUE(c.agrees());
  EXPECT_EQ(to_text(c),
            "1 exact, 1 bounded, 1 unspecified, 1 ambiguous; worst [1]: expected 2, is 2.04999995, "
            "off by 0.05 with a bound of 0.1 (0.5)");
  ASSERT_EQ(c.sharpness.size(), 1U);
  EXPECT_NEAR(c.sharpness[0], 2, 1e-5);
}

TEST(Compare, NamesTheWorstElementByItsIndex) {
  Array expected = {F32, {2, 3}, reference::Elements::Constant(6, around(1, 0x1p-20))};
  const Comparison c = compare(expected, bytes_of<float>({1, 1, 1.5F, 1, 1.25F, 1}));
  EXPECT_EQ(c.wrong, 2);
  EXPECT_EQ(c.worst.index, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(c.worst.error_by_bound, 0x1p19);
  EXPECT_EQ(c.sharpness.size(), 4U);
}

TEST(Compare, TakesNoNumberForANanOrTheOtherWay) {
  const Array expected = vector_of(F32, {reference::of_double(F32, NAN), around(1, HUGE_VAL)});
  EXPECT_TRUE(compare(expected, bytes_of<float>({-NAN, 1})).agrees());
  EXPECT_EQ(compare(expected, bytes_of<float>({1, NAN})).wrong, 1);
  EXPECT_EQ(compare(vector_of(F32, {around(1, 1)}), bytes_of<float>({NAN})).wrong, 1);
  EXPECT_EQ(compare(vector_of(F32, {around(1, 1)}), bytes_of<float>({HUGE_VALF})).wrong, 1);
}

TEST(Compare, TellsZerosApartButLooseOnes) {
  const Array expected = vector_of(F32, {reference::of_double(F32, -0.0), loose_zero()});
  EXPECT_TRUE(compare(expected, bytes_of<float>({-0.0F, -0.0F})).agrees());
  EXPECT_TRUE(compare(expected, bytes_of<float>({-0.0F, 0.0F})).agrees());
  const Comparison c = compare(expected, bytes_of<float>({0.0F, 0.0F}));
  EXPECT_EQ(
      to_text(c),
      "2 exact, 0 bounded, 0 unspecified, 0 ambiguous, 1 wrong; worst [0]: expected -0, is 0, "
      "which must be equal");
}

TEST(Compare, ReadsEveryWidth) {
  const auto same = [](uop::DType t, const Bounded& x, auto actual) {
    return compare(vector_of(t, {x}), bytes_of({actual})).agrees();
  };
  EXPECT_TRUE(same(I8, reference::of_integer(I8, -3), int8_t{-3}));
  EXPECT_TRUE(same(U64, reference::of_integer(U64, uop::max_int(U64)), ~uint64_t{0}));
  EXPECT_FALSE(same(I16, reference::of_integer(I16, 3), int16_t{-3}));
  EXPECT_TRUE(same(Bool, reference::of_integer(Bool, 5), uint8_t{1}));
  EXPECT_FALSE(same(Bool, reference::of_integer(Bool, 5), uint8_t{0xA5}));
  EXPECT_TRUE(same(F16, reference::of_double(F16, 1.5), uint16_t{0x3e00}));
  EXPECT_TRUE(same(BF16, reference::of_double(BF16, 1.5), uint16_t{0x3fc0}));
  EXPECT_TRUE(same(E4M3, reference::of_double(E4M3, 448), uint8_t{0x7e}));
  EXPECT_TRUE(same(E5M2, reference::of_double(E5M2, HUGE_VAL), uint8_t{0x7c}));
  EXPECT_TRUE(same(F64, reference::of_double(F64, 0.1), 0.1));
  EXPECT_FALSE(same(F64, reference::of_double(F64, 0.1), 0.1F + 0.0));
}

TEST(Compare, OfMaskedElementsSaysSo) {
  const Comparison c = compare(vector_of(I32, {reference::unspecified()}), bytes_of<int32_t>({3}));
  EXPECT_TRUE(c.agrees());
  EXPECT_TRUE(c.is_masked());
  EXPECT_FALSE(compare(vector_of(I32, {}), std::vector<std::byte>()).is_masked());
}

TEST(Expect, AllowsFourUnitsBeyondTheBound) {
  const Array value = vector_of(F32, {reference::of_double(F32, 1)});
  const auto agrees = [&](double x) {
    const Literal literal = real(x);
    return compare(value, {&literal, 1}).agrees();
  };
  EXPECT_TRUE(agrees(1 + 4 * 0x1p-23));
  EXPECT_FALSE(agrees(1 + 5 * 0x1p-23));
  EXPECT_FALSE(agrees(NAN));
  EXPECT_FALSE(agrees(HUGE_VAL));
}

TEST(Expect, WantsIntegersExactly) {
  const Array value = vector_of(U8, {reference::of_integer(U8, 255), reference::of_integer(U8, 2)});
  const Literal right[] = {whole(255), real(2)};
  EXPECT_TRUE(compare(value, right).agrees());
  const Literal wrapped[] = {whole(-1), real(2.5)};
  const Comparison c = compare(value, wrapped);
  EXPECT_EQ(c.wrong, 2);
  EXPECT_EQ(c.worst.actual, "-1");
}

TEST(Expect, TakesAnythingForAHole) {
  const Array value =
      vector_of(F32, {reference::of_double(F32, NAN), reference::of_double(F32, 2)});
  const Literal any = {Literal::Kind::Any, 0, 0};
  EXPECT_TRUE(compare(value, {&any, 1}).agrees());
  const Literal nan = real(NAN);
  EXPECT_EQ(compare(value, {&nan, 1}).wrong, 1);
}

TEST(Expect, LooksAtTheSignOfAZeroThatIsWrittenNegative) {
  const Array value = vector_of(F32, {reference::of_double(F32, 0)});
  const Literal negative = real(-0.0);
  const Literal positive = real(0.0);
  EXPECT_FALSE(compare(value, {&negative, 1}).agrees());
  EXPECT_TRUE(compare(value, {&positive, 1}).agrees());
  const Array other = vector_of(F32, {reference::of_double(F32, -0.0)});
  EXPECT_TRUE(compare(other, {&negative, 1}).agrees());
  EXPECT_TRUE(compare(other, {&positive, 1}).agrees());
}

}  // namespace
}  // namespace assay::oracles
