#include "fuzz/mutate/edit.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Expect;
using tensor::Force;
using tensor::Program;
using tensor::Statement;

void renumber(Program& program, const std::vector<int32_t>& places) {
  for (Statement& s : program.statements) {
    for_each_value(s, [&](int32_t& value) { value = places[static_cast<size_t>(value)]; });
  }
}

}  // namespace

void keep_only(Program& program, const std::vector<char>& is_kept) {
  std::vector<int32_t> places(program.statements.size(), -1);
  int32_t next = 0;
  for (size_t i = 0; i < places.size(); i++) {
    if (is_kept[i] == 0) continue;
    places[i] = next++;
    const auto to = static_cast<size_t>(places[i]);
    if (to != i) program.statements[to] = std::move(program.statements[i]);
  }
  program.statements.resize(static_cast<size_t>(next));
  renumber(program, places);
}

void drop_with_users(Program& program, std::vector<char> is_dropped) {
  for (size_t i = 0; i < is_dropped.size(); i++) {
    Statement& s = program.statements[i];
    const auto is_gone = [&](int32_t value) { return is_dropped[static_cast<size_t>(value)] != 0; };
    if (auto* force = std::get_if<Force>(&s.what)) {
      std::erase_if(force->values, is_gone);
      if (force->values.empty()) is_dropped[i] = 1;
      continue;
    }
    for_each_value(s, [&](int32_t value) {
      if (is_gone(value)) is_dropped[i] = 1;
    });
  }
  for (char& c : is_dropped) c = c == 0 ? 1 : 0;
  keep_only(program, is_dropped);
}

std::vector<char> needed_by(const Program& program, std::vector<char> wanted) {
  std::vector<char> has_storage(wanted.size(), 0);  // needed, by the value that it is of
  const auto storage = [&](int32_t value) -> char& {
    return has_storage[static_cast<size_t>(tensor::storage_of(program, value))];
  };
  for (size_t i = 0; i < wanted.size(); i++) {
    if (wanted[i] != 0 && define_at(program, i) != nullptr) storage(static_cast<int32_t>(i)) = 1;
  }
  for (size_t i = wanted.size(); i-- > 0;) {
    const auto* write = std::get_if<tensor::Write>(&program.statements[i].what);
    if (write != nullptr && storage(write->target) != 0) wanted[i] = 1;
    if (wanted[i] == 0) continue;
    for_each_value(program.statements[i], [&](int32_t v) {
      wanted[static_cast<size_t>(v)] = 1;
      storage(v) = 1;
    });
  }
  return wanted;
}

void insert_at(Program& program, size_t at, std::vector<Statement> statements) {
  const auto count = static_cast<int32_t>(statements.size());
  for (size_t i = at; i < program.statements.size(); i++) {
    for_each_value(program.statements[i], [&](int32_t& value) {
      if (static_cast<size_t>(value) >= at) value += count;
    });
  }
  program.statements.insert(program.statements.begin() + static_cast<ptrdiff_t>(at),
                            std::make_move_iterator(statements.begin()),
                            std::make_move_iterator(statements.end()));
}

void append_force(Program& program, std::vector<int32_t> values) {
  program.statements.emplace_back();
  program.statements.back().what = Force{std::move(values)};
}

bool move_statement(Program& program, size_t from, size_t to) {
  const size_t first = std::min(from, to);
  const size_t last = std::max(from, to);
  bool is_legal = true;
  const auto must_not_name = [&](size_t user, size_t least, size_t most) {
    for_each_value(program.statements[user], [&](int32_t value) {
      const auto place = static_cast<size_t>(value);
      is_legal = is_legal && (place < least || place > most);
    });
  };
  if (to < from) {
    must_not_name(from, to, from - 1);
  } else {
    for (size_t i = from + 1; i <= to; i++) must_not_name(i, from, from);
  }
  if (!is_legal) return false;
  std::vector<int32_t> places(program.statements.size());
  for (size_t i = 0; i < places.size(); i++) places[i] = static_cast<int32_t>(i);
  for (size_t i = first; i <= last; i++) places[i] += to < from ? 1 : -1;
  places[from] = static_cast<int32_t>(to);
  const auto begin = program.statements.begin();
  const auto at = [&](size_t i) { return begin + static_cast<ptrdiff_t>(i); };
  if (to < from) {
    std::rotate(at(to), at(from), at(from + 1));
  } else {
    std::rotate(at(from), at(from + 1), at(to + 1));
  }
  renumber(program, places);
  return true;
}

void forget_expectations(Program& program) {
  program.hints.clear();
  for (Statement& s : program.statements) {
    const auto* expect = std::get_if<Expect>(&s.what);
    if (expect == nullptr) continue;
    Force force;
    if (expect->may_be_value()) force.values.push_back(expect->value);
    s.what = std::move(force);
  }
}

void make_names_unique(Program& program) {
  std::set<std::string, std::less<>> taken;
  for (tensor::Variable& v : program.variables) {
    while (!taken.insert(v.name).second) v.name += "_";
  }
  for (size_t i = 0; i < program.statements.size(); i++) {
    Define* d = define_at(program, i);
    if (d == nullptr || taken.insert(d->name).second) continue;
    for (size_t n = i;; n++) {
      d->name = "v" + std::to_string(n);
      if (taken.insert(d->name).second) break;
    }
  }
}

}  // namespace assay::fuzz
