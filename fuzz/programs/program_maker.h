#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/tensor/program/program.h"
#include "fuzz/programs/program.h"
#include "oracles/choices.h"

namespace assay::fuzz {

using oracles::Choices;

using tensor::AttrValue;
using tensor::Define;
using tensor::Operand;
using uop::DType;
using uop::TypeSet;

// What an operand may be in most draws.
inline constexpr TypeSet kPlain = uop::kFloats | uop::kFixedInts;
inline constexpr TypeSet kAll = kPlain | uop::kBool;

// The size of an axis: a number, or a variable of the program with its value now.
struct Dim {
  int32_t now = 1;
  int32_t variable = -1;
  bool operator==(const Dim&) const = default;
};

// A small shape.
class Dims {
 public:
  static constexpr size_t kMost = 8;

  Dims() = default;
  Dims(std::initializer_list<int64_t> sizes) {
    for (const int64_t n : sizes) push(n);
  }

  size_t rank() const { return rank_; }
  Dim& operator[](size_t i) { return dims_[i]; }
  const Dim& operator[](size_t i) const { return dims_[i]; }
  const Dim* begin() const { return dims_.data(); }
  const Dim* end() const { return dims_.data() + rank_; }
  int64_t size(size_t i) const { return dims_[i].now; }
  Dim last() const { return dims_[rank_ - 1]; }

  void push(Dim d) {
    ASSAY_CHECK(rank_ < kMost, "a shape of more than {} axes", kMost);
    dims_[rank_++] = d;
  }
  void push(int64_t n) { push(Dim{static_cast<int32_t>(n), -1}); }
  void pop() { rank_--; }
  void erase(size_t i) {
    std::copy(dims_.begin() + static_cast<ptrdiff_t>(i) + 1, dims_.begin() + rank_,
              dims_.begin() + static_cast<ptrdiff_t>(i));
    rank_--;
  }
  void insert(size_t i, Dim d) {
    push(d);
    std::rotate(dims_.begin() + static_cast<ptrdiff_t>(i), dims_.begin() + rank_ - 1,
                dims_.begin() + rank_);
  }
  int64_t count() const {
    int64_t n = 1;
    for (const Dim& d : *this) n *= d.now;
    return n;
  }
  bool is_number() const {
    return std::ranges::all_of(*this, [](const Dim& d) { return d.variable < 0; });
  }
  bool operator==(const Dims& o) const { return std::ranges::equal(*this, o); }

 private:
  std::array<Dim, kMost> dims_{};
  uint8_t rank_ = 0;
};

// What is known of a value of the program.
struct Known {
  int32_t value;  // the place of its Define
  int32_t base;   // of the value whose storage it names
  DType dtype;
  Dims shape;
  double lo, hi;            // its elements lie between, but for those that are special
  bool is_exact = true;     // correct results agree in all bits: nothing was rounded
  bool is_special = false;  // there may be NaN and infinities
  bool is_gone = false;     // not to be used again
  bool depends = false;     // on what a variable is bound to
  bool is_away = false;     // on the second device

  size_t rank() const { return shape.rank(); }
  bool is_float() const { return uop::is_float(dtype); }
  // Lies between, with certainty.
  bool within(double least, double most) const { return !is_special && least <= lo && hi <= most; }
  bool apart_from_zero() const { return !is_special && (lo > 1e-3 || hi < -1e-3); }
};

// A program while it is made: its statements, and what is known of its values.
class ProgramMaker {
 public:
  ProgramMaker(Choices& choices, const ProgramOptions& options);
  // Goes on from a program of which this is known, its variables bound to `bound`. It has at most
  // options.statements statements.
  ProgramMaker(Choices& choices, const ProgramOptions& options, tensor::Program program,
               const std::vector<Known>& known, std::vector<int64_t> bound);

  Choices& c;
  const ProgramOptions& options;

  // Whether the program has room for this many statements more.
  bool has_room(int statements) const {
    return static_cast<int>(program_.statements.size()) + statements <= options.statements + 2;
  }
  // At the largest values of its variables.
  bool fits(const Dims& shape) const {
    int64_t n = 1;
    for (const Dim& d : shape) n *= d.variable < 0 ? d.now : variable(d.variable).hi;
    return n <= options.elements;
  }

  // A value that fits, mostly a late one; nullptr where a few tries find none. What is said to live
  // on the other device does not fit unless `like` does too.
  template <typename Fits>
  const Known* find(Fits fits_value) {
    if (known_.empty()) return nullptr;
    for (int i = 0; i < 10; i++) {
      const auto n = static_cast<uint64_t>(known_.size());
      const uint64_t back = c.chance(1, 2) ? c.below(n) : c.below(std::min<uint64_t>(n, 4));
      const Known& k = known_[static_cast<size_t>(n - 1 - back)];
      if (!k.is_gone && fits_value(k)) return &k;
    }
    return nullptr;
  }
  // A value over these types, or a new input.
  const Known* any(TypeSet over);
  const Known* any_float() { return any(uop::kFloats); }

  DType type_in(TypeSet over);
  // Whether this decision is one that seeks the ends of types (ProgramOptions::edges).
  bool seeks_edges() {
    return options.edges > 0 && c.chance(static_cast<uint64_t>(options.edges), 16);
  }
  // A shape of at least this rank and at most `most`.
  Dims shape(size_t least = 0, size_t most = 4);
  int64_t size();
  // An axis of a value, and how it may be written.
  size_t axis(const Known& x) { return static_cast<size_t>(c.below(x.rank())); }
  int64_t written(size_t axis, size_t rank) {
    const auto i = static_cast<int64_t>(axis);
    return c.chance(1, 4) ? i - static_cast<int64_t>(rank) : i;
  }

  // Storage of random contents between lo and hi, where the type holds them.
  const Known* input(DType t, const Dims& shape, double lo, double hi);
  // Contents as they come.
  const Known* input(DType t, const Dims& shape);
  const Known* input_beside(const Known& x, DType t, const Dims& shape, double lo, double hi);
  // Contents at the ends of the type, zeros, powers of two, and their neighbours.
  const Known* extremes(DType t, const Dims& shape);
  const Known* extremes_beside(const Known& x, DType t, const Dims& shape);

  // Adds `name: t[shape] = op(operands)`, with attributes as they are by default. The result is
  // known to be what its operands are, and on their device; set() writes an attribute of it.
  Known* add(tensor::Op op, DType t, const Dims& shape, std::initializer_list<Operand> operands);
  Known* add(tensor::Op op, DType t, const Dims& shape, const std::vector<Operand>& operands);
  void set(std::string_view attr, AttrValue value);
  // The result names the storage of x.
  static void view_of(Known* result, const Known& x) { result->base = x.base; }
  // The last value has another type, or another device.
  void retype(Known* result, DType t);
  void place(std::string_view device);

  static Operand of(const Known& k) { return {k.value, {}}; }
  static Operand absent() { return {-2, {}}; }
  static Operand of(const tensor::Literal& l) { return {-1, l}; }
  // A small number of the type between lo and hi.
  tensor::Literal number(DType t, double lo, double hi);

  void write();
  void write_to(const Known& target);
  void force();
  void bind();
  // Everything that is left to say.
  tensor::Program finish();
  // The program as it is.
  tensor::Program take() { return std::move(program_); }
  size_t size_now() const { return program_.statements.size(); }
  bool has_variable() const { return !program_.variables.empty(); }
  int32_t a_variable() { return static_cast<int32_t>(c.below(program_.variables.size())); }
  const tensor::Variable& variable(int32_t v) const {
    return program_.variables[static_cast<size_t>(v)];
  }
  int64_t bound(int32_t v) const { return bound_[static_cast<size_t>(v)]; }

 private:
  void fill(DType t, double lo, double hi, Known& k);
  void fill_float(double lo, double hi, Known& k);
  void say(decltype(tensor::Statement::what) what);
  Define& last() { return std::get<Define>(program_.statements.back().what); }
  void learn(const Known& target, const Known* source, double lo, double hi);

  tensor::Program program_;
  std::vector<Known> known_;
  std::vector<int64_t> bound_;
  bool must_force_ = false;
  DType focus_ = DType::F32;  // of decisions that seek edges half are for this type
};

tensor::Size size_of(Dim d);
tensor::Size size_of(int64_t n);
std::vector<tensor::Size> sizes_of(std::initializer_list<int64_t> sizes);
std::vector<tensor::Size> sizes_of(const std::vector<int64_t>& sizes);
// The largest finite number of a type, and the largest exponent of e that its functions take.
double most_of(DType t);
double least_of(DType t);
double exponent_of(DType t);
// The shape that both broadcast to; false where there is none.
bool broadcast(const Dims& a, const Dims& b, Dims& result);
// Makes what is known of k follow lo and hi at its type: integers wrap, floats overflow.
void settle(Known& k, double lo, double hi);
// The largest magnitude of what is in x.
inline double largest(const Known& x) { return std::max(std::fabs(x.lo), std::fabs(x.hi)); }

// The rows of each family of ops.
std::span<const Draw> unary_draws();
std::span<const Draw> binary_draws();
std::span<const Draw> view_draws();
std::span<const Draw> move_draws();
std::span<const Draw> reduce_draws();
std::span<const Draw> contract_draws();
std::span<const Draw> index_draws();

}  // namespace assay::fuzz
