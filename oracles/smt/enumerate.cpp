#include "oracles/smt/enumerate.h"

#include <algorithm>

#include "engine/uop/value.h"

namespace assay::smt {
namespace {

using Kind = Sort::Kind;

// Points that are evaluated at once.
constexpr size_t kLanes = 256;

// What a variable ranges over: `count` values from `first` on.
struct Domain {
  uint32_t variable;
  Int128 first;
  uint64_t count;
};

std::optional<Domain> domain_of(const Formula::Variable& v, uint32_t place) {
  switch (v.sort.kind) {
    case Kind::Bool: return Domain{place, 0, 2};
    case Kind::Bits:
    case Kind::Float:
      if (v.sort.bits > 32) return std::nullopt;
      return Domain{place, 0, uint64_t{1} << v.sort.bits};
    case Kind::Int:
      if (!v.is_bounded || v.hi - v.lo >= (Int128{1} << 32)) return std::nullopt;
      return Domain{place, v.lo, v.hi < v.lo ? 0 : static_cast<uint64_t>(v.hi - v.lo + 1)};
    case Kind::Real: return std::nullopt;
  }
  return std::nullopt;
}

std::vector<uint8_t> used_variables(const Formula& f) {
  std::vector<uint8_t> used(f.variables().size(), 0);
  for (const uint32_t id : needed_nodes(f)) {
    const Formula::Node& node = f.nodes()[id];
    if (node.fn == Fn::Variable) used[static_cast<size_t>(node.payload)] = 1;
  }
  return used;
}

std::optional<std::vector<Domain>> domains_of(const Formula& f) {
  const std::vector<uint8_t> used = used_variables(f);
  std::vector<Domain> domains;
  for (uint32_t i = 0; i < f.variables().size(); i++) {
    // What nothing asks for is whatever it begins with, unless it can be nothing at all.
    std::optional<Domain> domain = domain_of(f.variables()[i], i);
    if (used[i] == 0 && !(domain && domain->count == 0)) {
      domain = Domain{i, f.variables()[i].is_bounded ? f.variables()[i].lo : 0, 1};
    }
    if (!domain) return std::nullopt;
    domains.push_back(*domain);
  }
  return domains;
}

// Evaluates a formula at kLanes points at once, in 64 bits. A lane where those are too few is in
// doubt, and evaluated by itself.
class Lanes {
 public:
  explicit Lanes(const Formula& f) : f_(f), order_(needed_nodes(f)) {
    values_.resize(order_.size() * kLanes);
    places_.assign(f.nodes().size(), 0);
    for (size_t i = 0; i < order_.size(); i++) places_[order_[i]] = static_cast<uint32_t>(i);
    for (const uint32_t id : order_) {
      const Formula::Node& node = f.nodes()[id];
      if (node.fn != Fn::Number) continue;
      const bool is_wide = node.payload > INT64_MAX || node.payload < INT64_MIN;
      all_in_doubt_ = all_in_doubt_ || (is_wide && node.sort.kind == Kind::Int);
      std::fill_n(row(id), kLanes, static_cast<int64_t>(node.payload));
    }
  }

  int64_t* row(uint32_t id) { return values_.data() + size_t{places_[id]} * kLanes; }
  bool in_doubt(size_t lane) const { return all_in_doubt_ || doubt_[lane] != 0; }

  void run(size_t lanes) {
    std::fill_n(doubt_, kLanes, uint8_t{0});
    for (const uint32_t id : order_) {
      const Formula::Node& node = f_.nodes()[id];
      if (node.fn != Fn::Number && node.fn != Fn::Variable) step(id, node, lanes);
    }
  }

  bool holds(size_t lane) {
    for (const Term t : f_.required()) {
      if (row(t.id)[lane] == 0) return false;
    }
    return true;
  }

 private:
  template <typename F>
  void each(int64_t* out, const int64_t* a, const int64_t* b, size_t lanes, F f) {
    for (size_t i = 0; i < lanes; i++) out[i] = f(a[i], b[i]);
  }
  // f(a, b, &result) says whether 64 bits do not hold it.
  template <typename F>
  void exact(int64_t* out, const int64_t* a, const int64_t* b, size_t lanes, F f) {
    for (size_t i = 0; i < lanes; i++) doubt_[i] |= static_cast<uint8_t>(f(a[i], b[i], &out[i]));
  }

  void step(uint32_t id, const Formula::Node& node, size_t lanes) {
    const auto operands = f_.operands(Term{id});
    int64_t* out = row(id);
    const int64_t* a = row(operands[0].id);
    const int64_t* b = operands.size() > 1 ? row(operands[1].id) : a;
    const auto with = [&](auto f) { each(out, a, b, lanes, f); };
    switch (node.fn) {
      case Fn::Not: return with([](int64_t x, int64_t) { return x == 0; });
      case Fn::Xor: return with([](int64_t x, int64_t y) { return x != y; });
      case Fn::Equal: return with([](int64_t x, int64_t y) { return x == y; });
      case Fn::And:
      case Fn::Or: return junction(node.fn, out, operands, lanes);
      case Fn::Ite: {
        const int64_t* c = row(operands[2].id);
        for (size_t i = 0; i < lanes; i++) out[i] = a[i] != 0 ? b[i] : c[i];
        return;
      }
      default: break;
    }
    if (f_.sort(operands[0]).kind == Kind::Int) return integer_step(id, node.fn, lanes);
    if (node.sort.kind == Kind::Bits && f_.sort(operands[0]) == node.sort &&
        bits_step(node, out, a, b, lanes)) {
      return;
    }
    one_by_one(id, node, lanes);
  }

  void junction(Fn fn, int64_t* out, std::span<const Term> operands, size_t lanes) {
    std::copy_n(row(operands[0].id), lanes, out);
    for (const Term t : operands.subspan(1)) {
      const int64_t* x = row(t.id);
      for (size_t i = 0; i < lanes; i++) out[i] = fn == Fn::And ? out[i] & x[i] : out[i] | x[i];
    }
  }

  void integer_step(uint32_t id, Fn fn, size_t lanes) {
    const auto operands = f_.operands(Term{id});
    int64_t* out = row(id);
    const int64_t* a = row(operands[0].id);
    const int64_t* b = operands.size() > 1 ? row(operands[1].id) : a;
    const auto add = [](int64_t x, int64_t y, int64_t* r) {
      return __builtin_add_overflow(x, y, r);
    };
    const auto sub = [](int64_t x, int64_t y, int64_t* r) {
      return __builtin_sub_overflow(x, y, r);
    };
    const auto mul = [](int64_t x, int64_t y, int64_t* r) {
      return __builtin_mul_overflow(x, y, r);
    };
    const auto div = [](int64_t x, int64_t y, int64_t* r) {
      if (x == INT64_MIN && y == -1) return true;
      *r = y == 0 ? 0 : x / y - static_cast<int64_t>(x % y != 0 && (x < 0) != (y < 0));
      return false;
    };
    const auto mod = [](int64_t x, int64_t y, int64_t* r) {
      if (x == INT64_MIN && y == -1) return true;
      const int64_t rest = y == 0 ? x : x % y;
      *r = y != 0 && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      return false;
    };
    switch (fn) {
      case Fn::Add:
        exact(out, a, b, lanes, add);
        for (const Term t : operands.subspan(2)) exact(out, out, row(t.id), lanes, add);
        return;
      case Fn::Sub: return exact(out, a, b, lanes, sub);
      case Fn::Mul: return exact(out, a, b, lanes, mul);
      case Fn::Div: return exact(out, a, b, lanes, div);
      case Fn::Mod: return exact(out, a, b, lanes, mod);
      case Fn::Neg:
        return exact(out, a, b, lanes, [](int64_t x, int64_t, int64_t* r) {
          return __builtin_sub_overflow(int64_t{0}, x, r);
        });
      case Fn::Lt: return each(out, a, b, lanes, [](int64_t x, int64_t y) { return x < y; });
      case Fn::Le: return each(out, a, b, lanes, [](int64_t x, int64_t y) { return x <= y; });
      default: return one_by_one(id, f_.nodes()[id], lanes);
    }
  }

  bool bits_step(const Formula::Node& node, int64_t* out, const int64_t* a, const int64_t* b,
                 size_t lanes) {
    const uint64_t mask = node.sort.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << node.sort.bits) - 1;
    const auto with = [&](auto f) {
      each(out, a, b, lanes, [&](int64_t x, int64_t y) {
        return static_cast<int64_t>(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y)) & mask);
      });
      return true;
    };
    switch (node.fn) {
      case Fn::BitAdd: return with([](uint64_t x, uint64_t y) { return x + y; });
      case Fn::BitSub: return with([](uint64_t x, uint64_t y) { return x - y; });
      case Fn::BitMul: return with([](uint64_t x, uint64_t y) { return x * y; });
      case Fn::BitAnd: return with([](uint64_t x, uint64_t y) { return x & y; });
      case Fn::BitOr: return with([](uint64_t x, uint64_t y) { return x | y; });
      case Fn::BitXor: return with([](uint64_t x, uint64_t y) { return x ^ y; });
      case Fn::BitNot: return with([](uint64_t x, uint64_t) { return ~x; });
      case Fn::BitNeg: return with([](uint64_t x, uint64_t) { return -x; });
      default: return false;
    }
  }

  // As Evaluation does it, for what is rare.
  void one_by_one(uint32_t id, const Formula::Node& node, size_t lanes) {
    const auto operands = f_.operands(Term{id});
    std::vector<Sort> sorts;
    for (const Term t : operands) sorts.push_back(f_.sort(t));
    std::vector<Number> numbers(operands.size());
    int64_t* out = row(id);
    for (size_t i = 0; i < lanes; i++) {
      for (size_t k = 0; k < operands.size(); k++) {
        const int64_t x = row(operands[k].id)[i];
        const bool is_int = sorts[k].kind == Kind::Int;
        numbers[k].n = is_int ? Int128{x} : Int128{static_cast<uint64_t>(x)};
      }
      const std::optional<Number> v = apply(node.fn, node.sort, sorts, numbers);
      doubt_[i] |= static_cast<uint8_t>(!v || v->d != 1 || node.sort.kind == Kind::Real);
      out[i] = v ? static_cast<int64_t>(v->n) : 0;
    }
  }

  const Formula& f_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> places_;
  std::vector<int64_t> values_;
  uint8_t doubt_[kLanes] = {};
  bool all_in_doubt_ = false;
};

// All points in turn: the last variable changes fastest.
class Points {
 public:
  explicit Points(std::vector<Domain> domains)
      : domains_(std::move(domains)), at_(domains_.size(), 0) {
    for (const Domain& d : domains_) is_over_ = is_over_ || d.count == 0;
  }
  bool is_over() const { return is_over_; }
  Int128 value(size_t variable) const {
    return domains_[variable].first + static_cast<Int128>(at_[variable]);
  }
  void next() {
    for (size_t i = at_.size(); i-- > 0;) {
      if (++at_[i] < domains_[i].count) return;
      at_[i] = 0;
    }
    is_over_ = true;
  }

 private:
  std::vector<Domain> domains_;
  std::vector<uint64_t> at_;
  bool is_over_ = false;
};

class Enumerator {
 public:
  explicit Enumerator(const Formula& f)
      : f_(f),
        lanes_(f),
        evaluation_(f),
        points_(*domains_of(f)),
        batch_(f.variables().size() * kLanes) {
    used_ = used_variables(f);
  }

  Enumerated run() {
    result_.is_known = true;
    while (!points_.is_over() && !result_.is_satisfiable) {
      const size_t lanes = fill();
      lanes_.run(lanes);
      for (size_t i = 0; i < lanes && !result_.is_satisfiable; i++) judge(i);
      result_.points += lanes;
    }
    if (result_.is_satisfiable) result_.is_known = true;
    return result_;
  }

 private:
  size_t fill() {
    size_t lanes = 0;
    for (; lanes < kLanes && !points_.is_over(); lanes++, points_.next()) {
      for (size_t v = 0; v < f_.variables().size(); v++) {
        const Int128 value = points_.value(v);
        batch_[v * kLanes + lanes] = value;
        if (used_[v] == 0) continue;
        lanes_.row(f_.variables()[v].term.id)[lanes] = static_cast<int64_t>(canonical(v, value));
      }
    }
    return lanes;
  }

  // Every NaN is one value.
  Int128 canonical(size_t variable, Int128 value) const {
    const Sort sort = f_.variables()[variable].sort;
    if (sort.kind != Kind::Float) return value;
    const uop::Value v = {sort.type, static_cast<uint64_t>(value)};
    return uop::is_nan(v) ? Int128{uop::nan_of(sort.type).bits} : value;
  }

  void judge(size_t lane) {
    const bool in_doubt = lanes_.in_doubt(lane);
    if (!in_doubt && !lanes_.holds(lane)) return;
    std::vector<Number> point;
    for (size_t v = 0; v < f_.variables().size(); v++) {
      point.push_back({canonical(v, batch_[v * kLanes + lane])});
    }
    // A point that satisfies is evaluated a second time, by itself.
    const std::optional<bool> holds = evaluation_.holds(point);
    if (!holds) result_.is_known = false;
    if (!holds.value_or(false)) return;
    result_.is_satisfiable = true;
    result_.model = std::move(point);
  }

  const Formula& f_;
  Lanes lanes_;
  Evaluation evaluation_;
  Points points_;
  std::vector<Int128> batch_;
  std::vector<uint8_t> used_;
  Enumerated result_;
};

}  // namespace

std::optional<uint64_t> count_points(const Formula& f, uint64_t most) {
  const std::optional<std::vector<Domain>> domains = domains_of(f);
  if (!domains || !f.opaques().empty()) return std::nullopt;
  UInt128 count = 1;
  for (const Domain& d : *domains) {
    count *= d.count;
    if (count > most) return std::nullopt;
  }
  return static_cast<uint64_t>(count);
}

Enumerated enumerate(const Formula& f) { return Enumerator(f).run(); }

}  // namespace assay::smt
