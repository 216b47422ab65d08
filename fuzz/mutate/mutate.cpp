#include "fuzz/mutate/mutate.h"

#include <algorithm>
#include <utility>

#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/repair.h"
#include "fuzz/mutate/statement.h"

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Op;
using tensor::Program;
using tensor::Size;
using tensor::Statement;

constexpr int kMostTries = 24;

// Well-formed, without what it expects, with something that is computed.
void settle_program(Program& program, int64_t most) {
  forget_expectations(program);
  repair(program, most);
  const auto defines = [](const Statement& s) { return std::holds_alternative<Define>(s.what); };
  if (std::ranges::any_of(program.statements, defines)) return;
  Define d;
  d.name = "v0";
  d.dtype = uop::DType::F32;
  d.shape = {Size{4, {}}};
  d.op = Op::Input;
  d.attrs = tensor::default_attrs(Op::Input);
  d.attrs[tensor::row(Op::Input).attr("random")] = std::string("uniform");
  program.statements.emplace_back();
  program.statements.back().what = std::move(d);
}

const Mutation& draw_mutation(Choices& c) {
  static const std::vector<const Mutation*> rows = [] {
    std::vector<const Mutation*> result;
    for (const Mutation* m : all_mutations()) {
      result.insert(result.end(), static_cast<size_t>(m->weight), m);
    }
    return result;
  }();
  return *rows[c.below(rows.size())];
}

bool mutate_once(Case& x, Choices& c, const MutateOptions& options,
                 std::vector<std::string_view>* done) {
  const std::string before = to_text(x);
  for (int i = 0; i < kMostTries; i++) {
    const Mutation& mutation = draw_mutation(c);
    Case changed = x;
    Mutator m(c, options, changed);
    const int64_t most = m.most_elements();
    if (!mutation.apply(m)) continue;
    settle_program(changed.program, most);
    if (to_text(changed) == before) continue;
    x = std::move(changed);
    if (done != nullptr) done->push_back(mutation.name);
    return true;
  }
  return false;
}

// Variables of b that are not in a, by name, come after a's; b's statements then speak of those.
void join_variables(Program& a, Program& b) {
  std::vector<int64_t> places;
  for (const tensor::Variable& v : b.variables) {
    const auto found = std::ranges::find(a.variables, v.name, &tensor::Variable::name);
    places.push_back(found - a.variables.begin());
    if (found == a.variables.end()) a.variables.push_back(v);
  }
  const auto rename = [&](Size& size) {
    for (tensor::SizeStep& s : size.steps) {
      if (s.kind == tensor::SizeStep::Kind::Variable) {
        s.number = places[static_cast<size_t>(s.number)];
      }
    }
  };
  for (Statement& s : b.statements) {
    if (auto* bind = std::get_if<tensor::Bind>(&s.what)) {
      bind->variable = static_cast<int32_t>(places[static_cast<size_t>(bind->variable)]);
    }
    auto* d = std::get_if<Define>(&s.what);
    if (d == nullptr) continue;
    for_each_size(*d, rename);
  }
}

// Values of `program` before `first` take the places of operands after it.
void cross(Program& program, size_t first, Choices& c) {
  for (size_t i = first; i < program.statements.size(); i++) {
    for_each_value(program.statements[i], [&](int32_t& value) {
      if (static_cast<size_t>(value) < first || !c.chance(1, 3)) return;
      const Define& old = program.define(value);
      std::vector<int32_t> alike;
      std::vector<int32_t> of_type;
      for (size_t k = 0; k < first; k++) {
        const Define* d = define_at(program, k);
        if (d == nullptr || d->dtype != old.dtype) continue;
        of_type.push_back(static_cast<int32_t>(k));
        if (d->shape == old.shape) alike.push_back(static_cast<int32_t>(k));
      }
      const std::vector<int32_t>& from = alike.empty() ? of_type : alike;
      if (!from.empty()) value = from[c.below(from.size())];
    });
  }
}

}  // namespace

int64_t Mutator::most_elements() const {
  return std::max(options.elements, most_elements_of(program));
}

std::vector<const Mutation*> all_mutations() {
  std::vector<const Mutation*> result;
  for (const auto rows : {statement_mutations(), part_mutations(), setting_mutations()}) {
    for (const Mutation& m : rows) result.push_back(&m);
  }
  return result;
}

Case mutate(const Case& x, Choices& choices, const MutateOptions& options,
            std::vector<std::string_view>* done) {
  Case result = x;
  settle_program(result.program, std::max(options.elements, most_elements_of(x.program)));
  const uint64_t times = choices.chance(2, 3) ? 1 : choices.between(2, 4);
  for (uint64_t i = 0; i < times; i++) mutate_once(result, choices, options, done);
  return result;
}

Case splice(const Case& a, const Case& b, Choices& choices, const MutateOptions& options) {
  Case result = a;
  Program& to = result.program;
  const int64_t most =
      std::max({options.elements, most_elements_of(a.program), most_elements_of(b.program)});
  settle_program(to, most);
  Program from = b.program;
  settle_program(from, most);
  std::vector<size_t> values;
  for (size_t i = 0; i < from.statements.size(); i++) {
    if (define_at(from, i) != nullptr) values.push_back(i);
  }
  // A value with all it needs, or the whole.
  if (choices.chance(3, 4) ||
      from.statements.size() + to.statements.size() > options.most_statements) {
    std::vector<char> wanted(from.statements.size(), 0);
    wanted[values[choices.below(values.size())]] = 1;
    keep_only(from, needed_by(from, std::move(wanted)));
  }
  join_variables(to, from);
  const size_t room = options.most_statements;
  if (to.statements.size() + from.statements.size() > room) {
    const size_t kept = room > from.statements.size() ? room - from.statements.size() : 1;
    if (to.statements.size() > kept) to.statements.resize(kept);
  }
  const size_t first = to.statements.size();
  for (Statement& s : from.statements) {
    for_each_value(s, [&](int32_t& value) { value += static_cast<int32_t>(first); });
    to.statements.push_back(std::move(s));
  }
  cross(to, first, choices);
  settle_program(to, most);
  if (choices.chance(1, 2)) result.opts = b.opts;
  return result;
}

}  // namespace assay::fuzz
