// What shrinking tries of parts of statements.
#include <algorithm>
#include <functional>
#include <utility>

#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/statement.h"
#include "fuzz/shrink/shrink.h"

namespace assay::fuzz {
namespace {

using tensor::AttrValue;
using tensor::Define;
using tensor::Literal;
using tensor::Op;
using tensor::Program;
using tensor::Size;
using uop::DType;

template <typename Use>
void for_each_size_of(Program& p, Use use) {
  for (size_t i = 0; i < p.statements.size(); i++) {
    if (Define* d = define_at(p, i)) for_each_size(*d, use);
  }
}

// Sizes that are said with variables are numbers, as they are at first.
void try_variables(Shrinking& s) {
  if (s.program().variables.empty()) return;
  Program p = s.program();
  std::vector<int64_t> values;
  for (const tensor::Variable& v : p.variables) values.push_back(v.value);
  for_each_size_of(p, [&](Size& size) {
    if (!size.is_number()) size = Size{evaluate(size, values).value_or(0), {}};
  });
  p.variables.clear();
  std::vector<char> is_kept(p.statements.size(), 1);
  for (size_t i = 0; i < is_kept.size(); i++) {
    is_kept[i] = std::holds_alternative<tensor::Bind>(p.statements[i].what) ? 0 : 1;
  }
  keep_only(p, is_kept);
  s.takes(std::move(p));
}

// One number in all places where it is a size, then each source's own.
void try_sizes(Shrinking& s) {
  std::vector<int64_t> sizes;
  Program copy = s.program();
  for_each_size_of(copy, [&](Size& size) {
    if (size.is_number() && size.number > 1) sizes.push_back(size.number);
  });
  std::ranges::sort(sizes, std::greater());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int64_t n : sizes) {
    for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{3}, n / 2}) {
      if (to >= n) continue;
      Program p = s.program();
      for_each_size_of(p, [&](Size& size) {
        if (size.is_number() && size.number == n) size.number = to;
      });
      if (s.takes(std::move(p))) break;
    }
  }
  for (size_t i = 0; i < s.program().statements.size(); i++) {
    for (size_t axis = 0;; axis++) {
      const Define* d = i < s.program().statements.size() ? define_at(s.program(), i) : nullptr;
      if (d == nullptr || axis >= d->shape.size()) break;
      const Size size = d->shape[axis];
      for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{3}}) {
        if (!size.is_number() || to >= size.number) continue;
        Program p = s.program();
        define_at(p, i)->shape[axis].number = to;
        if (s.takes(std::move(p))) break;
      }
    }
  }
}

void try_axes(Shrinking& s) {
  for (size_t i = 0; i < s.program().statements.size(); i++) {
    for (size_t axis = 8; axis-- > 0;) {
      const Define* d = i < s.program().statements.size() ? define_at(s.program(), i) : nullptr;
      if (d == nullptr || axis >= d->shape.size()) continue;
      Program p = s.program();
      auto& shape = define_at(p, i)->shape;
      shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
      s.takes(std::move(p));
    }
  }
}

void try_types(Shrinking& s) {
  for (const DType to : {DType::F32, DType::I32}) {
    Program p = s.program();
    for (size_t i = 0; i < p.statements.size(); i++) {
      Define* d = define_at(p, i);
      const bool suits =
          d != nullptr && d->dtype != DType::Bool && uop::is_float(d->dtype) == uop::is_float(to);
      if (suits) d->dtype = to;
    }
    s.takes(std::move(p));
    for (size_t i = 0; i < s.program().statements.size(); i++) {
      const Define* d = define_at(s.program(), i);
      if (d == nullptr || d->dtype == to) continue;
      p = s.program();
      define_at(p, i)->dtype = to;
      s.takes(std::move(p));
    }
  }
}

std::vector<std::vector<AttrValue>> plainer_contents(const Define& d) {
  const tensor::OpRow& row = tensor::row(Op::Input);
  const std::vector<AttrValue> none = tensor::default_attrs(Op::Input);
  const auto with = [&](std::initializer_list<std::pair<std::string_view, AttrValue>> said) {
    std::vector<AttrValue> attrs = none;
    for (const auto& [name, value] : said) attrs[row.attr(name)] = value;
    return attrs;
  };
  const bool is_bool = d.dtype == DType::Bool;
  const auto number = [&](int64_t n) {
    return Literal{is_bool ? Literal::Kind::Bool : Literal::Kind::Int, n, 0};
  };
  std::vector<std::vector<AttrValue>> result;
  result.push_back(with({{"data", std::vector<Literal>{number(1)}}}));
  result.push_back(with({{"data", std::vector<Literal>{number(0)}}}));
  if (!is_bool) {
    result.push_back(with({{"step", number(1)}}));
    result.push_back(with({{"random", std::string("integers")}}));
    result.push_back(with({{"data", std::vector<Literal>{number(2)}}}));
  }
  const auto* random = std::get_if<std::string>(&d.attrs[row.attr("random")]);
  if (random != nullptr) result.push_back(with({{"random", *random}}));
  return result;
}

void try_contents(Shrinking& s) {
  for (size_t i = 0; i < s.program().statements.size(); i++) {
    const Define* d = define_at(s.program(), i);
    if (d == nullptr || d->op != Op::Input) continue;
    for (std::vector<AttrValue>& attrs : plainer_contents(*d)) {
      Program p = s.program();
      define_at(p, i)->attrs = std::move(attrs);
      if (s.takes(std::move(p))) break;
      if (i >= s.program().statements.size()) return;
    }
  }
}

// Attributes as they are by default, operands and numbers that are small.
void try_parts(Shrinking& s) {
  for (size_t i = 0; i < s.program().statements.size(); i++) {
    const auto with = [&](auto set) {
      Program p = s.program();
      Define* d = i < p.statements.size() ? define_at(p, i) : nullptr;
      if (d == nullptr) return;
      set(*d);
      s.takes(std::move(p));
    };
    const Define* d = define_at(s.program(), i);
    if (d == nullptr || d->op == Op::Input) continue;
    const Op op = d->op;
    const size_t attrs = d->attrs.size();
    const size_t operands = d->operands.size();
    for (size_t k = 0; k < attrs; k++) {
      with([&](Define& e) {
        if (e.op == op) e.attrs[k] = tensor::default_attrs(op)[k];
      });
      with([&](Define& e) {
        auto* number = e.op == op ? std::get_if<Literal>(&e.attrs[k]) : nullptr;
        if (number != nullptr) *number = Literal{Literal::Kind::Int, 1, 0};
      });
    }
    for (size_t k = 0; k < operands; k++) {
      with([&](Define& e) {
        if (k < e.operands.size()) e.operands[k] = {-1, {Literal::Kind::Int, 1, 0}};
      });
      with([&](Define& e) {
        if (k < e.operands.size() && e.operands.size() > tensor::row(e.op).operands.size()) {
          e.operands.erase(e.operands.begin() + static_cast<ptrdiff_t>(k));
        }
      });
    }
  }
}

constexpr ShrinkStep kPartSteps[] = {
    {"variables", try_variables}, {"sizes", try_sizes},       {"axes", try_axes},
    {"types", try_types},         {"contents", try_contents}, {"parts", try_parts},
};

}  // namespace

std::span<const ShrinkStep> part_steps() { return kPartSteps; }

}  // namespace assay::fuzz
