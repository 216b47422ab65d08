#include "oracles/smt/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/check.h"
#include "oracles/smt/evaluate.h"
#include "oracles/smt/mixed.h"

namespace assay::smt {
namespace {

// Numbers nodes by what they are made of and what they are used for, not by when they were made.
class Canonicalizer {
 public:
  explicit Canonicalizer(const Formula& f)
      : f_(f), order_(needed_nodes(f)), below_(f.nodes().size()), above_(f.nodes().size(), 0) {}

  Canonical run() {
    hash_below();
    hash_above();
    hash_below();  // now variables are told apart by what they are used for
    std::vector<Term> roots(f_.required().begin(), f_.required().end());
    sort(roots);
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    renamed_.assign(f_.nodes().size(), kNone);
    for (const Term t : roots) visit(t);
    for (const Term t : roots) result_.formula.require(Term{renamed_[t.id]});
    result_.bytes = to_bytes(result_.formula);
    return std::move(result_);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint64_t own_hash(uint32_t id) const {
    const Formula::Node& node = f_.nodes()[id];
    uint64_t h = mixed(static_cast<uint64_t>(node.fn), static_cast<uint64_t>(node.sort.kind));
    h = mixed(h,
              static_cast<uint64_t>(node.sort.bits) << 8 | static_cast<uint64_t>(node.sort.type));
    if (node.fn == Fn::Variable) {
      const Formula::Variable& v = f_.variables()[static_cast<size_t>(node.payload)];
      if (v.is_bounded)
        h = mixed(mixed(h, static_cast<uint64_t>(v.lo)), static_cast<uint64_t>(v.hi));
      return mixed(h, above_[id]);
    }
    if (node.fn == Fn::Opaque) {
      for (const char c : f_.opaques()[static_cast<size_t>(node.payload)]) {
        h = mixed(h, static_cast<uint64_t>(c));
      }
      return h;
    }
    return mixed(mixed(h, static_cast<uint64_t>(node.payload)),
                 static_cast<uint64_t>(node.payload >> 64));
  }

  void hash_below() {
    for (const uint32_t id : order_) {
      uint64_t h = own_hash(id);
      const auto operands = f_.operands(Term{id});
      if (commutes(f_.nodes()[id].fn)) {
        uint64_t all = 0;
        for (const Term t : operands) all += mixed(below_[t.id], 0x51);
        h = mixed(h, all);
      } else {
        for (const Term t : operands) h = mixed(h, below_[t.id]);
      }
      below_[id] = h;
    }
  }

  void hash_above() {
    for (const Term t : f_.required()) above_[t.id] += mixed(below_[t.id], 0x17);
    for (size_t i = order_.size(); i-- > 0;) {
      const uint32_t id = order_[i];
      const bool in_any_order = commutes(f_.nodes()[id].fn);
      const auto operands = f_.operands(Term{id});
      for (size_t k = 0; k < operands.size(); k++) {
        above_[operands[k].id] += mixed(mixed(below_[id], above_[id]), in_any_order ? 0 : k + 1);
      }
    }
  }

  void sort(std::vector<Term>& terms) const {
    std::sort(terms.begin(), terms.end(), [&](Term a, Term b) {
      return std::pair(below_[a.id], a.id) < std::pair(below_[b.id], b.id);
    });
  }

  std::vector<Term> ordered_operands(uint32_t id) const {
    const auto operands = f_.operands(Term{id});
    std::vector<Term> result(operands.begin(), operands.end());
    if (commutes(f_.nodes()[id].fn)) sort(result);
    return result;
  }

  // Operands first; nothing recurses.
  void visit(Term root) {
    struct Frame {
      uint32_t id;
      std::vector<Term> operands;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    const auto enter = [&](uint32_t id) {
      if (renamed_[id] == kNone) stack.push_back({id, ordered_operands(id)});
    };
    enter(root.id);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.operands.size()) {
        enter(top.operands[top.next++].id);
        continue;
      }
      if (renamed_[top.id] == kNone) renamed_[top.id] = copy(top.id, top.operands).id;
      stack.pop_back();
    }
  }

  Term copy(uint32_t id, std::span<const Term> operands) {
    const Formula::Node& node = f_.nodes()[id];
    if (node.fn == Fn::Number) return result_.formula.number(node.sort, node.payload);
    if (node.fn == Fn::Variable) return copy_variable(node);
    std::vector<Term> renamed;
    for (const Term t : operands) renamed.push_back({renamed_[t.id]});
    if (node.fn == Fn::Opaque) {
      const std::string& name = f_.opaques()[static_cast<size_t>(node.payload)];
      return result_.formula.opaque(name, node.sort, renamed);
    }
    return result_.formula.raw(node.fn, node.sort, renamed);
  }

  Term copy_variable(const Formula::Node& node) {
    const auto place = static_cast<uint32_t>(node.payload);
    const Formula::Variable& v = f_.variables()[place];
    const std::string name = fmt::format("v{}", result_.origins.size());
    result_.origins.push_back(place);
    if (v.is_bounded) return result_.formula.bounded(name, v.lo, v.hi);
    return result_.formula.variable(name, v.sort);
  }

  const Formula& f_;
  std::vector<uint32_t> order_;
  std::vector<uint64_t> below_;
  std::vector<uint64_t> above_;
  std::vector<uint32_t> renamed_;
  Canonical result_;
};

class Writer {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
  void put_wide(Int128 value) {
    put(static_cast<uint64_t>(value));
    put(static_cast<uint64_t>(value >> 64));
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    ASSAY_CHECK(bytes_.size() >= sizeof(T), "a question ends early");
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  Int128 get_wide() {
    const auto low = get<uint64_t>();
    const auto high = get<uint64_t>();
    return static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
  }

 private:
  std::string_view bytes_;
};

void put_sort(Writer& w, Sort sort) {
  w.put(static_cast<uint8_t>(sort.kind));
  w.put(sort.bits);
  w.put(static_cast<uint8_t>(sort.type));
}

Sort get_sort(Reader& r) {
  Sort sort;
  sort.kind = static_cast<Sort::Kind>(r.get<uint8_t>());
  sort.bits = r.get<uint8_t>();
  sort.type = static_cast<uop::DType>(r.get<uint8_t>());
  return sort;
}

}  // namespace

Canonical canonical(const Formula& f) { return Canonicalizer(f).run(); }

std::string to_bytes(const Formula& f) {
  Writer w;
  w.put(static_cast<uint32_t>(f.nodes().size()));
  for (uint32_t id = 0; id < f.nodes().size(); id++) {
    const Formula::Node& node = f.nodes()[id];
    w.put(static_cast<uint8_t>(node.fn));
    put_sort(w, node.sort);
    if (node.fn == Fn::Variable) {
      const Formula::Variable& v = f.variables()[static_cast<size_t>(node.payload)];
      w.put(static_cast<uint8_t>(v.is_bounded));
      w.put_wide(v.lo);
      w.put_wide(v.hi);
      continue;
    }
    if (node.fn == Fn::Number) w.put_wide(node.payload);
    if (node.fn == Fn::Opaque) w.put(static_cast<uint32_t>(node.payload));
    const auto operands = f.operands(Term{id});
    w.put(static_cast<uint32_t>(operands.size()));
    for (const Term t : operands) w.put(t.id);
  }
  w.put(static_cast<uint32_t>(f.required().size()));
  for (const Term t : f.required()) w.put(t.id);
  return std::move(w.bytes);
}

Formula from_bytes(std::string_view bytes) {
  Reader r(bytes);
  Formula f;
  const auto count = r.get<uint32_t>();
  for (uint32_t id = 0; id < count; id++) {
    const auto fn = static_cast<Fn>(r.get<uint8_t>());
    const Sort sort = get_sort(r);
    if (fn == Fn::Variable) {
      const bool is_bounded = r.get<uint8_t>() != 0;
      const Int128 lo = r.get_wide();
      const Int128 hi = r.get_wide();
      const std::string name = fmt::format("v{}", f.variables().size());
      is_bounded ? f.bounded(name, lo, hi) : f.variable(name, sort);
      continue;
    }
    const Int128 payload =
        fn == Fn::Number ? r.get_wide() : (fn == Fn::Opaque ? Int128{r.get<uint32_t>()} : 0);
    std::vector<Term> operands(r.get<uint32_t>());
    for (Term& t : operands) t.id = r.get<uint32_t>();
    if (fn == Fn::Number) {
      f.number(sort, payload);
    } else if (fn == Fn::Opaque) {
      f.opaque(fmt::format("f{}", static_cast<uint32_t>(payload)), sort, operands);
    } else {
      f.raw(fn, sort, operands);
    }
  }
  const auto required = r.get<uint32_t>();
  for (uint32_t i = 0; i < required; i++) f.require(Term{r.get<uint32_t>()});
  return f;
}

}  // namespace assay::smt
