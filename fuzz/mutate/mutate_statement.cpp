// Mutations of the list of statements.
#include <algorithm>
#include <iterator>
#include <utility>

#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/known.h"
#include "fuzz/mutate/mutate.h"
#include "fuzz/mutate/repair.h"
#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Force;
using tensor::Program;
using tensor::Statement;

std::vector<size_t> defines_of(const Program& p) {
  std::vector<size_t> result;
  for (size_t i = 0; i < p.statements.size(); i++) {
    if (define_at(p, i) != nullptr) result.push_back(i);
  }
  return result;
}

// Statements that the program maker draws, over the values that are there at a place. What comes
// after may use them where it used others of their type and shape.
bool insert(Mutator& m) {
  if (m.size() >= m.options.most_statements) return false;
  const size_t at = m.c.chance(1, 2) ? m.size() : m.c.below(m.size() + 1);
  Program begin = m.program;
  begin.statements.resize(at);
  Repaired facts = repair(begin, m.most_elements());
  if (begin.statements.size() != at) return false;
  std::vector<Known> known = known_of(begin, facts);
  ProgramOptions how = m.options.cases.program;
  how.elements = m.options.elements;
  const int wanted = static_cast<int>(m.c.between(1, 3));
  how.statements = static_cast<int>(at) + wanted;
  ProgramMaker maker(m.c, how, begin, known, facts.bound);
  while (static_cast<int>(maker.size_now()) < how.statements) {
    const size_t size = maker.size_now();
    draw_statement(maker);
    if (maker.size_now() == size) break;
  }
  Program drawn = maker.take();
  std::vector<Statement> fresh(
      std::make_move_iterator(drawn.statements.begin() + static_cast<ptrdiff_t>(at)),
      std::make_move_iterator(drawn.statements.end()));
  if (fresh.empty()) return false;
  const size_t end = at + fresh.size();
  insert_at(m.program, at, std::move(fresh));
  for (size_t i = end; i < m.size(); i++) {
    for_each_value(m.program.statements[i], [&](int32_t& value) {
      const tensor::Define& old = m.program.define(value);
      for (size_t k = at; k < end; k++) {
        const tensor::Define* d = define_at(m.program, k);
        if (d == nullptr || d->dtype != old.dtype || d->shape != old.shape) continue;
        if (m.c.chance(1, 2)) value = static_cast<int32_t>(k);
      }
    });
  }
  return true;
}

// A statement goes with what depends on it.
bool remove(Mutator& m) {
  if (m.size() < 2) return false;
  std::vector<char> is_dropped(m.size(), 0);
  is_dropped[m.c.below(m.size())] = 1;
  Program shorter = m.program;
  drop_with_users(shorter, std::move(is_dropped));
  if (defines_of(shorter).empty()) return false;
  m.program = std::move(shorter);
  return true;
}

// What used a value uses one of its operands in its place.
bool bypass(Mutator& m) {
  const std::vector<size_t> defines = defines_of(m.program);
  if (defines.empty()) return false;
  const size_t at = defines[m.c.below(defines.size())];
  std::vector<int32_t> operands;
  for_each_value(m.program.statements[at], [&](int32_t v) { operands.push_back(v); });
  if (operands.empty()) return false;
  const int32_t instead = operands[m.c.below(operands.size())];
  for (size_t i = at + 1; i < m.size(); i++) {
    for_each_value(m.program.statements[i], [&](int32_t& value) {
      if (static_cast<size_t>(value) == at) value = instead;
    });
  }
  std::vector<char> is_kept(m.size(), 1);
  is_kept[at] = 0;
  keep_only(m.program, is_kept);
  return true;
}

// Two statements of which neither needs the other change places.
bool swap(Mutator& m) {
  if (m.size() < 2) return false;
  for (int i = 0; i < 8; i++) {
    size_t a = m.c.below(m.size());
    size_t b = m.c.below(m.size());
    if (a > b) std::swap(a, b);
    if (a == b) continue;
    Program changed = m.program;
    if (!move_statement(changed, b, a)) continue;
    if (b - a > 1 && !move_statement(changed, a + 1, b)) continue;
    m.program = std::move(changed);
    return true;
  }
  return false;
}

bool move(Mutator& m) {
  for (int i = 0; i < 8 && m.size() >= 2; i++) {
    const size_t from = m.c.below(m.size());
    const size_t to = m.c.below(m.size());
    if (from != to && move_statement(m.program, from, to)) return true;
  }
  return false;
}

// The same is computed again, and some use the second.
bool repeat(Mutator& m) {
  if (m.size() >= m.options.most_statements || m.size() == 0) return false;
  const size_t at = m.c.below(m.size());
  if (std::holds_alternative<tensor::Bind>(m.program.statements[at].what)) return false;
  const size_t to = static_cast<size_t>(
      m.c.between(static_cast<int64_t>(at) + 1, static_cast<int64_t>(m.size())));
  std::vector<Statement> twin = {m.program.statements[at]};
  insert_at(m.program, to, std::move(twin));
  for (size_t i = to + 1; i < m.size(); i++) {
    for_each_value(m.program.statements[i], [&](int32_t& value) {
      if (static_cast<size_t>(value) == at && m.c.chance(1, 2)) value = static_cast<int32_t>(to);
    });
  }
  return true;
}

// Another value is used.
bool rewire(Mutator& m) {
  std::vector<std::pair<size_t, int32_t*>> uses;
  for (size_t i = 0; i < m.size(); i++) {
    for_each_value(m.program.statements[i], [&](int32_t& value) { uses.push_back({i, &value}); });
  }
  if (uses.empty()) return false;
  const auto [at, value] = uses[m.c.below(uses.size())];
  const bool is_alike = m.c.chance(3, 4);
  const tensor::Define& old = m.program.define(*value);
  std::vector<int32_t> others;
  for (size_t k = 0; k < at; k++) {
    const tensor::Define* d = define_at(m.program, k);
    if (d == nullptr || static_cast<int32_t>(k) == *value) continue;
    if (!is_alike || (d->dtype == old.dtype && d->shape == old.shape)) {
      others.push_back(static_cast<int32_t>(k));
    }
  }
  if (others.empty()) return false;
  *value = others[m.c.below(others.size())];
  return true;
}

// What is forced, when, and in which order.
bool force(Mutator& m) {
  std::vector<Force*> forces;
  for (Statement& s : m.program.statements) {
    if (auto* f = std::get_if<Force>(&s.what)) forces.push_back(f);
  }
  const uint64_t way = forces.empty() ? 0 : m.c.below(4);
  if (way == 0) {
    if (m.size() >= m.options.most_statements || m.size() == 0) return false;
    const size_t at = m.c.below(m.size()) + 1;
    Force f;
    for (uint64_t n = m.c.between(1, 3); n > 0; n--) {
      const size_t value = m.c.below(at);
      if (define_at(m.program, value) != nullptr) f.values.push_back(static_cast<int32_t>(value));
    }
    if (f.values.empty()) return false;
    std::vector<Statement> one(1);
    one[0].what = std::move(f);
    insert_at(m.program, at, std::move(one));
    return true;
  }
  std::vector<int32_t>& values = forces[m.c.below(forces.size())]->values;
  if (way == 1 || values.size() < 2) {
    std::vector<int32_t> there;
    for (size_t i = 0; i < m.size(); i++) {
      const auto* f = std::get_if<Force>(&m.program.statements[i].what);
      if (f != nullptr && &f->values == &values) break;
      if (define_at(m.program, i) != nullptr) there.push_back(static_cast<int32_t>(i));
    }
    values.push_back(there[m.c.below(there.size())]);
  } else if (way == 2) {
    values.erase(values.begin() + static_cast<ptrdiff_t>(m.c.below(values.size())));
  } else {
    for (size_t i = values.size(); i > 1; i--) std::swap(values[i - 1], values[m.c.below(i)]);
  }
  return true;
}

constexpr Mutation kStatementMutations[] = {
    {"insert", 24, insert}, {"delete", 10, remove}, {"bypass", 6, bypass},  {"swap", 5, swap},
    {"move", 5, move},      {"repeat", 4, repeat},  {"rewire", 10, rewire}, {"force", 6, force},
};

}  // namespace

std::span<const Mutation> statement_mutations() { return kStatementMutations; }

}  // namespace assay::fuzz
