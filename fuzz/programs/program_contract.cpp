#include <cmath>
#include <string_view>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Op;

// Products of x and y summed n at a time, at the type of x.
bool settle_products(Known* z, const Known& x, double of_y, int64_t n) {
  const double most = largest(x) * of_y * static_cast<double>(n);
  z->is_exact = z->is_exact && !z->is_float();
  settle(*z, -most, most);
  return true;
}

bool overflows(const Known& x, double of_y, int64_t n) {
  return x.is_float() && !(largest(x) * of_y * static_cast<double>(n) < most_of(x.dtype) / 2);
}

// Floats below f32 mostly accumulate in f32; said rarely.
void set_accumulator(ProgramMaker& m, DType t) {
  if (!m.c.chance(1, 8)) return;
  if (uop::is_float(t)) m.set("acc", t == DType::F64 ? DType::F64 : DType::F32);
}

// A value with numbers for sizes, at least `least` axes and something in them.
const Known* plain(ProgramMaker& m, TypeSet over, size_t least, size_t most) {
  const auto fits = [&](const Known& k) {
    return over.has(k.dtype) && k.rank() >= least && k.rank() <= most && k.shape.is_number() &&
           k.shape.count() > 0 && !k.is_special;
  };
  if (const Known* x = m.find(fits)) return x;
  if (!m.has_room(3)) return nullptr;
  const Known* x = m.input(m.type_in(over), m.shape(least, most));
  return fits(*x) ? x : nullptr;
}

bool draw_matmul(ProgramMaker& m, Op op) {
  const Known* x = plain(m, kPlain, 1, 4);
  if (x == nullptr) return false;
  const int64_t k = x->shape.last().now;
  const auto fits = [&](const Known& w) {
    if (w.dtype != x->dtype || w.is_away != x->is_away || w.is_special) return false;
    return w.rank() == 1 ? w.shape[0] == x->shape.last()
                         : w.rank() == 2 && w.shape[0] == x->shape.last() && w.shape.is_number();
  };
  const Known* w = m.c.chance(1, 2) ? m.find(fits) : nullptr;
  if (w == nullptr) {
    Dims shape = {k};
    if (m.c.chance(5, 6)) shape.push(m.c.between(1, 5));
    if (shape.rank() == 2 && x->rank() > 2 && m.c.chance(1, 3)) shape.insert(0, x->shape[0]);
    if (shape.rank() == 3 && x->rank() == 4) shape.insert(1, Dim{1, -1});
    w = m.input_beside(*x, x->dtype, shape, uop::is_unsigned(x->dtype) ? 0 : -2, 2);
  }
  if (w == nullptr || overflows(*x, largest(*w), k)) return false;
  Dims to = x->shape;
  to.pop();
  if (w->rank() >= 2) to.push(w->shape.last());
  if (!m.fits(to)) return false;
  Known* y = m.add(op, x->dtype, to, {m.of(*x), m.of(*w)});
  set_accumulator(m, x->dtype);
  return settle_products(y, *x, largest(*w), k);
}

// Letters before the arrow are operands; a dot stands for "...".
constexpr std::string_view kEquations[] = {
    "ij->ji",       "ij->",      "ii->i",       "ii->",         "i,j->ij",   "ij,ij->i",
    "bij,bjk->bik", "ij,jk->ik", ".ij,jk->.ik", "ij,jk,kl->il", "ij,kj->ik", "ijk->kij",
    "ij,j->i",      "i,i->",     ".i,.i->.",    "ijj->ij",
};

// "..." for the dot.
std::string written_out(std::string_view equation) {
  std::string result;
  for (const char c : equation) {
    if (c == '.') {
      result += "...";
    } else {
      result += c;
    }
  }
  return result;
}

bool draw_einsum(ProgramMaker& m, Op op) {
  if (!m.has_room(2)) return false;
  const std::string_view equation = kEquations[m.c.below(std::size(kEquations))];
  const DType t = m.type_in(kPlain);
  std::array<int32_t, 128> sizes{};
  for (int32_t& n : sizes) n = static_cast<int32_t>(m.c.between(1, 4));
  const double most = uop::bits_of(t) == 8 && uop::is_float(t) ? 1 : 2;
  std::vector<Operand> operands;
  Dims shape;
  bool is_result = false;
  for (const char c : equation) {
    if (c == ',' || c == '-') {
      const Known* x = m.find([&](const Known& k) {
        return k.dtype == t && k.shape == shape && !k.is_away && k.within(-most, most);
      });
      if (x == nullptr && !m.has_room(2)) return false;
      if (x == nullptr) x = m.input(t, shape, uop::is_unsigned(t) ? 0 : -most, most);
      operands.push_back(m.of(*x));
      shape = {};
    } else if (c == '>') {
      is_result = true;
    } else {
      shape.push(Dim{sizes[static_cast<size_t>(c)], -1});
    }
  }
  ASSAY_CHECK(is_result, "{} has no result", equation);
  if (!m.fits(shape)) return false;
  Known* y = m.add(op, t, shape, operands);
  m.set("equation", written_out(equation));
  y->is_exact = !y->is_float();
  const double n = std::pow(most, operands.size()) * 64;
  settle(*y, -n, n);
  y->is_special = false;
  return true;
}

struct Window {
  size_t axes;  // that it runs over
  std::vector<int64_t> size, stride, dilation, padding;
  bool has_stride, has_dilation, has_padding;
};

// Windows over the last axes of a value, which all have room for one.
bool window(ProgramMaker& m, const Known& x, size_t axes, Window& w) {
  w.axes = axes;
  w.has_stride = m.c.chance(1, 2);
  w.has_dilation = m.c.chance(1, 4);
  w.has_padding = m.c.chance(1, 2);
  for (size_t i = 0; i < axes; i++) {
    const int64_t n = x.shape.size(x.rank() - axes + i);
    const int64_t size = m.c.between(1, std::min<int64_t>(3, n));
    const int64_t dilation = w.has_dilation && (size - 1) * 2 < n ? m.c.between(1, 2) : 1;
    w.size.push_back(size);
    w.stride.push_back(w.has_stride ? m.c.between(1, 3) : 1);
    w.dilation.push_back(dilation);
    w.padding.push_back(w.has_padding ? m.c.between(0, size - 1) : 0);
    w.padding.push_back(w.has_padding ? m.c.between(0, size - 1) : 0);
  }
  return true;
}

void set_window(ProgramMaker& m, const Window& w) {
  if (w.has_stride) m.set("stride", sizes_of(w.stride));
  if (w.has_dilation) m.set("dilation", sizes_of(w.dilation));
  if (w.has_padding) m.set("padding", sizes_of(w.padding));
}

// What a convolution is of: [n, c, d...], mostly made for it.
const Known* picture(ProgramMaker& m) {
  const auto fits = [&](const Known& k) {
    return kPlain.has(k.dtype) && (k.rank() == 3 || k.rank() == 4) && k.shape.is_number() &&
           k.shape.count() > 0 && !k.is_special && k.shape.size(1) <= 6;
  };
  if (const Known* x = m.find(fits)) return x;
  if (!m.has_room(3)) return nullptr;
  Dims shape = {m.c.between(1, 2), m.c.between(1, 4), m.c.between(1, 6)};
  if (m.c.chance(1, 2)) shape.push(m.c.between(1, 5));
  if (!m.fits(shape)) return nullptr;
  return m.input(m.type_in(kPlain), shape);
}

bool draw_conv(ProgramMaker& m, Op op) {
  const Known* x = picture(m);
  Window w;
  if (x == nullptr || !m.has_room(2) || !window(m, *x, x->rank() - 2, w)) return false;
  const int64_t c = x->shape.size(1);
  const int64_t groups = m.c.chance(1, 2) ? 1 : (c % 2 == 0 && m.c.chance(1, 2) ? 2 : c);
  const int64_t out = groups * m.c.between(1, 3);
  const bool is_transposed = op == Op::ConvTranspose;
  Dims weights = is_transposed ? Dims{c, out / groups} : Dims{out, c / groups};
  Dims to = {x->shape.size(0), out};
  std::vector<int64_t> extra;
  int64_t folded = is_transposed ? c : c / groups;
  for (size_t i = 0; i < w.axes; i++) {
    const int64_t n = x->shape.size(i + 2);
    const int64_t reach = w.dilation[i] * (w.size[i] - 1) + 1;
    const int64_t padding = w.padding[2 * i] + w.padding[2 * i + 1];
    extra.push_back(m.c.chance(1, 4) ? m.c.between(0, w.stride[i] - 1) : 0);
    const int64_t size = is_transposed ? (n - 1) * w.stride[i] + reach - padding + extra[i]
                                       : (n + padding - reach) / w.stride[i] + 1;
    if (size <= 0 || n + padding < reach) return false;
    to.push(size);
    weights.push(w.size[i]);
    folded *= w.size[i];
  }
  if (!m.fits(to) || overflows(*x, 1, 2 * folded)) return false;
  const double least = uop::is_unsigned(x->dtype) ? 0 : -1;
  const Known* k = m.input_beside(*x, x->dtype, weights, least, 1);
  const bool has_bias = k != nullptr && m.has_room(2) && m.c.chance(1, 3);
  const Known* b = has_bias ? m.input_beside(*x, x->dtype, Dims{out}, least, 1) : nullptr;
  if (k == nullptr) return false;
  Known* y = m.add(op, x->dtype, to, {m.of(*x), m.of(*k), b != nullptr ? m.of(*b) : m.absent()});
  set_window(m, w);
  if (groups != 1) m.set("groups", groups);
  if (is_transposed && std::ranges::any_of(extra, [](int64_t n) { return n != 0; })) {
    m.set("output_padding", sizes_of(extra));
  }
  set_accumulator(m, x->dtype);
  return settle_products(y, *x, 1, 2 * folded + 1);
}

// How many windows there are; with `ceil`, those too that only start inside.
int64_t windows(int64_t n, int64_t low, int64_t high, int64_t reach, int64_t stride, bool ceil) {
  const int64_t rest = n + low + high - reach;
  if (rest < 0) return 0;
  int64_t result = rest / stride + 1;
  if (ceil && rest % stride != 0 && result * stride < n + low) result++;
  return result;
}

bool draw_pool(ProgramMaker& m, Op op) {
  const TypeSet over = op == Op::AvgPool ? uop::kFloats : kPlain;
  const Known* x = plain(m, over, 1, 4);
  Window w;
  if (x == nullptr || !window(m, *x, 1 + m.c.below(std::min<size_t>(2, x->rank())), w)) {
    return false;
  }
  const bool ceil = m.c.chance(1, 4);
  Dims to = x->shape;
  for (size_t i = 0; i < w.axes; i++) {
    const size_t axis = x->rank() - w.axes + i;
    const int64_t stride = w.has_stride ? w.stride[i] : w.size[i];
    const int64_t reach = w.dilation[i] * (w.size[i] - 1) + 1;
    const int64_t n =
        windows(x->shape.size(axis), w.padding[2 * i], w.padding[2 * i + 1], reach, stride, ceil);
    if (n <= 0) return false;
    to[axis].now = static_cast<int32_t>(n);
  }
  if (!m.fits(to)) return false;
  Known* y = m.add(op, x->dtype, to, {m.of(*x)});
  m.set("size", sizes_of(w.size));
  set_window(m, w);
  if (ceil) m.set("ceil", true);
  const bool counts = op != Op::AvgPool || !m.c.chance(1, 3);
  if (!counts) m.set("count_padding", false);
  y->is_exact = y->is_exact && op == Op::MaxPool;
  settle(*y, std::min(x->lo, 0.0), std::max(x->hi, 0.0));
  y->is_special = w.has_padding || w.has_dilation || ceil;  // a window may hold nothing
  return true;
}

bool draw_attention(ProgramMaker& m, Op op) {
  const Known* q = plain(m, uop::kFloats, 2, 4);
  if (q == nullptr || !q->within(-8, 8) || uop::bits_of(q->dtype) == 8) return false;
  if (!m.has_room(4)) return false;
  const int64_t rows = q->shape.size(q->rank() - 2);
  const bool causal = m.c.chance(1, 3);
  const int64_t columns = causal ? rows : m.c.between(1, 5);
  Dims keys = q->shape;
  keys[keys.rank() - 2].now = static_cast<int32_t>(columns);
  Dims to = q->shape;
  if (!m.fits(keys)) return false;
  const Known* k = m.input_beside(*q, q->dtype, keys, -2, 2);
  const Known* v = m.c.chance(1, 3) ? k : m.input_beside(*q, q->dtype, keys, -2, 2);
  if (k == nullptr || v == nullptr) return false;
  const bool has_mask = !causal && m.has_room(2) && m.c.chance(1, 3);
  const Known* mask = has_mask ? m.input_beside(*q, q->dtype, Dims{rows, columns}, -2, 2) : nullptr;
  Known* y = m.add(op, q->dtype, to,
                   {m.of(*q), m.of(*k), m.of(*v), mask != nullptr ? m.of(*mask) : m.absent()});
  if (causal) m.set("causal", true);
  if (m.c.chance(1, 3)) m.set("scale", tensor::Literal{tensor::Literal::Kind::Float, 0, 0.5});
  set_accumulator(m, q->dtype);
  y->is_exact = false;
  settle(*y, -2, 2);
  return true;
}

constexpr Draw kContracts[] = {
    {Op::MatMul, 10, draw_matmul},      {Op::Einsum, 6, draw_einsum},
    {Op::Conv, 7, draw_conv},           {Op::ConvTranspose, 4, draw_conv},
    {Op::Attention, 5, draw_attention}, {Op::MaxPool, 5, draw_pool},
    {Op::AvgPool, 4, draw_pool},
};

}  // namespace

std::span<const Draw> contract_draws() { return kContracts; }

}  // namespace assay::fuzz
