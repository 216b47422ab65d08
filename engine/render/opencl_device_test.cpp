#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "engine/render/device_test.h"
#include "engine/uop/eval.h"
#include "engine/uop/walk.h"

// What the text of kernels does on real compilers: PoCL, and Oclgrind for a second opinion.
namespace assay::render {
namespace {

using codegen::SampleKernel;
using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Value;

Value value_at(DType t, const Bytes& bytes, size_t i) {
  const auto size = static_cast<size_t>(uop::bytes_of(t));
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size, size);
  if (uop::kind_of(t) != uop::Kind::Signed) return {t, bits};
  const int spare = 64 - uop::bits_of(t);
  return {t, static_cast<uint64_t>(static_cast<int64_t>(bits << spare) >> spare)};
}
void append_value(Bytes& bytes, Value v) {
  const auto* first = reinterpret_cast<const uint8_t*>(&v.bits);
  bytes.insert(bytes.end(), first, first + uop::bytes_of(v.dtype));
}
Bytes bytes_of_values(const std::vector<Value>& values) {
  Bytes bytes;
  for (const Value v : values) append_value(bytes, v);
  return bytes;
}

std::vector<Value> nasty_values(DType t) {
  std::vector<Value> values;
  if (t == DType::Bool) return {uop::of_bool(false), uop::of_bool(true)};
  if (uop::is_float(t)) {
    for (const char* text :
         {"0.0", "-0.0", "1.0", "-1.0", "0.1", "-2.5", "3.0", "1e-3", "inf", "-inf", "nan",
          "65504.0", "1048577.0", "-1048575.0", "0.3333333333333333"}) {
      values.push_back(*uop::value_from_text(t, text));
    }
    const uint64_t mantissa = uint64_t{1} << uop::format_of(t).mantissa_bits;
    for (const uint64_t bits : {uint64_t{1}, mantissa - 1, mantissa, mantissa + 1}) {
      values.push_back({t, bits});  // around the least normal number
    }
    return values;
  }
  for (const int64_t n : {0, 1, 2, 3, 5, 7, 100, -1, -2, -3, -100})
    values.push_back(uop::of_int(t, n));
  for (const int64_t n : {0, 1}) {
    values.push_back(uop::of_int(t, uop::min_int(t) + n));
    values.push_back(uop::of_int(t, uop::max_int(t) - n));
  }
  return values;
}

TEST_P(Device, LiteralsHaveTheirBits) {
  std::mt19937_64 random(1);
  std::vector<std::pair<DType, std::vector<Value>>> all;
  for (const DType t : {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32,
                        DType::U32, DType::I64, DType::U64, DType::F16, DType::F32, DType::F64}) {
    std::vector<Value> values = nasty_values(t);
    if (t == DType::F32) values.insert(values.end(), {{t, 0x7fc00001}, {t, 0xffc00000}});
    if (t == DType::F64)
      values.insert(values.end(), {{t, 0x7ff8000000000001}, {t, 0xfff8000000000000}});
    for (int i = 0; i < 60 && (t == DType::F32 || t == DType::F64); i++) {
      const uint64_t bits = random();
      const Value v = {t, t == DType::F32 ? bits >> 32 : bits};
      if (!is_nan(v)) values.push_back(v);
    }
    std::vector<Ref> stores;
    const Ref out = param(0, static_cast<int64_t>(values.size()), t);
    for (size_t i = 0; i < values.size(); i++) {
      stores.push_back(store(index(out, i32(static_cast<int64_t>(i))), g.constant(values[i])));
    }
    const auto size = values.size() * static_cast<size_t>(uop::bytes_of(t));
    kernel(sink(stores), {Bytes(size, 0xAA)});
    all.emplace_back(t, values);
  }
  run_launches(Build::Quick);
  for (size_t k = 0; k < all.size(); k++) {
    const auto& [t, values] = all[k];
    for (size_t i = 0; i < values.size(); i++) {
      const Value found = value_at(t, result(k), i);
      // vstore_half may write any NaN.
      if (t == DType::F16 && is_nan(values[i]) && is_nan(found)) continue;
      EXPECT_EQ(to_text(found), to_text(values[i])) << to_text(t);
    }
  }
}

// What may be asked of each type, as decompositions leave it: divisors that neither are zero nor
// overflow, and operands of div and mod that are not negative.
struct Question {
  std::string what;
  Ref term;   // over the variables a, b and c
  Ref meant;  // the same, where the term is a guarded one
};

std::vector<Question> questions(SampleKernel& k, DType t) {
  uop::Graph& g = k.g;
  const Ref a = g.variable("a", t);
  const Ref b = g.variable("b", t);
  const Ref c = g.variable("c", t);
  std::vector<Question> all;
  const auto ask = [&](Ref term) { all.push_back({std::string(to_text(term->op)), term, term}); };
  for (const Op op :
       {Op::Neg, Op::Not, Op::Recip, Op::Trunc, Op::Floor, Op::Ceil, Op::Round, Op::Sqrt}) {
    if (uop::info(op).over.has(t)) ask(g.alu(op, {a}));
  }
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::FDiv, Op::Max, Op::Min, Op::And, Op::Or,
                      Op::Xor, Op::Lt, Op::Eq, Op::Ne, Op::Shl, Op::Shr}) {
    const bool is_over = uop::info(op).typing == uop::Typing::Compare || uop::info(op).over.has(t);
    if (is_over) ask(g.alu(op, {a, b}));
  }
  if (t != DType::Bool) ask(g.alu(Op::Fma, {a, b, c}));
  ask(g.alu(Op::Where, {g.alu(Op::Lt, {a, b}), c, a}));
  for (const DType to :
       {DType::Bool, DType::I8, DType::U16, DType::I32, DType::U64, DType::F32, DType::F64}) {
    if (uop::is_float(t) && !uop::is_float(to) && to != DType::Bool) continue;
    all.push_back({"cast", g.make(Op::Cast, to, {a}), nullptr});
    all.back().meant = all.back().term;
  }
  if (!uop::is_int(t)) return all;
  const Ref one = g.constant(uop::one_of(t));
  const Ref zero = g.constant(uop::zero_of(t));
  Ref safe = g.alu(Op::Where, {g.alu(Op::Eq, {b, zero}), one, b});
  if (uop::kind_of(t) == uop::Kind::Signed) {
    const Ref least = g.alu(Op::Eq, {a, g.constant(uop::lowest(t))});
    const Ref minus = g.alu(Op::Eq, {b, g.constant(t, -1)});
    safe = g.alu(Op::Where, {g.alu(Op::And, {least, minus}), one, safe});
  }
  const Ref half = g.constant(uop::of_int(t, uop::max_int(t) / 2));
  const Ref low = g.alu(Op::And, {a, half});
  const Ref high = g.alu(Op::Max, {g.alu(Op::And, {b, half}), one});
  for (const Op op : {Op::TDiv, Op::TMod}) ask(g.alu(op, {a, safe}));
  for (const Op op : {Op::Div, Op::Mod}) ask(g.alu(op, {low, high}));
  return all;
}

bool agree(Value found, Value expected) {
  return found == expected || (uop::is_float(found.dtype) && is_nan(found) && is_nan(expected));
}

TEST_P(Device, ScalarFunctionsMeanWhatTheyMean) {
  const DType types[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16, DType::U16, DType::I32,
                         DType::U32,  DType::I64, DType::U64, DType::F32, DType::F64};
  struct Asked {
    Question question;
    std::vector<Value> a, b, c;
    size_t launch, slot;
  };
  std::vector<Asked> asked;
  for (const DType t : types) {
    const std::vector<Value> values = nasty_values(t);
    std::vector<Value> a;
    std::vector<Value> b;
    std::vector<Value> c;
    for (size_t i = 0; i < values.size(); i++) {
      for (size_t j = 0; j < values.size(); j++) {
        a.push_back(values[i]);
        b.push_back(values[j]);
        c.push_back(values[(i + 3 * j) % values.size()]);
      }
    }
    const auto n = static_cast<int64_t>(a.size());
    const std::vector<Question> all = questions(*this, t);
    const int first = static_cast<int>(all.size());
    const Ref r = range(0, n, AxisType::Loop);
    uop::Substitution map;
    const std::pair<const char*, int> inputs[] = {{"a", 0}, {"b", 1}, {"c", 2}};
    for (const auto& [name, slot] : inputs) {
      map[g.variable(name, t)] = load(index(param(first + slot, n, t), r));
    }
    std::vector<Ref> stores;
    std::vector<Bytes> buffers;
    for (size_t i = 0; i < all.size(); i++) {
      const DType type = all[i].term->dtype;
      stores.push_back(store(index(param(static_cast<int>(i), n, type), r),
                             uop::substitute(g, all[i].term, map)));
      buffers.emplace_back(static_cast<size_t>(n * uop::bytes_of(type)));
      asked.push_back({all[i], a, b, c, launches.size(), i});
    }
    for (const auto& column : {a, b, c}) buffers.push_back(bytes_of_values(column));
    kernel(sink({end(group(stores), {r})}), buffers);
  }
  run_launches(Build::Optimized);
  for (const Asked& q : asked) {
    uop::Evaluator evaluator(g, q.question.meant);
    const DType type = q.question.term->dtype;
    for (size_t i = 0; i < q.a.size(); i++) {
      std::vector<Value> leaves;
      for (const Ref leaf : evaluator.leaves()) {
        leaves.push_back(leaf->arg.name() == "a"   ? q.a[i]
                         : leaf->arg.name() == "b" ? q.b[i]
                                                   : q.c[i]);
      }
      const uop::Cell expected = evaluator.run(leaves);
      const Value found = value_at(type, result(q.launch, q.slot), i);
      if (!expected.defined()) continue;
      ASSERT_TRUE(agree(found, expected.value))
          << q.question.what << " of " << to_text(q.a[i].dtype) << " " << to_text(q.a[i]) << ", "
          << to_text(q.b[i]) << ", " << to_text(q.c[i]) << " is " << to_text(found) << ", expected "
          << to_text(expected.value) << "\n"
          << text(q.launch);
    }
  }
}

// Terms over x0 … x7, two of each type.
class Terms {
 public:
  Terms(uop::Graph& g, uint64_t seed) : g_(g), random_(seed) {
    for (const DType t : kTypes) {
      for (int i = 0; i < 2; i++) {
        const std::string name = "x" + std::to_string(variables.size());
        variables.push_back(g.variable(name, t));
        nodes_.push_back(variables.back());
      }
    }
  }

  Ref make(int size) {
    for (int i = 0; i < size; i++) nodes_.push_back(step());
    return nodes_.back();
  }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  Value value(DType t) {
    const std::vector<Value> values = nasty_values(t);
    if (below(2) == 0) return values[below(values.size())];
    if (t == DType::Bool) return uop::of_bool(below(2) == 0);
    if (uop::is_float(t)) return uop::of_double(t, static_cast<double>(below(4096)) / 64 - 32);
    return uop::of_int(t, static_cast<int64_t>(random_()));
  }

  std::vector<Ref> variables;

 private:
  static constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16, DType::U16,
                                     DType::I32,  DType::U32, DType::I64, DType::U64, DType::F32};

  Ref any(DType t) {
    // Recent nodes first, so that terms grow deep.
    for (size_t tries = 0; tries < 40; tries++) {
      const size_t back =
          below(below(4) == 0 ? nodes_.size() : std::min<size_t>(nodes_.size(), 12));
      const Ref u = nodes_[nodes_.size() - 1 - back];
      if (u->dtype == t) return u;
    }
    return below(2) == 0 ? g_.constant(value(t)) : variable(t);
  }
  Ref variable(DType t) {
    for (const Ref v : variables) {
      if (v->dtype == t && below(2) == 0) return v;
    }
    return g_.constant(value(t));
  }

  Ref step() {
    const DType t = kTypes[below(std::size(kTypes))];
    const Ref a = any(t);
    const Ref b = any(t);
    switch (below(5)) {
      case 0: return cast(t, a);
      case 1: {
        const Ref gate = any(DType::Bool);
        return g_.alu(Op::Where, {gate, a, b});
      }
      case 2: return g_.alu(below(2) == 0 ? Op::Lt : Op::Eq, {a, b});
      default: break;
    }
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or,
                                  Op::Xor, Op::Neg, Op::Not, Op::Shl, Op::Shr, Op::Fma};
    const Op op = kOps[below(std::size(kOps))];
    if (!uop::info(op).over.has(t)) return g_.alu(Op::Ne, {a, b});
    if (uop::info(op).max_sources == 1) return g_.alu(op, {a});
    if (op == Op::Fma) {
      const Ref c = any(t);
      return g_.alu(op, {a, b, c});
    }
    if (op != Op::Shl && op != Op::Shr) return g_.alu(op, {a, b});
    const auto amount = static_cast<int64_t>(below(static_cast<size_t>(uop::bits_of(t))));
    const Ref by = g_.constant(t, amount);
    return g_.alu(op, {a, by});
  }

  Ref cast(DType t, Ref a) {
    DType to = kTypes[below(std::size(kTypes))];
    if (t == DType::F32 && to != DType::Bool) to = DType::F32;
    if (to != t) return g_.make(Op::Cast, to, {a});
    if (t == DType::U32) return g_.make(Op::Bitcast, DType::F32, {a});
    if (t == DType::F32) return g_.make(Op::Bitcast, DType::I32, {a});
    if (t == DType::I8) return g_.make(Op::Bitcast, DType::U8, {a});
    if (t == DType::U16) return g_.make(Op::Bitcast, DType::I16, {a});
    return g_.alu(Op::Ne, {a, g_.constant(uop::one_of(t))});
  }

  uop::Graph& g_;
  std::mt19937_64 random_;
  std::vector<Ref> nodes_;
};

// Whether a NaN becomes bits on the way to u: which NaN it is, is for each device to say.
bool shows_nan_bits(uop::Graph& g, Ref u) {
  for (const Ref v : uop::toposort(g, u)) {
    if (v->op == Op::Bitcast && v->src[0]->dtype == DType::F32) return true;
  }
  return false;
}

TEST_P(Device, RandomTermsAreTheSameNumbers) {
  constexpr int kTerms = 16;
  constexpr int64_t kSamples = 24;
  struct Asked {
    Ref term;
    std::vector<std::vector<Value>> columns;
    std::vector<Ref> variables;
  };
  std::vector<Asked> asked;
  for (int k = 0; k < kTerms; k++) {
    Terms terms(g, static_cast<uint64_t>(k));
    const Ref term = terms.make(60);
    const Ref r = range(0, kSamples, AxisType::Loop);
    uop::Substitution map;
    std::vector<std::vector<Value>> columns;
    std::vector<Bytes> buffers = {
        Bytes(static_cast<size_t>(kSamples * uop::bytes_of(term->dtype)))};
    std::vector<Ref> used;
    for (const Ref v : uop::toposort(g, term)) {
      if (v->op != Op::Variable) continue;
      const int slot = static_cast<int>(buffers.size());
      map[v] = load(index(param(slot, kSamples, v->dtype), r));
      columns.emplace_back();
      for (int64_t i = 0; i < kSamples; i++) columns.back().push_back(terms.value(v->dtype));
      buffers.push_back(bytes_of_values(columns.back()));
      used.push_back(v);
    }
    const Ref out = index(param(0, kSamples, term->dtype), r);
    kernel(sink({end(store(out, uop::substitute(g, term, map)), {r})}), buffers);
    asked.push_back({term, columns, used});
  }
  run_launches(Build::Optimized);
  int compared = 0;
  for (size_t k = 0; k < asked.size(); k++) {
    uop::Evaluator evaluator(g, asked[k].term);
    ASSERT_EQ(evaluator.leaves(), asked[k].variables);
    if (shows_nan_bits(g, asked[k].term)) continue;
    for (size_t i = 0; i < static_cast<size_t>(kSamples); i++) {
      std::vector<Value> leaves;
      for (const auto& column : asked[k].columns) leaves.push_back(column[i]);
      const uop::Cell expected = evaluator.run(leaves);
      if (!expected.defined()) continue;
      const Value found = value_at(asked[k].term->dtype, result(k), i);
      ASSERT_TRUE(agree(found, expected.value))
          << to_text(found) << ", expected " << to_text(expected.value) << "\n"
          << text(k);
      compared++;
    }
  }
  EXPECT_GT(compared, kTerms * kSamples / 2);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Device, ::testing::Values("Portable", "Oclgrind"));

}  // namespace
}  // namespace assay::render
