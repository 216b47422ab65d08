// Mutations of what one statement says, and of what stands around the program.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/uop/value.h"
#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/mutate.h"

namespace assay::fuzz {
namespace {

using tensor::AttrKind;
using tensor::AttrValue;
using tensor::Define;
using tensor::Family;
using tensor::Literal;
using tensor::Op;
using tensor::ResultType;
using tensor::Size;
using uop::DType;

// A define that fits, or null.
template <typename Fits>
Define* draw_define(Mutator& m, Fits fits) {
  std::vector<Define*> found;
  for (size_t i = 0; i < m.size(); i++) {
    Define* d = define_at(m.program, i);
    if (d != nullptr && fits(*d)) found.push_back(d);
  }
  return found.empty() ? nullptr : found[m.c.below(found.size())];
}

Size edge_size(Choices& c) {
  static constexpr int8_t kEdges[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64};
  return Size{kEdges[c.below(std::size(kEdges))], {}};
}

// A size as it was, or nearly.
Size other_size(Choices& c, const Size& s) {
  if (!s.is_number() || c.chance(1, 3)) return edge_size(c);
  switch (c.below(4)) {
    case 0: return Size{s.number + 1, {}};
    case 1: return Size{std::max<int64_t>(0, s.number - 1), {}};
    case 2: return Size{std::min<int64_t>(s.number * 2, 1 << 20), {}};
    default: return Size{s.number / 2, {}};
  }
}

void change_sizes(Choices& c, std::vector<Size>& sizes) {
  const uint64_t way = c.below(6);
  if (sizes.empty() || (way == 0 && sizes.size() < 5)) {
    const auto at = static_cast<ptrdiff_t>(c.below(sizes.size() + 1));
    sizes.insert(sizes.begin() + at, c.chance(1, 2) ? Size{1, {}} : edge_size(c));
  } else if (way == 1) {
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(c.below(sizes.size())));
  } else if (way == 2 && sizes.size() > 1) {
    const size_t i = c.below(sizes.size() - 1);
    std::swap(sizes[i], sizes[i + 1]);
  } else {
    Size& s = sizes[c.below(sizes.size())];
    s = other_size(c, s);
  }
}

// The shape that a statement says, where nothing else tells it; what follows is written anew.
bool change_shape(Mutator& m) {
  Define* d = draw_define(m, [](const Define& x) {
    const Family f = tensor::row(x.op).family;
    return f == Family::Source || x.op == Op::Reshape || x.op == Op::Expand ||
           x.op == Op::RandomBits || x.op == Op::RandomUniform;
  });
  if (d == nullptr) return false;
  if (d->op == Op::Reshape && d->shape.size() > 1 && m.c.chance(1, 2)) {
    // Two axes become one, or trade a factor: as many elements as before.
    const size_t i = m.c.below(d->shape.size() - 1);
    Size& a = d->shape[i];
    Size& b = d->shape[i + 1];
    if (!a.is_number() || !b.is_number()) return false;
    b.number *= a.number;
    a.number = 1;
    if (m.c.chance(1, 2)) d->shape.erase(d->shape.begin() + static_cast<ptrdiff_t>(i));
    return true;
  }
  change_sizes(m.c, d->shape);
  return true;
}

constexpr DType kTypes[] = {DType::F32, DType::I32, DType::F16, DType::BF16, DType::F64,
                            DType::U8,  DType::I8,  DType::I64, DType::U32,  DType::Bool,
                            DType::I16, DType::U16, DType::U64, DType::E4M3, DType::E5M2};

bool change_dtype(Mutator& m) {
  Define* d = draw_define(
      m, [](const Define& x) { return tensor::row(x.op).result == ResultType::Written; });
  if (d == nullptr) return false;
  d->dtype = kTypes[m.c.below(std::size(kTypes))];
  return true;
}

Literal edge_literal(Choices& c, DType t) {
  const uop::Value v = c.value(t);
  return tensor::literal_of(v.bits, t);
}

// A number where mistakes are: at the ends of the type, about zero and powers of two, special.
bool change_constant(Mutator& m) {
  struct Place {
    Literal* literal;
    DType type;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < m.size(); i++) {
    tensor::Statement& s = m.program.statements[i];
    if (auto* w = std::get_if<tensor::Write>(&s.what)) {
      if (w->value.is_literal()) {
        places.push_back({&w->value.literal, m.program.define(w->target).dtype});
      }
    }
    Define* d = define_at(m.program, i);
    if (d == nullptr) continue;
    for (tensor::Operand& o : d->operands) {
      if (o.is_literal()) places.push_back({&o.literal, d->dtype});
    }
    for (AttrValue& a : d->attrs) {
      if (auto* number = std::get_if<Literal>(&a)) places.push_back({number, d->dtype});
      auto* data = std::get_if<std::vector<Literal>>(&a);
      if (data != nullptr && !data->empty()) {
        places.push_back({&(*data)[m.c.below(data->size())], d->dtype});
      }
    }
  }
  if (places.empty()) return false;
  const Place& place = places[m.c.below(places.size())];
  *place.literal = edge_literal(m.c, place.type);
  return true;
}

// What is in an input: edges of its type, one number in all places, few numbers, another seed.
bool change_contents(Mutator& m) {
  Define* d = draw_define(m, [](const Define& x) { return x.op == Op::Input; });
  if (d == nullptr) return false;
  const tensor::OpRow& row = tensor::row(Op::Input);
  const auto attr = [&](std::string_view name) -> AttrValue& { return d->attrs[row.attr(name)]; };
  if (std::holds_alternative<std::string>(attr("random")) && m.c.chance(1, 3)) {
    attr("seed") = m.c.between(0, 1 << 16);
    return true;
  }
  d->attrs = tensor::default_attrs(Op::Input);
  const uint64_t way = m.c.below(4);
  if (way == 0) {
    attr("random") = std::string("nasty");
    attr("seed") = m.c.between(0, 1 << 16);
  } else if (way == 1) {
    attr("data") = std::vector<Literal>{edge_literal(m.c, d->dtype)};
  } else if (way == 2) {
    if (!std::ranges::all_of(d->shape, &Size::is_number)) return false;
    const auto count = element_count(d->shape, {});
    if (!count || *count < 1 || *count > 64) return false;
    std::vector<Literal> data;
    for (int64_t i = 0; i < *count; i++) data.push_back(edge_literal(m.c, d->dtype));
    attr("data") = std::move(data);
  } else {
    attr("random") = std::string(d->dtype == DType::Bool ? "nasty" : "integers");
    if (d->dtype != DType::Bool) {
      attr("low") = Literal{Literal::Kind::Int, uop::is_unsigned(d->dtype) ? 0 : -2, 0};
      attr("high") = Literal{Literal::Kind::Int, m.c.between(0, 3), 0};
    }
  }
  return true;
}

void change_slice(Choices& c, tensor::Slice& s) {
  switch (c.below(4)) {
    case 0: s.begin = other_size(c, s.begin); break;
    case 1: s.end = s.end ? std::optional<Size>() : std::optional<Size>(edge_size(c)); break;
    case 2: s.step = Size{c.between(1, 4), {}}; break;
    default:
      if (s.end) s.end = other_size(c, *s.end);
      break;
  }
}

std::vector<int64_t> draw_axes(Choices& c) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < 4; i++) {
    if (c.chance(1, 2)) axes.push_back(c.chance(1, 4) ? -1 - i : i);
  }
  for (size_t i = axes.size(); i > 1; i--) std::swap(axes[i - 1], axes[c.below(i)]);
  return axes;
}

// Another value of an attribute of this kind.
void change_value(Choices& c, const tensor::AttrRow& row, DType t, AttrValue& value) {
  const bool is_absent = std::holds_alternative<std::monostate>(value);
  if (row.optional && !is_absent && c.chance(1, 3)) {
    value = std::monostate{};
    return;
  }
  switch (row.kind) {
    case AttrKind::Axis: value = c.between(-3, 3); break;
    case AttrKind::Int: value = c.between(c.chance(1, 2) ? -2 : 0, 5); break;
    case AttrKind::Axes: value = draw_axes(c); break;
    case AttrKind::Size:
      value = is_absent ? edge_size(c) : other_size(c, std::get<Size>(value));
      break;
    case AttrKind::Sizes:
      if (is_absent) value = std::vector<Size>(c.below(3) + 1, Size{1, {}});
      change_sizes(c, std::get<std::vector<Size>>(value));
      break;
    case AttrKind::Bool: value = is_absent || !std::get<bool>(value); break;
    case AttrKind::Number: value = edge_literal(c, t); break;
    case AttrKind::Type: value = kTypes[c.below(std::size(kTypes))]; break;
    case AttrKind::Word: value = std::string(row.words[c.below(row.words.size())]); break;
    case AttrKind::Slices: {
      auto& slices = std::get<std::vector<tensor::Slice>>(value);
      if (slices.empty() || c.chance(1, 6)) slices.emplace_back();
      change_slice(c, slices[c.below(slices.size())]);
      break;
    }
    case AttrKind::Text:
    case AttrKind::Data: break;
  }
}

bool change_attribute_of(Mutator& m, bool of_views) {
  Define* d = draw_define(m, [&](const Define& x) {
    const tensor::OpRow& row = tensor::row(x.op);
    return x.op != Op::Input && !row.attrs.empty() && (row.family == Family::View) == of_views;
  });
  if (d == nullptr) return false;
  const tensor::OpRow& row = tensor::row(d->op);
  const size_t i = m.c.below(row.attrs.size());
  change_value(m.c, row.attrs[i], d->dtype, d->attrs[i]);
  return true;
}

bool change_attribute(Mutator& m) { return change_attribute_of(m, false); }
bool change_view(Mutator& m) { return change_attribute_of(m, true); }

// An op of the same family, which takes as many operands.
bool change_op(Mutator& m) {
  Define* d = draw_define(m, [](const Define& x) { return !x.operands.empty(); });
  if (d == nullptr) return false;
  const tensor::OpRow& row = tensor::row(d->op);
  std::vector<Op> others;
  for (const tensor::OpRow& r : tensor::all_ops()) {
    const bool fits = r.operands.size() == row.operands.size() &&
                      r.min_operands() <= d->operands.size() &&
                      d->operands.size() <= r.max_operands();
    const bool is_alike = r.family == row.family || m.c.chance(1, 16);
    if (r.op != d->op && r.op != Op::Copy && fits && is_alike) others.push_back(r.op);
  }
  if (others.empty() || d->op == Op::Copy) return false;
  const Op to = others[m.c.below(others.size())];
  std::vector<AttrValue> attrs = tensor::default_attrs(to);
  const tensor::OpRow& next = tensor::row(to);
  for (size_t i = 0; i < attrs.size(); i++) {  // what both have is kept
    for (size_t k = 0; k < row.attrs.size(); k++) {
      const bool is_same =
          row.attrs[k].name == next.attrs[i].name && row.attrs[k].kind == next.attrs[i].kind;
      if (is_same && row.attrs[k].kind != AttrKind::Word) attrs[i] = d->attrs[k];
    }
  }
  d->op = to;
  d->attrs = std::move(attrs);
  if (next.operands.empty() || d->operands.empty()) return false;
  for (size_t i = 0; i < d->operands.size(); i++) {
    const tensor::OperandRow& o = next.operands[std::min(i, next.operands.size() - 1)];
    if (d->operands[i].is_absent() && !o.optional) return false;
  }
  return true;
}

bool change_variable(Mutator& m) {
  std::vector<tensor::Bind*> binds;
  for (tensor::Statement& s : m.program.statements) {
    if (auto* b = std::get_if<tensor::Bind>(&s.what)) binds.push_back(b);
  }
  std::vector<tensor::Variable>& variables = m.program.variables;
  if (variables.empty()) return false;
  if (!binds.empty() && m.c.chance(1, 2)) {
    tensor::Bind& b = *binds[m.c.below(binds.size())];
    const tensor::Variable& v = variables[static_cast<size_t>(b.variable)];
    b.value = m.c.between(v.lo, v.hi);
  } else {
    tensor::Variable& v = variables[m.c.below(variables.size())];
    v.value = m.c.chance(1, 2) ? m.c.between(v.lo, v.hi) : m.c.pick({v.lo, v.hi});
  }
  return true;
}

constexpr Mutation kPartMutations[] = {
    {"shape", 10, change_shape},
    {"dtype", 8, change_dtype},
    {"constant", 8, change_constant},
    {"contents", 6, change_contents},
    {"attribute", 10, change_attribute},
    {"view", 8, change_view},
    {"op", 8, change_op},
    {"variable", 2, change_variable},
};

bool change_opts(Mutator& m) {
  m.x.opts = draw_opts(m.c);
  return true;
}

bool change_device(Mutator& m) {
  const std::vector<std::string>& devices = m.options.cases.devices;
  if (devices.empty()) return false;
  m.x.device = devices[m.c.below(devices.size())];
  return true;
}

bool change_profile(Mutator& m) {
  const std::vector<std::string>& profiles = m.options.cases.profiles;
  if (profiles.empty()) return false;
  const uint64_t way = m.c.below(profiles.size() + 1);
  m.x.profile = way == profiles.size() ? "" : profiles[way];
  return true;
}

bool change_seed(Mutator& m) {
  m.x.seed = 1 + m.c.below(1 << 16);
  return true;
}

constexpr Mutation kSettingMutations[] = {
    {"opts", 8, change_opts},
    {"device", 2, change_device},
    {"profile", 2, change_profile},
    {"seed", 2, change_seed},
};

}  // namespace

std::span<const Mutation> part_mutations() { return kPartMutations; }
std::span<const Mutation> setting_mutations() { return kSettingMutations; }

}  // namespace assay::fuzz
