#include "fuzz/programs/program_maker.h"

#include <cmath>
#include <string>

#include "engine/uop/value.h"

namespace assay::fuzz {

using tensor::Literal;
using tensor::Op;
using tensor::Size;
using tensor::SizeStep;

namespace {

struct TypeWeight {
  DType type;
  int weight;
};
constexpr TypeWeight kTypes[] = {
    {DType::F32, 36}, {DType::I32, 16}, {DType::F16, 5}, {DType::BF16, 4}, {DType::F64, 5},
    {DType::U8, 4},   {DType::I8, 3},   {DType::I64, 4}, {DType::U32, 4},  {DType::Bool, 4},
    {DType::I16, 2},  {DType::U16, 2},  {DType::U64, 2}, {DType::E4M3, 1}, {DType::E5M2, 1},
};

Literal whole(int64_t n) { return {Literal::Kind::Int, n, 0}; }
Literal real(double x) { return {Literal::Kind::Float, 0, x}; }

constexpr uint64_t kSeeds = 1 << 16;

}  // namespace

ProgramMaker::ProgramMaker(Choices& choices, const ProgramOptions& wanted)
    : c(choices), options(wanted) {
  const auto most = static_cast<size_t>(std::max(1, wanted.statements)) * 2 + 64;
  program_.statements.reserve(most);
  known_.reserve(most);
  if (wanted.edges > 0) focus_ = kTypes[c.below(std::size(kTypes))].type;
  if (!wanted.is_stateful || !c.chance(1, 8)) return;
  const int64_t lo = c.between(1, 2);
  const int64_t hi = lo + c.between(1, 6);
  program_.variables.push_back({"n", lo, hi, c.between(lo, hi), 0});
  if (c.chance(1, 4)) program_.variables.push_back({"m", 1, 5, c.between(1, 5), 0});
  for (const tensor::Variable& v : program_.variables) bound_.push_back(v.value);
}

ProgramMaker::ProgramMaker(Choices& choices, const ProgramOptions& wanted, tensor::Program program,
                           const std::vector<Known>& known, std::vector<int64_t> bound)
    : c(choices), options(wanted), program_(std::move(program)), bound_(std::move(bound)) {
  known_.reserve(known.size() + static_cast<size_t>(std::max(1, wanted.statements)) + 64);
  known_.insert(known_.end(), known.begin(), known.end());
}

DType ProgramMaker::type_in(TypeSet over) {
  if (options.only_floats && !(over & uop::kFloats).empty()) over = over & uop::kFloats;
  const bool is_even = seeks_edges();
  if (is_even && over.has(focus_) && c.chance(1, 2)) return focus_;
  const auto weight = [&](const TypeWeight& t) { return is_even ? 1 : t.weight; };
  int total = 0;
  for (const TypeWeight& t : kTypes) total += over.has(t.type) ? weight(t) : 0;
  auto at = static_cast<int>(c.below(static_cast<uint64_t>(total)));
  for (const TypeWeight& t : kTypes) {
    if (!over.has(t.type)) continue;
    at -= weight(t);
    if (at < 0) return t.type;
  }
  return DType::F32;
}

int64_t ProgramMaker::size() {
  static constexpr int8_t kSizes[] = {1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 11, 13, 16};
  if (c.chance(1, 40)) return 0;
  return kSizes[c.below(std::size(kSizes))];
}

Dims ProgramMaker::shape(size_t least, size_t most) {
  static constexpr uint8_t kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
  Dims result;
  const size_t rank = std::clamp<size_t>(kRanks[c.below(std::size(kRanks))], least, most);
  const int64_t all_alike = c.chance(1, 6) ? size() : -1;
  int64_t room = options.elements;
  for (size_t i = 0; i < rank; i++) {
    if (has_variable() && c.chance(1, 4)) {
      const int32_t v = a_variable();
      if (variable(v).hi <= room) {
        result.push(Dim{static_cast<int32_t>(bound(v)), v});
        room /= variable(v).hi;
        continue;
      }
    }
    const int64_t n = std::min(all_alike >= 0 ? all_alike : size(), room);
    result.push(n);
    room /= std::max<int64_t>(1, n);
  }
  return result;
}

const Known* ProgramMaker::any(TypeSet over) {
  const auto is_of = [&](const Known& k) { return over.has(k.dtype); };
  if (!has_room(2) || c.chance(15, 16)) {
    if (const Known* k = find(is_of)) return k;
  }
  return has_room(1) ? input(type_in(over), shape()) : nullptr;
}

Known* ProgramMaker::add(Op op, DType t, const Dims& shape,
                         std::initializer_list<Operand> operands) {
  return add(op, t, shape, std::vector<Operand>(operands));
}

Known* ProgramMaker::add(Op op, DType t, const Dims& shape, const std::vector<Operand>& operands) {
  ASSAY_CHECK(known_.size() < known_.capacity(), "a program of {} values", known_.size());
  const auto place = static_cast<int32_t>(program_.statements.size());
  Define d;
  d.name = "v" + std::to_string(place);
  d.dtype = t;
  d.op = op;
  d.shape.reserve(shape.rank());
  for (const Dim& dim : shape) d.shape.push_back(size_of(dim));
  d.operands = operands;
  d.attrs = tensor::default_attrs(op);
  Known k = {place, place, t, shape, 0, 0};
  settle(k, -HUGE_VAL, HUGE_VAL);
  k.is_special = false;
  k.depends = !shape.is_number();
  for (const Operand& o : operands) {
    if (o.value < 0) continue;
    const auto found = std::ranges::find(known_, o.value, &Known::value);
    k.is_exact = k.is_exact && found->is_exact;
    k.is_special = k.is_special || found->is_special;
    k.depends = k.depends || found->depends;
    k.is_away = found->is_away;
  }
  say(std::move(d));
  known_.push_back(k);
  return &known_.back();
}

void ProgramMaker::set(std::string_view attr, AttrValue value) {
  Define& d = last();
  d.attrs[tensor::row(d.op).attr(attr)] = std::move(value);
}

void ProgramMaker::retype(Known* result, DType t) {
  last().dtype = t;
  result->dtype = t;
}

void ProgramMaker::place(std::string_view device) { last().device = device; }

void ProgramMaker::say(decltype(tensor::Statement::what) what) {
  const auto line = program_.statements.size() + program_.variables.size() + 2;
  program_.statements.push_back({static_cast<int>(line), std::move(what)});
}

Literal ProgramMaker::number(DType t, double lo, double hi) {
  static constexpr double kOften[] = {0.5, 1, 2, 3, 0.25, 1.5, -1, -0.5, -2, 0, 4, -0.0, 0.1, -3};
  if (t == DType::Bool) return {Literal::Kind::Bool, c.chance(1, 2) ? 1 : 0, 0};
  if (!uop::is_float(t)) {
    const double least = std::max({lo, least_of(t), -1e18});
    const double most = std::min({hi, most_of(t), 1e18});
    const auto from = static_cast<int64_t>(std::ceil(std::max(least, std::min(most, -4.0))));
    const auto to = static_cast<int64_t>(std::floor(std::min(most, std::max(least, 9.0))));
    return whole(c.between(std::min(from, to), std::max(from, to)));
  }
  for (int i = 0; i < 4; i++) {
    const double x = kOften[c.below(std::size(kOften))];
    if (lo <= x && x <= hi)
      return c.chance(1, 3) && x == std::floor(x) && !std::signbit(x)
                 ? whole(static_cast<int64_t>(x))
                 : real(x);
  }
  const double from = std::max(lo, -100.0);
  const double to = std::min(hi, std::max(100.0, from));
  const auto sixteenths = static_cast<double>(c.between(0, 16));
  return real(std::clamp(from + (to - from) * sixteenths / 16, lo, hi));
}

// Writes contents between lo and hi into the input that was just added.
void ProgramMaker::fill_float(double lo, double hi, Known& k) {
  const uint64_t way = c.below(8);
  const bool has_whole = std::floor(hi) - std::ceil(lo) >= 1;
  if (way == 0) {
    set("data", std::vector<Literal>{number(k.dtype, lo, hi)});
    return;
  }
  if (way <= 3 && has_whole) {
    set("random", std::string("integers"));
    set("low", whole(static_cast<int64_t>(std::ceil(std::max(lo, -1e6)))));
    set("high", whole(static_cast<int64_t>(std::floor(std::min(hi, 1e6)))));
  } else if (way == 4 && lo <= -8 && hi >= 8) {
    set("random", std::string("normal"));
    settle(k, -10, 10);
  } else {
    set("random", std::string("uniform"));
    set("low", real(lo));
    set("high", real(hi));
  }
  set("seed", static_cast<int64_t>(c.below(kSeeds)));
}

void ProgramMaker::fill(DType t, double lo, double hi, Known& k) {
  lo = std::max(lo, least_of(t));
  hi = std::min(hi, most_of(t));
  settle(k, lo, hi);
  if (uop::is_float(t)) return fill_float(lo, hi, k);
  const auto from = static_cast<int64_t>(std::ceil(std::max(lo, -9e18)));
  const auto to = static_cast<int64_t>(std::floor(std::min(hi, 9e18)));
  if (c.chance(1, 8)) {
    set("data",
        std::vector<Literal>{t == DType::Bool ? Literal{Literal::Kind::Bool, c.between(from, to), 0}
                                              : whole(c.between(from, to))});
    return;
  }
  set("random", std::string("integers"));
  set("low", whole(from));
  set("high", whole(to));
  set("seed", static_cast<int64_t>(c.below(kSeeds)));
}

const Known* ProgramMaker::input(DType t, const Dims& shape, double lo, double hi) {
  Known* k = add(Op::Input, t, shape, {});
  fill(t, lo, hi, *k);
  return k;
}

const Known* ProgramMaker::input_beside(const Known& x, DType t, const Dims& shape, double lo,
                                        double hi) {
  if (!has_room(1) || !fits(shape)) return nullptr;
  Known* k = add(Op::Input, t, shape, {});
  fill(t, lo, hi, *k);
  k->is_away = x.is_away;
  if (x.is_away) place("sim:1");
  return k;
}

const Known* ProgramMaker::extremes(DType t, const Dims& shape) {
  Known* k = add(Op::Input, t, shape, {});
  set("random", std::string("nasty"));
  set("seed", static_cast<int64_t>(c.below(kSeeds)));
  settle(*k, -HUGE_VAL, HUGE_VAL);
  k->is_special = k->is_float();
  return k;
}

const Known* ProgramMaker::extremes_beside(const Known& x, DType t, const Dims& shape) {
  if (!has_room(1) || !fits(shape)) return nullptr;
  extremes(t, shape);
  known_.back().is_away = x.is_away;
  if (x.is_away) place("sim:1");
  return &known_.back();
}

const Known* ProgramMaker::input(DType t, const Dims& shape) {
  if (seeks_edges()) return extremes(t, shape);
  const uint64_t way = c.below(32);
  if (way > 8) {
    static constexpr double kEnds[] = {1, 1, 2, 2, 4, 8, 8, 16};
    const double hi = kEnds[c.below(std::size(kEnds))];
    return input(t, shape, c.chance(1, 3) ? 0.0 : -hi, hi);
  }
  if (way == 0) return extremes(t, shape);
  Known* k = add(Op::Input, t, shape, {});
  const auto n = static_cast<double>(shape.count());
  if (t == DType::Bool || way <= 2) {
    std::vector<Literal> data;
    for (int64_t i = 0; i < shape.count(); i++) data.push_back(number(t, -4, 9));
    if (data.size() > 16 || !shape.is_number()) data.resize(1, number(t, -4, 9));
    set("data", std::move(data));
    settle(*k, -4, 9);
  } else {
    const int64_t start = c.between(uop::is_unsigned(t) ? 0 : -3, 3);
    const int64_t step = c.between(uop::is_unsigned(t) ? 0 : -2, 3);
    set("start", whole(start));
    set("step", whole(step));
    const double end = static_cast<double>(start) + n * static_cast<double>(step);
    settle(*k, std::min<double>(static_cast<double>(start), end),
           std::max<double>(static_cast<double>(start), end));
  }
  return k;
}

}  // namespace assay::fuzz
