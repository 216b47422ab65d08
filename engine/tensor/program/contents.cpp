#include "engine/tensor/program/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/tensor/program/random.h"
#include "engine/uop/value.h"

namespace assay::tensor {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 32;

const AttrValue& attr(const Define& input, std::string_view name) {
  return input.attrs[row(Op::Input).attr(name)];
}

bool has(const Define& input, std::string_view name) {
  return !std::holds_alternative<std::monostate>(attr(input, name));
}

Literal number(const Define& input, std::string_view name, int fallback) {
  if (!has(input, name)) return {Literal::Kind::Int, fallback, 0};
  return std::get<Literal>(attr(input, name));
}

double as_double(const Literal& x) {
  return x.kind == Literal::Kind::Float ? x.real : static_cast<double>(x.integer);
}

// Of a literal that is whole, as checked before.
Int128 as_int(const Literal& x) {
  return x.kind == Literal::Kind::Float ? static_cast<Int128>(x.real) : x.integer;
}

bool is_whole(const Literal& x) {
  return x.kind != Literal::Kind::Float ||
         (std::fabs(x.real) < 0x1p126 && std::trunc(x.real) == x.real);
}

struct DistributionRow {
  std::string_view name;
  Distribution distribution;
  TypeSet over;
  bool has_ends;
};
constexpr DistributionRow kDistributions[] = {
    {"uniform", Distribution::Uniform, uop::kFloats, true},
    {"normal", Distribution::Normal, uop::kFloats, false},
    {"integers", Distribution::Integers, uop::kScalars, true},
    {"nasty", Distribution::Nasty, uop::kScalars, false},
};

const DistributionRow& distribution(const Define& input) {
  const auto& name = std::get<std::string>(attr(input, "random"));
  return *std::ranges::find(kDistributions, name, &DistributionRow::name);
}

std::optional<std::string> random_error(const Define& input) {
  const DistributionRow& d = distribution(input);
  if (!d.over.has(input.dtype)) {
    return fmt::format("random={} gives no {}", d.name, uop::to_text(input.dtype));
  }
  const bool has_ends = has(input, "low") || has(input, "high");
  if (has_ends && !d.has_ends) return fmt::format("random={} has no low and high", d.name);
  if (!has_ends) return std::nullopt;
  const bool is_integers = d.distribution == Distribution::Integers;
  const Literal low = number(input, "low", is_integers ? kLeastDefault : -1);
  const Literal high = number(input, "high", is_integers ? kMostDefault : 1);
  if (!std::isfinite(as_double(low)) || !std::isfinite(as_double(high))) {
    return "low and high must be finite";
  }
  if (is_integers && (!is_whole(low) || !is_whole(high))) return "low and high must be whole";
  const bool in_order =
      is_integers ? as_int(low) <= as_int(high) : as_double(low) < as_double(high);
  if (!in_order) return "low must be below high";
  return std::nullopt;
}

std::vector<uint64_t> from_data(const Define& input, size_t count) {
  const auto& data = std::get<std::vector<Literal>>(attr(input, "data"));
  std::vector<uint64_t> result;
  result.reserve(count);
  for (const Literal& one : data) result.push_back(bits_at(one, input.dtype).value_or(0));
  if (result.size() == 1) result.assign(count, result[0]);
  return result;
}

std::vector<uint64_t> from_steps(const Define& input, size_t count) {
  const DType t = input.dtype;
  const Literal start = number(input, "start", 0);
  const Literal step = number(input, "step", 1);
  std::vector<uint64_t> result(count);
  if (uop::is_float(t)) {
    for (size_t i = 0; i < count; i++) {
      const double x = as_double(start) + static_cast<double>(i) * as_double(step);
      result[i] = uop::of_double(t, x).bits;
    }
    return result;
  }
  // Modulo 2^64 is enough: every type is at most as wide.
  const auto first = static_cast<uint64_t>(as_int(start));
  const auto by = static_cast<uint64_t>(as_int(step));
  for (size_t i = 0; i < count; i++) {
    result[i] = uop::of_int(t, uop::wrap(t, Int128{first + by * i})).bits;
  }
  return result;
}

std::vector<uint64_t> from_random(const Define& input, size_t count) {
  const DistributionRow& d = distribution(input);
  const bool is_integers = d.distribution == Distribution::Integers;
  const Literal low = number(input, "low", is_integers ? kLeastDefault : -1);
  const Literal high = number(input, "high", is_integers ? kMostDefault : 1);
  const auto seed = static_cast<uint64_t>(std::get<int64_t>(attr(input, "seed")));
  const Random random(d.distribution, input.dtype, seed, as_double(low), as_double(high),
                      is_integers ? as_int(low) : 0, is_integers ? as_int(high) : 0);
  std::vector<uint64_t> result(count);
  for (size_t i = 0; i < count; i++) result[i] = random.bits(i);
  return result;
}

}  // namespace

std::optional<std::string> contents_error(const Define& input) {
  const bool has_steps = has(input, "start") || has(input, "step");
  const int ways = int{has(input, "data")} + int{has_steps} + int{has(input, "random")};
  if (ways != 1) return "an input has either data, or start and step, or random";
  const bool is_random = has(input, "random");
  const bool has_options =
      has(input, "low") || has(input, "high") || std::get<int64_t>(attr(input, "seed")) != 0;
  if (has_options && !is_random) return "seed, low and high belong to random";
  if (is_random) return random_error(input);
  return std::nullopt;
}

Result<std::vector<uint64_t>> input_bits(const Define& input, int64_t count) {
  if (input.op != Op::Input) return Error{fmt::format("{} is no input", input.name)};
  if (auto trouble = contents_error(input)) return Error{*std::move(trouble)};
  if (count < 0 || count > kMostElements) {
    return Error{fmt::format("{} has {} elements", input.name, count)};
  }
  const auto n = static_cast<size_t>(count);
  if (has(input, "random")) return from_random(input, n);
  if (!has(input, "data")) return from_steps(input, n);
  auto result = from_data(input, n);
  if (result.size() == n) return result;
  return Error{fmt::format("{} has {} elements, {} are given", input.name, count, result.size())};
}

}  // namespace assay::tensor
