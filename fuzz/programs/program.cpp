#include "fuzz/programs/program.h"

#include <cmath>
#include <ranges>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Literal;
using tensor::Op;

constexpr TypeSet kAll = uop::kFloats | uop::kFixedInts | uop::kBool;

bool draw_input(ProgramMaker& m, Op) {
  const DType t = m.type_in(kAll);
  m.input(t, m.shape());
  return true;
}

bool draw_full(ProgramMaker& m, Op op) {
  const DType t = m.type_in(kAll);
  const Literal l = m.number(t, -4, 9);
  const bool is_extreme = uop::is_float(t) && m.c.chance(1, 24);
  Known* y = m.add(op, t, m.shape(), {});
  settle(*y, -4, 9);
  m.set("value",
        is_extreme ? Literal{Literal::Kind::Float, 0, m.c.pick({HUGE_VAL, -HUGE_VAL, std::nan("")})}
                   : l);
  y->is_special = is_extreme;
  return true;
}

bool draw_iota(ProgramMaker& m, Op op) {
  const DType t = m.type_in(uop::kFloats | uop::kFixedInts);
  Dims shape = m.shape(1, 1);
  const int64_t least = uop::is_unsigned(t) ? 0 : -4;
  const int64_t start = m.c.chance(1, 2) ? 0 : m.c.between(least, 9);
  const int64_t step = m.c.chance(1, 2) ? 1 : m.c.between(least, 3);
  const auto n = static_cast<double>(shape.count());
  const double end = static_cast<double>(start) + n * static_cast<double>(step);
  Known* y = m.add(op, t, shape, {});
  settle(*y, std::min<double>(static_cast<double>(start), end),
         std::max<double>(static_cast<double>(start), end));
  y->is_exact = !y->is_float() || uop::bits_of(t) >= 32;
  if (start != 0) m.set("start", Literal{Literal::Kind::Int, start, 0});
  if (step != 1) m.set("step", Literal{Literal::Kind::Int, step, 0});
  return true;
}

// What nobody wrote is written before it is read, and rarely only in part.
bool draw_undefined(ProgramMaker& m, Op op) {
  if (!m.options.is_stateful || !m.has_room(2)) return false;
  const DType t = m.type_in(kAll);
  Known* y = m.add(op, t, m.shape(), {});
  settle(*y, -4, 9);
  m.write_to(*y);
  return true;
}

bool draw_threefry(ProgramMaker& m, Op op) {
  const Known* x = m.find([](const Known& k) { return k.dtype == DType::U64; });
  if (x == nullptr) {
    if (!m.has_room(2)) return false;
    x = m.input(DType::U64, m.shape(), 0, 1e6);
  }
  const Literal key = {Literal::Kind::Int, m.c.between(0, 1000), 0};
  Known* y = m.add(op, DType::U64, x->shape, {m.of(*x), m.of(key)});
  settle(*y, 0, most_of(DType::U64));
  return true;
}

bool draw_random(ProgramMaker& m, Op op) {
  const bool is_bits = op == Op::RandomBits;
  Dims shape = m.shape(1, 3);
  if (!shape.is_number()) return false;
  Known* y = m.add(op, is_bits ? DType::U32 : m.type_in(uop::kFloats), shape, {});
  settle(*y, 0, is_bits ? most_of(DType::U32) : 1);
  m.set("seed", m.c.between(0, 1000));
  return true;
}

constexpr Draw kSources[] = {
    {Op::Input, 30, draw_input},
    {Op::Full, 10, draw_full},
    {Op::Iota, 6, draw_iota},
    {Op::Undefined, 2, draw_undefined},
    {Op::Threefry, 3, draw_threefry},
    {Op::RandomBits, 3, draw_random},
    {Op::RandomUniform, 3, draw_random},
};

std::vector<Draw> joined_draws() {
  std::vector<Draw> rows;
  const std::span<const Draw> parts[] = {kSources,         unary_draws(), binary_draws(),
                                         view_draws(),     move_draws(),  reduce_draws(),
                                         contract_draws(), index_draws()};
  for (const auto part : parts) rows.insert(rows.end(), part.begin(), part.end());
  std::ranges::sort(rows, {}, &Draw::op);
  ASSAY_CHECK(rows.size() == static_cast<size_t>(tensor::kOpCount), "{} of {} ops are drawn",
              rows.size(), tensor::kOpCount);
  for (size_t i = 0; i < rows.size(); i++) {
    ASSAY_CHECK(rows[i].op == static_cast<Op>(i), "{} is not drawn", tensor::row(Op(i)).text);
  }
  return rows;
}

// Each row as often as it weighs.
std::vector<uint8_t> weighted(std::initializer_list<std::span<const Draw>> parts) {
  std::vector<uint8_t> result;
  for (const Draw& d : parts | std::views::join) {
    result.insert(result.end(), static_cast<size_t>(d.weight), static_cast<uint8_t>(d.op));
  }
  return result;
}

// The rows of ops whose results differ by width and by sign where numbers are at the ends of types.
std::vector<Draw> edge_draws() {
  constexpr Op kOps[] = {Op::Cast, Op::Bitcast, Op::Neg, Op::Abs, Op::Add,  Op::Sub,     Op::Mul,
                         Op::IDiv, Op::Mod,     Op::Shl, Op::Shr, Op::Lt,   Op::Le,      Op::Gt,
                         Op::Ge,   Op::Minimum, Op::Max, Op::Min, Op::Clip, Op::Maximum, Op::Sum};
  std::vector<Draw> rows;
  for (const Draw& d : all_draws()) {
    if (std::ranges::find(kOps, d.op) != std::end(kOps)) rows.push_back(d);
  }
  return rows;
}

void draw_op(ProgramMaker& m) {
  static const std::vector<uint8_t> all = weighted({all_draws()});
  static const std::vector<uint8_t> edges = weighted({std::span<const Draw>(edge_draws())});
  static const std::vector<uint8_t> folds = weighted({reduce_draws(), contract_draws()});
  const bool is_fold =
      m.options.folds > 0 && m.c.chance(static_cast<uint64_t>(m.options.folds), 16);
  const std::vector<uint8_t>& rows = is_fold ? folds : m.seeks_edges() ? edges : all;
  for (int i = 0; i < 20; i++) {
    const Draw& d = all_draws()[rows[m.c.below(rows.size())]];
    if (d.draw(m, d.op)) return;
  }
  draw_input(m, Op::Input);
}

}  // namespace

std::span<const Draw> all_draws() {
  static const std::vector<Draw> rows = joined_draws();
  return rows;
}

void draw_statement(ProgramMaker& m) {
  const uint64_t way = m.options.is_stateful ? m.c.below(100) : 100;
  if (way < 10) {
    m.write();
  } else if (way < 17) {
    m.force();
  } else if (way < 20 && m.has_variable()) {
    m.bind();
  } else {
    draw_op(m);
  }
}

tensor::Program make_program(Choices& choices, const ProgramOptions& options) {
  ProgramMaker m(choices, options);
  draw_input(m, Op::Input);
  while (static_cast<int>(m.size_now()) < options.statements) draw_statement(m);
  return m.finish();
}

}  // namespace assay::fuzz
