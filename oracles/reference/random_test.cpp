#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "oracles/reference/array.h"
#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

// A counter and a mixer: the same draws everywhere.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}

  // From 0 to n - 1.
  int64_t below(int64_t n) {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t x = state_;
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return static_cast<int64_t>((x ^ x >> 31U) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_;
};

struct Value {
  std::string name;
  std::string_view dtype;
  Dims shape;
};

// Programs that any user could write: values near one, ops that keep them so.
class Generator {
 public:
  explicit Generator(uint64_t seed) : draw_(seed) {}

  std::string program(int statements) {
    for (int i = 0; i < 3; ++i) {
      Dims shape(1 + static_cast<size_t>(draw_.below(3)));
      for (int64_t& n : shape) n = 1 + draw_.below(6);
      define("f32", shape, fmt::format("input(random=normal, seed={})", draw_.below(1000)));
    }
    define("i32", {1 + draw_.below(5)}, "input(random=integers)");
    while (statements-- > 0) step();
    return text_;
  }

 private:
  const Value& define(std::string_view dtype, Dims shape, const std::string& op) {
    Value value{fmt::format("v{}", values_.size()), dtype, std::move(shape)};
    text_ += fmt::format("{}: {}[{}] = {}\n", value.name, dtype, fmt::join(value.shape, ", "), op);
    return values_.emplace_back(std::move(value));
  }

  Value any() { return values_[static_cast<size_t>(draw_.below(std::ssize(values_)))]; }
  Value any_float() {
    Value v = any();
    while (v.dtype != "f32") v = any();
    return v;
  }

  void step() {
    using Step = void (Generator::*)();
    constexpr Step kSteps[] = {&Generator::unary,   &Generator::binary,  &Generator::reduce,
                               &Generator::permute, &Generator::slice,   &Generator::select,
                               &Generator::lanes,   &Generator::product, &Generator::position,
                               &Generator::write};
    (this->*kSteps[draw_.below(std::ssize(kSteps))])();
  }

  void unary() {
    constexpr std::string_view kOps[] = {"sin",      "tanh", "sigmoid", "erf",  "atan",
                                         "softplus", "gelu", "relu",    "abs",  "square",
                                         "softsign", "silu", "neg",     "round"};
    const Value x = any_float();
    define("f32", x.shape, fmt::format("{}({})", kOps[draw_.below(std::ssize(kOps))], x.name));
  }

  void binary() {
    constexpr std::string_view kOps[] = {"add", "sub", "mul", "maximum", "minimum"};
    Value x = any();
    while (x.dtype == "bool") x = any();
    const bool by_number = draw_.below(2) == 0;
    define(x.dtype, x.shape,
           fmt::format("{}({}, {})", kOps[draw_.below(std::ssize(kOps))], x.name,
                       by_number ? "2" : x.name));
  }

  void reduce() {
    constexpr std::string_view kOps[] = {"sum", "mean", "max", "min", "logsumexp", "var"};
    const Value x = any_float();
    const int64_t axis = draw_.below(std::ssize(x.shape));
    Dims shape = x.shape;
    shape[static_cast<size_t>(axis)] = 1;
    const std::string_view op =
        x.shape[static_cast<size_t>(axis)] == 1 ? "sum" : kOps[draw_.below(std::ssize(kOps))];
    define("f32", shape, fmt::format("{}({}, axes=[{}], keep=true)", op, x.name, axis));
  }

  void permute() {
    const Value x = any();
    Dims shape(x.shape.rbegin(), x.shape.rend());
    define(x.dtype, shape, fmt::format("permute({})", x.name));
  }

  void slice() {
    const Value x = any();
    Dims shape = x.shape;
    const int64_t begin = draw_.below(shape[0]);
    shape[0] -= begin;
    define(x.dtype, shape, fmt::format("slice({}, at=[{}:])", x.name, begin));
  }

  void select() {
    const Value x = any_float();
    const std::string condition = define("bool", x.shape, fmt::format("lt({}, 0.3)", x.name)).name;
    define("f32", x.shape, fmt::format("where({}, {}, 1)", condition, x.name));
  }

  void lanes() {
    constexpr std::string_view kOps[] = {"softmax", "log_softmax", "cumsum", "cummax", "sort"};
    const Value x = any_float();
    define("f32", x.shape,
           fmt::format("{}({}, axis=-1)", kOps[draw_.below(std::ssize(kOps))], x.name));
  }

  void product() {
    const Value x = any_float();
    if (x.shape.size() != 2) return unary();
    const std::string t =
        define("f32", {x.shape[1], x.shape[0]}, fmt::format("permute({})", x.name)).name;
    const std::string y =
        define("f32", {x.shape[0], x.shape[0]}, fmt::format("matmul({}, {})", x.name, t)).name;
    define("f32", {x.shape[0], x.shape[0]}, fmt::format("tanh({})", y));
  }

  void position() {
    const Value x = any_float();
    define("i32", {1},
           fmt::format("argmax({}, axis=0, keep=true)",
                       define("f32", {count(x.shape)}, fmt::format("reshape({})", x.name)).name));
  }

  void write() {
    const Value x = any_float();
    const Value y = any_float();
    if (x.shape == y.shape) {
      text_ += fmt::format("{} := {}\n", x.name, y.name);
    } else {
      text_ += fmt::format("{} := 0.75\n", x.name);
    }
  }

  Draw draw_;
  std::vector<Value> values_;
  std::string text_;
};

TEST(RandomPrograms, AreJudgedNearlyEverywhere) {
  int64_t elements = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  int wholly_masked = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string program = Generator(seed).program(8);
    const Result<std::vector<Array>> values = evaluated(program);
    ASSERT_TRUE(values.ok()) << to_string(values.error()) << "\n" << program;
    int64_t known = 0;
    for (const Array& array : values.value()) {
      elements += std::ssize(array.elements);
      for (const Bounded& x : array.elements) {
        unspecified += static_cast<int64_t>(x.certainty == Certainty::Unspecified);
        ambiguous += static_cast<int64_t>(x.certainty == Certainty::Ambiguous);
        known += static_cast<int64_t>(x.is_known());
      }
    }
    wholly_masked += static_cast<int>(known == 0);
  }
  EXPECT_GT(elements, 50000);
  EXPECT_EQ(unspecified, 0);
  EXPECT_LT(ambiguous, elements / 50) << elements;
  EXPECT_LE(wholly_masked, 10);
}

}  // namespace
}  // namespace assay::reference
