// What shrinking tries of settings and of the list of statements.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "fuzz/mutate/edit.h"
#include "fuzz/shrink/shrink.h"

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Expect;
using tensor::Force;
using tensor::Literal;
using tensor::Op;
using tensor::Program;
using tensor::Statement;
using tensor::Write;
using uop::DType;

// Device, profile, seed, opts.

void try_settings(Shrinking& s) {
  const Case plain;
  const auto with = [&](auto set) {
    Case candidate = s.now();
    set(candidate);
    s.takes(std::move(candidate));
  };
  with([&](Case& c) {
    Case all = plain;
    all.program = std::move(c.program);
    all.program.hints.clear();
    c = std::move(all);
  });
  with([&](Case& c) { c.device = plain.device; });
  with([&](Case& c) { c.profile = plain.profile; });
  with([&](Case& c) { c.seed = plain.seed; });
  with([&](Case& c) { c.program.hints.clear(); });
  with([&](Case& c) { c.program.header.clear(); });
  with([&](Case& c) { c.opts = plain.opts; });
  with([&](Case& c) { c.opts = "none"; });
}

// A list without one of its entries.
std::vector<std::string> shorter_lists(const std::string& list) {
  std::vector<std::string> result;
  size_t begin = 0;
  while (begin < list.size()) {
    const size_t end = std::min(list.find(' ', begin), list.size());
    std::string rest = list.substr(0, begin) + list.substr(std::min(end + 1, list.size()));
    while (!rest.empty() && rest.back() == ' ') rest.pop_back();
    result.push_back(rest.empty() ? "none" : rest);
    begin = end + 1;
  }
  return result;
}

void try_opts(Shrinking& s) {
  if (s.now().opts.starts_with("random:") && s.options().lists) {
    const std::vector<std::string> lists = s.options().lists(s.now());
    for (const std::string& list : lists) {
      Case candidate = s.now();
      candidate.opts = list;
      if (s.takes(std::move(candidate))) break;
    }
  }
  for (bool is_shorter = true; is_shorter;) {
    is_shorter = false;
    if (s.now().opts.find('(') == std::string::npos) break;
    for (const std::string& list : shorter_lists(s.now().opts)) {
      Case candidate = s.now();
      candidate.opts = list;
      is_shorter = s.takes(std::move(candidate));
      if (is_shorter) break;
    }
  }
  for (size_t i = s.program().hints.size(); i-- > 0;) {
    Program p = s.program();
    p.hints.erase(p.hints.begin() + static_cast<ptrdiff_t>(i));
    s.takes(std::move(p));
  }
}

// Statements.

// Values that nobody names any more are left out, with what they alone need.
void drop_unread(Program& p, std::vector<char> wanted) {
  std::vector<char> is_dropped = needed_by(p, std::move(wanted));
  for (char& c : is_dropped) c = c == 0 ? 1 : 0;
  drop_with_users(p, std::move(is_dropped));
}

bool has_force(const Program& p) {
  return std::ranges::any_of(p.statements, [](const Statement& st) {
    return std::holds_alternative<Force>(st.what) || std::holds_alternative<Expect>(st.what);
  });
}

// The first statements alone, the last value of them read.
Program prefix(const Program& whole, size_t length) {
  Program p = whole;
  p.statements.resize(length);
  std::vector<char> wanted(length, 0);
  wanted[length - 1] = 1;
  if (has_force(p) && define_at(p, length - 1) != nullptr) {
    append_force(p, {static_cast<int32_t>(length) - 1});
    wanted.push_back(1);
    for (size_t i = 0; i + 1 < wanted.size(); i++) {
      if (std::holds_alternative<Force>(p.statements[i].what)) wanted[i] = 1;
    }
  }
  drop_unread(p, std::move(wanted));
  return p;
}

// The shortest beginning that fails: by halves, since what fails mostly fails too with more.
void try_prefixes(Shrinking& s) {
  size_t lo = 1;
  const Program whole = s.program();
  size_t hi = whole.statements.size();
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    Program p = whole;
    p.statements.resize(middle);
    if (has_force(p)) {
      std::vector<int32_t> rest;
      std::vector<char> is_read(middle, 0);
      for (const Statement& st : p.statements) {
        for_each_value(st, [&](int32_t v) { is_read[static_cast<size_t>(v)] = 1; });
      }
      for (size_t i = 0; i < middle; i++) {
        if (define_at(p, i) != nullptr && is_read[i] == 0) {
          rest.push_back(static_cast<int32_t>(i));
        }
      }
      if (!rest.empty()) append_force(p, std::move(rest));
    }
    if (s.takes(std::move(p))) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
}

// One value, with no more than it needs.
void try_slices(Shrinking& s) {
  const Program whole = s.program();
  const size_t n = whole.statements.size();
  for (size_t back = 1; back <= std::min<size_t>(n, 8); back++) {
    if (s.takes(prefix(whole, n - back + 1))) return;
  }
}

// Contents that anything may be computed from.
Define input_in_place_of(const Define& d) {
  Define input = d;
  input.op = Op::Input;
  input.operands.clear();
  input.attrs = tensor::default_attrs(Op::Input);
  const tensor::OpRow& row = tensor::row(Op::Input);
  const bool is_bool = d.dtype == DType::Bool;
  input.attrs[row.attr("random")] = std::string(is_bool                  ? "nasty"
                                                : uop::is_float(d.dtype) ? "uniform"
                                                                         : "integers");
  if (!is_bool && !uop::is_float(d.dtype)) {
    input.attrs[row.attr("low")] =
        Literal{Literal::Kind::Int, uop::is_unsigned(d.dtype) ? 0 : -2, 0};
    input.attrs[row.attr("high")] = Literal{Literal::Kind::Int, 3, 0};
  }
  if (d.op == Op::Copy) input.device = d.device;
  return input;
}

// Leaves statements out: values of them that others need become inputs.
Program without(const Program& whole, size_t begin, size_t end) {
  Program p = whole;
  std::vector<char> is_read(p.statements.size(), 0);
  for (size_t i = end; i < p.statements.size(); i++) {
    for_each_value(p.statements[i], [&](int32_t v) { is_read[static_cast<size_t>(v)] = 1; });
  }
  std::vector<char> is_dropped(p.statements.size(), 0);
  for (size_t i = begin; i < end; i++) {
    Define* d = define_at(p, i);
    if (d != nullptr && is_read[i] != 0) {
      *d = input_in_place_of(*d);
    } else {
      is_dropped[i] = 1;
    }
  }
  std::vector<char> wanted(p.statements.size(), 0);
  std::vector<char> was_read(p.statements.size(), 0);
  for (const Statement& st : whole.statements) {
    for_each_value(st, [&](int32_t v) { was_read[static_cast<size_t>(v)] = 1; });
  }
  for (size_t i = 0; i < p.statements.size(); i++) {
    const Statement& st = p.statements[i];
    const bool is_end =
        !std::holds_alternative<Define>(st.what) && !std::holds_alternative<Write>(st.what);
    wanted[i] = is_dropped[i] == 0 && (is_end || was_read[i] == 0) ? 1 : 0;
    if (std::holds_alternative<Write>(st.what)) wanted[i] = 0;
  }
  // A program whose end is left out reads what comes before it.
  if (std::ranges::find(wanted, 1) == wanted.end()) {
    for (size_t i = begin; i-- > 0;) {
      if (define_at(p, i) == nullptr) continue;
      wanted[i] = 1;
      break;
    }
  }
  drop_unread(p, std::move(wanted));
  return p;
}

void try_without(Shrinking& s) {
  size_t chunk = std::max<size_t>(1, s.program().statements.size() / 2);
  while (true) {
    size_t end = s.program().statements.size();
    while (end > 0) {
      const size_t begin = end > chunk ? end - chunk : 0;
      s.takes(without(s.program(), begin, end));
      end = std::min(begin, s.program().statements.size());
    }
    if (chunk == 1) return;
    chunk /= 2;
  }
}

void try_dropping(Shrinking& s) {
  for (size_t i = s.program().statements.size(); i-- > 0;) {
    if (i >= s.program().statements.size()) continue;
    Program p = s.program();
    std::vector<char> is_dropped(p.statements.size(), 0);
    is_dropped[i] = 1;
    drop_with_users(p, std::move(is_dropped));
    s.takes(std::move(p));
  }
}

// A value's users use another, and it goes.
void try_bypassing(Shrinking& s) {
  for (size_t i = s.program().statements.size(); i-- > 0;) {
    if (i >= s.program().statements.size()) continue;
    const Program& now = s.program();
    const Define* d = define_at(now, i);
    if (d == nullptr) continue;
    std::vector<int32_t> others;
    for_each_value(now.statements[i], [&](int32_t v) { others.push_back(v); });
    for (size_t k = i; k-- > 0 && others.size() < 6;) {
      const Define* other = define_at(now, k);
      if (other != nullptr && other->dtype == d->dtype) others.push_back(static_cast<int32_t>(k));
    }
    for (const int32_t other : others) {
      Program p = s.program();
      for (Statement& st : p.statements) {
        for_each_value(st, [&](int32_t& v) {
          if (static_cast<size_t>(v) == i) v = other;
        });
      }
      std::vector<char> is_kept(p.statements.size(), 1);
      is_kept[i] = 0;
      keep_only(p, is_kept);
      if (s.takes(std::move(p))) break;
    }
  }
}

void try_forces(Shrinking& s) {
  for (size_t i = s.program().statements.size(); i-- > 0;) {
    if (i >= s.program().statements.size()) continue;
    const auto* force = std::get_if<Force>(&s.program().statements[i].what);
    if (force == nullptr) continue;
    for (size_t k = force->values.size(); k-- > 0;) {
      Program p = s.program();
      auto& values = std::get<Force>(p.statements[i].what).values;
      if (values.size() < 2 || k >= values.size()) continue;
      values.erase(values.begin() + static_cast<ptrdiff_t>(k));
      s.takes(std::move(p));
    }
  }
}

constexpr ShrinkStep kStatementSteps[] = {
    {"settings", try_settings}, {"prefixes", try_prefixes}, {"slices", try_slices},
    {"without", try_without},   {"dropping", try_dropping}, {"bypassing", try_bypassing},
    {"forces", try_forces},     {"opts", try_opts},
};

}  // namespace

std::span<const ShrinkStep> statement_steps() { return kStatementSteps; }

}  // namespace assay::fuzz
