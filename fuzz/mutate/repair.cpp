#include "fuzz/mutate/repair.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"
#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/follow.h"
#include "fuzz/mutate/statement.h"

namespace assay::fuzz {
namespace {

using tensor::AttrValue;
using tensor::Bind;
using tensor::Define;
using tensor::Family;
using tensor::Force;
using tensor::Literal;
using tensor::Op;
using tensor::Operand;
using tensor::Program;
using tensor::Size;
using tensor::Write;
using uop::DType;
using uop::Ref;

class Repairer {
 public:
  Repairer(Program& p, int64_t most)
      : p_(p), most_(most), values_(p.statements.size()), largest_(largest_values(p)) {
    for (const tensor::Variable& v : p.variables) bound_.push_back(v.value);
    for (size_t i = 0; i < p.statements.size(); i++) {
      p.statements[i].line = static_cast<int>(i) + 1;
    }
    session_.emplace();
    builder_.emplace(*session_, p_);
  }

  Repaired run() {
    std::vector<char> is_kept(p_.statements.size(), 1);
    for (size_t k = 0; k < is_kept.size(); k++) {
      if (statement(k)) continue;
      is_kept[k] = 0;
      p_.statements[k].what = Force{};
      result_.dropped++;
    }
    builder_.reset();
    if (is_ambiguous()) settle_outputs(is_kept);
    finish(is_kept);
    result_.bound = bound_;
    return std::move(result_);
  }

 private:
  bool statement(size_t k) {
    tensor::Statement& s = p_.statements[k];
    if (auto* force = std::get_if<Force>(&s.what)) {
      std::erase_if(force->values, [&](int32_t v) { return !fact(v).is_there; });
      return !force->values.empty();
    }
    if (const auto* e = std::get_if<tensor::Expect>(&s.what)) {
      return !e->may_be_value() || fact(e->value).is_there;
    }
    if (const auto* b = std::get_if<Bind>(&s.what)) return bind(k, *b);
    if (std::holds_alternative<Write>(s.what)) return write(k);
    return define(k);
  }

  ValueFact& fact(int32_t value) { return values_[static_cast<size_t>(value)]; }

  // A statement that was refused leaves nodes in the graph, which are not looked at again: it is
  // left, and what was built before is built anew.
  bool step(size_t k) {
    if (is_spoilt_) {
      builder_.reset();
      session_.emplace();
      builder_.emplace(*session_, p_);
      for (size_t i = 0; i < k; i++) {
        const bool built = builder_->step(i).ok();
        ASSAY_CHECK(built, "a statement is refused that was accepted");
      }
    }
    is_spoilt_ = !builder_->step(k).ok();
    return !is_spoilt_;
  }

  // Another value that can stand where the one that is not there did.
  int32_t stand_in(int32_t gone, size_t k) {
    const ValueFact& lost = fact(gone);
    for (size_t back = 1; back <= k; back++) {
      const ValueFact& v = values_[k - back];
      if (v.is_there && v.dtype == lost.dtype && v.shape == lost.shape && v.device == lost.device) {
        return static_cast<int32_t>(k - back);
      }
    }
    return -1;
  }

  bool bind(size_t k, const Bind& b) {
    const tensor::Variable& v = p_.variables[static_cast<size_t>(b.variable)];
    if (b.value < v.lo || b.value > v.hi) return false;
    // What depends on the old value is computed before, or not used again.
    std::vector<int32_t> pending;
    for (size_t i = 0; i < k; i++) {
      ValueFact& f = values_[i];
      if (!f.is_there || !f.depends) continue;
      const Define& d = p_.define(static_cast<int32_t>(i));
      const bool can_stay = !is_symbolic(d) && f.base == static_cast<int32_t>(i);
      if (can_stay) pending.push_back(static_cast<int32_t>(i));
    }
    auto* before = k == 0 ? nullptr : std::get_if<Force>(&p_.statements[k - 1].what);
    if (before != nullptr && before->values.empty()) before = nullptr;
    for (const int32_t value : pending) {
      if (before == nullptr) return false;
      if (std::ranges::find(before->values, value) == before->values.end()) {
        before->values.push_back(value);
      }
    }
    for (size_t i = 0; i < k; i++) {
      ValueFact& f = values_[i];
      if (!f.is_there || !f.depends) continue;
      if (std::ranges::find(pending, static_cast<int32_t>(i)) == pending.end()) f.is_there = false;
      f.depends = false;
    }
    bound_[static_cast<size_t>(b.variable)] = b.value;
    return step(k);
  }

  bool write(size_t k) {
    auto& w = std::get<Write>(p_.statements[k].what);
    if (!fact(w.target).is_there) w.target = stand_in(w.target, k);
    if (w.target < 0) return false;
    if (w.value.value >= 0 && !fact(w.value.value).is_there) {
      w.value.value = stand_in(w.value.value, k);
    }
    if (!write_fits(w) || !step(k)) {
      result_.changed++;
      if (!write_another(k, w)) return false;
    }
    // What stands where a variable says depends on it as well.
    const bool depends =
        fact(w.target).depends || (w.value.value >= 0 && fact(w.value.value).depends);
    const int32_t base = fact(w.target).base;
    for (ValueFact& f : values_) {
      if (f.is_there && f.base == base) f.depends = f.depends || depends;
    }
    return true;
  }

  bool write_fits(const Write& w) {
    const ValueFact& target = fact(w.target);
    if (w.value.value < 0) return holds(w.value.literal, target.dtype);
    return fact(w.value.value).dtype == target.dtype;
  }

  bool write_another(size_t k, Write& w) {
    const ValueFact& target = fact(w.target);
    for (size_t back = 1; back <= k; back++) {
      const ValueFact& v = values_[k - back];
      if (!v.is_there || v.dtype != target.dtype || v.device != target.device) continue;
      if (v.shape != target.shape && !v.shape.empty()) continue;
      w.value = {static_cast<int32_t>(k - back), {}};
      if (step(k)) return true;
    }
    w.value = {-1, {target.dtype == DType::Bool ? Literal::Kind::Bool : Literal::Kind::Int, 1, 0}};
    return step(k);
  }

  // Keeps what follows of operands and the statement as it is now; false where nothing does.
  bool follow(size_t k) {
    Define& d = *define_at(p_, k);
    std::vector<std::vector<int64_t>> shapes;
    for (const Operand& o : d.operands) {
      shapes.push_back(o.value < 0 ? std::vector<int64_t>{} : fact(o.value).shape);
    }
    return write_what_follows(p_, d, shapes, bound_);
  }

  bool accept(size_t k) {
    const Define& d = *define_at(p_, k);
    return is_small(d, most_, largest_) && is_readable(d, bound_) && is_general(p_, d, bound_) &&
           step(k);
  }
  bool accept_following(size_t k) { return follow(k) && accept(k); }

  bool define(size_t k) {
    Define& d = *define_at(p_, k);
    bool names_all = true;
    for (Operand& o : d.operands) {
      if (o.value < 0 || fact(o.value).is_there) continue;
      const int32_t other = stand_in(o.value, k);
      if (other < 0) o.literal = {Literal::Kind::Int, 1, 0};
      o.value = other;
      names_all = names_all && other >= 0;
    }
    const bool is_kept = names_all && accept(k);
    if (!is_kept) {
      result_.changed++;
      if (!accept_following(k) && !another(k)) return learn_lost(k);
    }
    learn(k);
    return true;
  }

  // What was to be there may be asked for: values of its type and shape stand in.
  bool learn_lost(size_t k) {
    learn(k);
    values_[k].is_there = false;
    return false;
  }

  void learn(size_t k) {
    const Define& d = *define_at(p_, k);
    ValueFact& f = values_[k];
    f.is_there = true;
    f.dtype = d.dtype;
    for (const Size& s : d.shape) f.shape.push_back(evaluate(s, bound_).value_or(-1));
    f.base = static_cast<int32_t>(k);
    f.device = d.device;
    f.depends = is_symbolic(d);
    bool has_device = !f.device.empty();
    for (const Operand& o : d.operands) {
      if (o.value < 0) continue;
      f.depends = f.depends || fact(o.value).depends;
      if (!has_device) f.device = fact(o.value).device;
      has_device = has_device || !f.device.empty();
    }
    const bool is_view = tensor::row(d.op).family == Family::View;
    if (is_view && !d.operands.empty() && d.operands[0].value >= 0) {
      f.base = fact(d.operands[0].value).base;
    }
  }

  // Other things that the statement may say, until one is accepted.
  bool another(size_t k) {
    Define& d = *define_at(p_, k);
    if (d.op == Op::Input) return refill(k);
    if (other_attrs(k)) return true;
    for (size_t i = 0; i < d.operands.size(); i++) {
      if (other_operand(k, i)) return true;
    }
    return false;
  }

  bool refill(size_t k) {
    Define& d = *define_at(p_, k);
    if (!is_small(d, most_, largest_)) return false;
    const std::vector<AttrValue> before = d.attrs;
    d.attrs = tensor::default_attrs(Op::Input);
    const tensor::OpRow& row = tensor::row(Op::Input);
    const bool is_bool = d.dtype == DType::Bool;
    if (is_bool || !std::holds_alternative<std::string>(before[row.attr("random")])) {
      d.attrs[row.attr("random")] = std::string("nasty");
    } else {
      d.attrs[row.attr("random")] = std::string(uop::is_float(d.dtype) ? "uniform" : "integers");
    }
    d.attrs[row.attr("seed")] = before[row.attr("seed")];
    return accept(k);
  }

  bool other_attrs(size_t k) {
    Define& d = *define_at(p_, k);
    if (!is_complete(d)) {
      for (size_t i = 0; i < d.attrs.size(); i++) {
        if (std::holds_alternative<std::monostate>(d.attrs[i])) d.attrs[i] = plain(k, i);
      }
      if (accept_following(k)) return true;
    }
    const Define before = d;
    if (d.op == Op::Reshape || d.op == Op::Expand) {
      if (d.operands[0].value < 0) return false;
      int64_t count = 1;
      d.shape.clear();
      for (const int64_t n : fact(d.operands[0].value).shape) {
        d.shape.push_back(Size{n, {}});
        count *= n;
      }
      if (d.op == Op::Reshape && d.shape.size() > 1) d.shape = {Size{count, {}}};
      if (accept_following(k)) return true;
      d = before;
    }
    for (size_t i = 0; i < d.attrs.size(); i++) {
      d.attrs[i] = plain(k, i);
      if (accept_following(k)) return true;
      d.attrs[i] = before.attrs[i];
    }
    for (size_t i = 0; i < d.attrs.size(); i++) d.attrs[i] = plain(k, i);
    if (accept_following(k)) return true;
    d = before;
    return false;
  }

  AttrValue plain(size_t k, size_t attr) {
    const Define& d = *define_at(p_, k);
    const int32_t x = d.operands.empty() ? -1 : d.operands[0].value;
    return plain_attr(d, attr, x < 0 ? 0 : fact(x).shape.size());
  }

  bool other_operand(size_t k, size_t i) {
    constexpr size_t kTried = 12;
    Define& d = *define_at(p_, k);
    const Define before = d;
    size_t tried = 0;
    for (size_t back = 1; back <= k && tried < kTried; back++) {
      if (!values_[k - back].is_there) continue;
      tried++;
      d.operands[i] = {static_cast<int32_t>(k - back), {}};
      if (accept_following(k)) return true;
      d = before;
    }
    d.operands[i] = {-1, {Literal::Kind::Int, 1, 0}};
    if (accept_following(k)) return true;
    d = before;
    return false;
  }

  // A program that asks for nothing computes at its end what nothing reads, in one schedule: what
  // depends on an old value of a variable beside what depends on the new one.
  bool is_ambiguous() const {
    const auto end = static_cast<int32_t>(p_.statements.size());
    return std::ranges::any_of(tensor::outputs(p_), [&](const tensor::Output& o) {
      return o.statement == end && !values_[static_cast<size_t>(o.value)].is_there;
    });
  }

  // What is there at the end is asked for, which leaves all else out; where nothing is, no value of
  // a variable is a second one.
  void settle_outputs(std::vector<char>& is_kept) {
    constexpr size_t kMostAsked = 4;
    for (size_t k = is_kept.size(); k-- > 0 && asked_.size() < kMostAsked;) {
      if (is_kept[k] != 0 && values_[k].is_there) asked_.push_back(static_cast<int32_t>(k));
    }
    if (!asked_.empty()) return;
    for (size_t k = 0; k < is_kept.size(); k++) {
      if (!std::holds_alternative<Bind>(p_.statements[k].what)) continue;
      std::fill(is_kept.begin() + static_cast<ptrdiff_t>(k), is_kept.end(), 0);
      for (size_t i = 0; i < k; i++) values_[i].is_there = is_kept[i] != 0;
      return;
    }
  }

  void finish(const std::vector<char>& is_kept) {
    keep_only(p_, is_kept);
    std::vector<int32_t> places(is_kept.size(), -1);
    for (size_t i = 0; i < is_kept.size(); i++) {
      if (is_kept[i] == 0) continue;
      places[i] = static_cast<int32_t>(result_.values.size());
      ValueFact f = std::move(values_[i]);
      if (f.base >= 0) f.base = places[static_cast<size_t>(f.base)];
      result_.values.push_back(std::move(f));
    }
    if (!asked_.empty()) {
      for (int32_t& value : asked_) value = places[static_cast<size_t>(value)];
      append_force(p_, asked_);
      result_.values.emplace_back();
      result_.changed++;
    }
    for (size_t i = 0; i < p_.statements.size(); i++) {
      p_.statements[i].line = static_cast<int>(i) + 1;
    }
    make_names_unique(p_);
  }

  Program& p_;
  int64_t most_;
  std::optional<tensor::Session> session_;
  std::optional<tensor::Builder> builder_;
  bool is_spoilt_ = false;
  std::vector<ValueFact> values_;
  std::vector<int64_t> bound_;
  std::vector<int64_t> largest_;
  std::vector<int32_t> asked_;  // at the end, where the program asks for nothing
  Repaired result_;
};

}  // namespace

Repaired repair(Program& program, int64_t most_elements) {
  return Repairer(program, most_elements).run();
}

int64_t most_elements_of(const Program& program) {
  const std::vector<int64_t> at = largest_values(program);
  int64_t most = 1;
  for (size_t i = 0; i < program.statements.size(); i++) {
    const Define* d = define_at(program, i);
    if (d != nullptr) most = std::max(most, element_count(d->shape, at).value_or(1));
  }
  return most;
}

}  // namespace assay::fuzz
