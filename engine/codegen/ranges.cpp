#include "engine/codegen/ranges.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/index_terms.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/replace_ranges.h"
#include "engine/uop/dim.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/scope.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

int64_t count_of(Ref range) { return static_cast<int64_t>(range->src[0]->arg.bits); }
bool is_counted(Ref u) { return u->op == Op::Range && uop::is_const(u->src[0]); }

Ref renumbered(Graph& g, Ref range, Ref count, int64_t number) {
  const auto arg = uop::Arg::axis(static_cast<int32_t>(number), range->arg.axis_type());
  return g.make(Op::Range, range->dtype, {count}, arg);
}

struct SplitRange {
  Ref range;
  int64_t by;
};

// A quotient or remainder of a range by a divisor of its count.
std::optional<SplitRange> find_split(std::span<const Ref> nodes) {
  for (const Ref u : nodes) {
    if (u->op != Op::Div && u->op != Op::Mod) continue;
    const Ref r = u->src[0];
    if (!is_counted(r) || r->dtype != DType::Index || !uop::is_const(u->src[1])) continue;
    const auto by = static_cast<int64_t>(u->src[1]->arg.bits);
    if (by > 1 && by < count_of(r) && count_of(r) % by == 0) return SplitRange{r, by};
  }
  return std::nullopt;
}

// The range as outer * by + inner; ranges behind it make room for one more number.
Result<Ref> split(uop::Run& run, Ref kernel, std::span<const Ref> nodes, const SplitRange& s) {
  Graph& g = run.graph();
  std::vector<RangeChange> changes;
  const int64_t number = s.range->arg.number();
  for (const Ref u : nodes) {
    if (u->op != Op::Range || u->arg.number() <= number) continue;
    const Ref behind = renumbered(g, u, u->src[0], u->arg.number() + 1);
    changes.push_back({u, behind, {behind}});
  }
  const Ref by = uop::dim(g, s.by);
  const Ref outer = renumbered(g, s.range, uop::dim(g, count_of(s.range) / s.by), number);
  const Ref inner = renumbered(g, s.range, by, number + 1);
  const Ref rows = g.alu(Op::Mul, {outer, by});
  changes.push_back({s.range, g.alu(Op::Add, {rows, inner}), {outer, inner}});
  return replace_ranges(run, kernel, changes);
}

// Each split takes a quotient or a remainder away, and no range comes apart for ever.
Result<Ref> split_all(uop::Run& run, Ref kernel) {
  Graph& g = run.graph();
  if (has_opts(kernel)) return kernel;
  while (true) {
    const std::vector<Ref> nodes = uop::toposort(g, kernel);
    const std::optional<SplitRange> s = find_split(nodes);
    if (!s) return kernel;
    ASSAY_TRY(next, split(run, kernel, nodes, *s));
    kernel = next;
  }
}

// What a kernel's terms say of its ranges, as factors in sums that are read whole.
class Factors {
 public:
  Factors(Graph& g, Ref kernel) : g_(g) {
    for (const Ref u : uop::toposort(g, kernel)) {
      if (is_counted(u)) {
        places_.set(u, ranges_.size());
        ranges_.push_back(u);
        closers_.emplace_back();
      }
      look(u);
    }
  }

  // An outer and an inner range that are read as one.
  std::optional<std::pair<Ref, Ref>> joined() const {
    for (size_t inner = 0; inner < ranges_.size(); ++inner) {
      for (const Reading& reading : readings_) {
        const int64_t factor = factor_in(reading, ranges_[inner]);
        if (factor == 0) continue;
        for (const uop::Multiple& m : reading) {
          if (places_.has(m.atom) && are_joined(places_.at(m.atom), inner)) {
            return std::pair(m.atom, ranges_[inner]);
          }
        }
        break;  // what it is joined with stands in every term that reads it
      }
    }
    return std::nullopt;
  }

 private:
  using Reading = std::span<const uop::Multiple>;

  static int64_t factor_in(Reading reading, Ref range) {
    const auto found = std::ranges::find(reading, range, &uop::Multiple::atom);
    return found == reading.end() ? 0 : found->factor;
  }

  // Notes which ranges u closes, and which terms it reads that are no part of a larger sum.
  void look(Ref u) {
    const bool closes = u->op == Op::End || u->op == Op::Reduce;
    const bool sums =
        u->op == Op::Add || u->op == Op::Sub || (u->op == Op::Mul && uop::is_const(u->src[1]));
    if (u->dtype == DType::Index && sums) return;
    for (size_t i = 0; i < u->src.size(); ++i) {
      const Ref s = u->src[i];
      if (closes && i > 0) {
        if (const size_t* place = places_.find(s)) closers_[*place].push_back(u);
      } else if (s->dtype == DType::Index && !uop::is_const(s) && !seen_.has(s)) {
        seen_.set(s, 1);
        read(s);
      }
    }
  }

  void read(Ref term) {
    const std::optional<uop::Sum> sum = uop::sum_of(g_, term);
    if (sum) {
      const Reading terms = g_.facts().sums.at(term).terms;
      const auto is_range = [&](const uop::Multiple& m) { return places_.has(m.atom); };
      if (std::ranges::any_of(terms, is_range)) readings_.push_back(terms);
      return;
    }
    // No sum can be made of it. What it is made of is read by it, unless it is one itself.
    if (term->op != Op::Add && term->op != Op::Sub && term->op != Op::Mul) return;
    for (const Ref r : uop::ranges(g_, term)) opaque_.set(r, 1);
  }

  bool are_joined(size_t outer, size_t inner) const {
    const Ref a = ranges_[outer];
    const Ref b = ranges_[inner];
    if (outer == inner || opaque_.has(a) || opaque_.has(b)) return false;
    const bool alike = a->arg.axis_type() == b->arg.axis_type() &&
                       a->arg.axis_type() != uop::AxisType::Loop && a->dtype == b->dtype;
    if (!alike || closers_[outer] != closers_[inner]) return false;
    if (uop::Int128{count_of(a)} * count_of(b) > uop::max_int(DType::Index)) return false;
    return std::ranges::all_of(readings_, [&](Reading reading) {
      return uop::Int128{factor_in(reading, b)} * count_of(b) == factor_in(reading, a);
    });
  }

  Graph& g_;
  std::vector<Ref> ranges_;
  std::vector<std::vector<Ref>> closers_;  // by place in ranges_, in the order of the toposort
  std::vector<Reading> readings_;
  uop::NodeMap<size_t> places_;
  uop::NodeMap<uint8_t> seen_;
  uop::NodeMap<uint8_t> opaque_;
};

Result<Ref> join(uop::Run& run, Ref kernel, Ref outer, Ref inner) {
  Graph& g = run.graph();
  const Ref count = uop::dim(g, count_of(outer) * count_of(inner));
  const Ref whole = renumbered(g, outer, count, outer->arg.number());
  // Each term has outer * n + inner, so it is the whole where the outer one is left out.
  const RangeChange changes[] = {{outer, uop::dim(g, 0), {whole}}, {inner, whole, {whole}}};
  return replace_ranges(run, kernel, changes);
}

// A range that was joined may come apart elsewhere: that takes a quotient away, and joining adds
// none, so it ends.
Result<Ref> join_all(uop::Run& run, Ref kernel) {
  if (has_opts(kernel)) return kernel;
  while (true) {
    while (const auto pair = Factors(run.graph(), kernel).joined()) {
      ASSAY_TRY(joined, join(run, kernel, pair->first, pair->second));
      kernel = joined;
    }
    ASSAY_TRY(apart, split_all(run, kernel));
    if (apart == kernel) return kernel;
    kernel = apart;
  }
}

// The symbolic rules and those of validity.
std::span<const uop::RuleSet* const> kernel_rules() {
  static const std::vector<const uop::RuleSet*> sets = [] {
    std::vector<const uop::RuleSet*> all(uop::symbolic_rules().begin(),
                                         uop::symbolic_rules().end());
    all.push_back(&uop::validity_rules());
    return all;
  }();
  return sets;
}

// Terms that something else reads, each as a whole.
Result<Ref> simplify(uop::Run& run, Ref kernel) {
  if (has_opts(kernel)) return kernel;
  Graph& g = run.graph();
  IndexTerms terms(run, kernel_rules());
  uop::NodeMap<Ref> done;
  std::vector<Ref> sources;
  for (const Ref u : uop::toposort(g, kernel)) {
    terms.note(u);
    sources.clear();
    const bool is_read = !terms.is_term(u) && u->op != Op::End && u->op != Op::Reduce;
    for (const Ref s : u->src) {
      const bool ends_here = is_read && s->op != Op::Range && terms.is_term(s);
      sources.push_back(ends_here ? terms.settled(s, done.at(s)) : done.at(s));
    }
    done.set(u, std::ranges::equal(sources, u->src) ? u : g.with_sources(u, sources));
  }
  if (const auto& trouble = terms.trouble()) return *trouble;
  const Ref result = done.at(kernel);
  return terms.has_decided() ? run.rewrite(kernel_rules(), result) : Result<Ref>(result);
}

}  // namespace

const uop::Pass& split_ranges() {
  static const uop::Pass pass = {.name = "split_ranges",
                                 .accepts = scheduled_form(),
                                 .yields = scheduled_form(),
                                 .rules = {},
                                 .function = split_all};
  return pass;
}

const uop::Pass& simplify_kernel() {
  static const uop::Pass pass = {.name = "simplify_kernel",
                                 .accepts = scheduled_form(),
                                 .yields = scheduled_form(),
                                 .rules = {},
                                 .function = simplify};
  return pass;
}

const uop::Pass& simplify_ranges() {
  static const uop::Pass pass = {.name = "simplify_ranges",
                                 .accepts = scheduled_form(),
                                 .yields = scheduled_form(),
                                 .rules = {},
                                 .function = join_all};
  return pass;
}

}  // namespace assay::codegen
