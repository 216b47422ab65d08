#include <algorithm>
#include <numeric>
#include <optional>

#include "props/kernel/problem.h"

namespace assay::props::kernel {

// Bounds of the variables are narrowed by what is required, then a clause or a variable is split in
// two, and so on. Wherever the search stands, `domain_` holds all that is left to look at.
class Search {
 public:
  Search(const Problem& p, int64_t steps) : p_(p), left_(steps), domain_(p.variables_) {}

  Problem::Answer run() {
    Problem::Answer answer;
    const int64_t all = left_;
    answer.found = look(std::vector<int32_t>(p_.required_), all_clauses());
    answer.steps = all - left_;
    if (answer.found != Found::Yes) return answer;
    for (const Interval& d : domain_) answer.values.push_back(d.lo);
    return answer;
  }

 private:
  enum class Step : uint8_t { Same, Narrowed, Empty };
  using Linears = std::vector<int32_t>;
  using Clauses = std::vector<size_t>;

  Clauses all_clauses() const {
    Clauses all(p_.clauses_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  Interval& domain(int32_t v) { return domain_[static_cast<size_t>(v)]; }
  const Interval& domain(int32_t v) const { return domain_[static_cast<size_t>(v)]; }

  // What the sum may be.
  Interval sum_of(const Problem::Linear& l) const {
    Interval total;
    for (const Problem::Factor& f : p_.factors(l)) {
      const Interval& d = domain(f.variable);
      total.lo += f.times * (f.times > 0 ? d.lo : d.hi);
      total.hi += f.times * (f.times > 0 ? d.hi : d.lo);
    }
    return total;
  }

  // Whether a multiple of what all open coefficients share reaches the interval at all.
  bool is_reachable(const Problem::Linear& l) {
    Int128 fixed = 0;
    int64_t shared = 0;
    for (const Problem::Factor& f : p_.factors(l)) {
      const Interval& d = domain(f.variable);
      if (d.lo == d.hi) {
        fixed += f.times * d.lo;
        continue;
      }
      if (f.times != static_cast<int64_t>(f.times)) return true;
      shared = std::gcd(shared, static_cast<int64_t>(f.times));
      if (shared == 1) return true;
    }
    if (shared == 0) return l.lo <= fixed && fixed <= l.hi;
    if (l.lo <= -kInfinity / 2 || l.hi >= kInfinity / 2) return true;
    return floor_div(l.hi - fixed, shared) >= ceil_div(l.lo - fixed, shared);
  }

  Step narrow(int32_t number) {
    const Problem::Linear& l = p_.linears_[static_cast<size_t>(number)];
    const Interval total = sum_of(l);
    if (total.lo > l.hi || total.hi < l.lo) return Step::Empty;
    if (total.is_within(l.lo, l.hi)) return Step::Same;
    if (!is_reachable(l)) return Step::Empty;
    Step step = Step::Same;
    for (const Problem::Factor& f : p_.factors(l)) {
      Interval& d = domain(f.variable);
      if (d.lo == d.hi) continue;
      const Int128 size = f.times > 0 ? f.times : -f.times;
      // What the others leave to this one: from `most` below its end, and above its beginning.
      const Int128 up = floor_div(l.hi - total.lo, size);
      const Int128 down = floor_div(total.hi - l.lo, size);
      const Int128 lo = f.times > 0 ? d.hi - down : d.hi - up;
      const Int128 hi = f.times > 0 ? d.lo + up : d.lo + down;
      if (lo <= d.lo && hi >= d.hi) continue;
      d = {std::max(d.lo, lo), std::min(d.hi, hi)};
      if (d.lo > d.hi) return Step::Empty;
      step = Step::Narrowed;
    }
    return step;
  }

  // Narrows to what both hold.
  Step meet(int32_t v, Interval to) {
    Interval& d = domain(v);
    if (to.lo <= d.lo && to.hi >= d.hi) return Step::Same;
    d = {std::max(d.lo, to.lo), std::min(d.hi, to.hi)};
    return d.lo > d.hi ? Step::Empty : Step::Narrowed;
  }

  Step narrow(const Problem::Product& p) {
    const Interval x = domain(p.x);
    const Interval y = domain(p.y);
    const Int128 ends[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
    const Step step =
        meet(p.variable, {*std::ranges::min_element(ends), *std::ranges::max_element(ends)});
    if (step == Step::Empty) return step;
    // A known factor leaves the other one its part of the product.
    const bool is_x_known = x.lo == x.hi;
    if (!is_x_known && y.lo != y.hi) return step;
    const Int128 known = is_x_known ? x.lo : y.lo;
    if (known == 0) return step;
    Interval product = domain(p.variable);
    if (known < 0) product = {-product.hi, -product.lo};
    const Int128 size = known < 0 ? -known : known;
    const Step other =
        meet(is_x_known ? p.y : p.x, {ceil_div(product.lo, size), floor_div(product.hi, size)});
    return other == Step::Same ? step : other;
  }

  bool is_possible(const Linears& option) {
    return std::ranges::all_of(option, [&](int32_t number) {
      const Problem::Linear& l = p_.linears_[static_cast<size_t>(number)];
      const Interval total = sum_of(l);
      return total.lo <= l.hi && total.hi >= l.lo && is_reachable(l);
    });
  }
  bool is_certain(const Linears& option) const {
    return std::ranges::all_of(option, [&](int32_t number) {
      const Problem::Linear& l = p_.linears_[static_cast<size_t>(number)];
      return sum_of(l).is_within(l.lo, l.hi);
    });
  }

  // Clauses with one option left require it; those with a certain one are done.
  Step settle(Linears& required, Clauses& clauses) {
    Step step = Step::Same;
    for (size_t c = 0; c < clauses.size();) {
      const Linears* only = nullptr;
      int options = 0;
      bool is_done = false;
      for (const Linears& option : p_.clauses_[clauses[c]]) {
        if (!is_possible(option)) continue;
        options++;
        only = &option;
        is_done = is_done || is_certain(option);
      }
      if (options == 0) return Step::Empty;
      if (!is_done && options > 1) {
        c++;
        continue;
      }
      if (!is_done) {
        required.insert(required.end(), only->begin(), only->end());
        step = Step::Narrowed;
      }
      clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(c));
    }
    return step;
  }

  // False where nothing is left.
  bool propagate(Linears& required, Clauses& clauses) {
    // Narrowing by a step at a time could go on for as long as a domain is wide; what is left then
    // is for bisection.
    constexpr int kMostRounds = 24;
    for (int round = 0; round < kMostRounds; round++) {
      bool is_narrowed = false;
      const auto take = [&](Step step) {
        is_narrowed = is_narrowed || step == Step::Narrowed;
        return step != Step::Empty;
      };
      for (const int32_t l : required) {
        left_--;
        if (!take(narrow(l))) return false;
      }
      for (const Problem::Product& p : p_.products_) {
        if (!take(narrow(p))) return false;
      }
      if (!take(settle(required, clauses))) return false;
      if (!is_narrowed) break;
    }
    return true;
  }

  // Where many clauses or products are open: the primary variable with the fewest values, if they
  // are few, since all else follows once they are known; -1 where there is none.
  int32_t small_primary(size_t clauses) {
    constexpr Int128 kFew = 256;
    constexpr size_t kMany = 4;
    const bool is_open = std::ranges::any_of(p_.products_, [&](const Problem::Product& p) {
      return domain(p.x).lo != domain(p.x).hi && domain(p.y).lo != domain(p.y).hi;
    });
    if (!is_open && clauses < kMany) return -1;
    int32_t best = -1;
    for (const int32_t v : p_.primary_) {
      const Int128 size = domain(v).hi - domain(v).lo;
      if (size == 0 || size >= kFew) continue;
      if (best < 0 || size < domain(best).hi - domain(best).lo) best = v;
    }
    return best;
  }

  // The smallest open domain among what is not yet certain; -1 where all is.
  int32_t variable_to_split(const Linears& required) {
    int32_t best = -1;
    const auto consider = [&](int32_t v) {
      const Interval& d = domain(v);
      if (d.lo == d.hi) return;
      if (best < 0 || d.hi - d.lo < domain(best).hi - domain(best).lo) best = v;
    };
    for (const int32_t number : required) {
      const Problem::Linear& l = p_.linears_[static_cast<size_t>(number)];
      if (sum_of(l).is_within(l.lo, l.hi)) continue;
      for (const Problem::Factor& f : p_.factors(l)) consider(f.variable);
    }
    if (best >= 0) return best;
    for (const Problem::Product& p : p_.products_) {
      for (const int32_t v : {p.variable, p.x, p.y}) consider(v);
    }
    return best;
  }

  // Whether what is required holds, nothing being left to split: narrowing may have ended at its
  // last round with values that contradict each other.
  bool is_kept(const Linears& required) const {
    const auto holds = [&](const Problem::Product& p) {
      return domain(p.variable).lo == domain(p.x).lo * domain(p.y).lo;
    };
    return is_certain(required) && std::ranges::all_of(p_.products_, holds);
  }

  // Nothing there is sure; an unknown half leaves the whole unknown.
  Found look(Linears required, Clauses clauses) {
    if (left_ <= 0) return Found::Unknown;
    if (!propagate(required, clauses)) return Found::No;
    const std::vector<Interval> here = domain_;
    int32_t v = small_primary(clauses.size());
    if (v < 0 && !clauses.empty()) return look_by_clause(required, clauses, here);
    if (v < 0) v = variable_to_split(required);
    if (v < 0) return is_kept(required) ? Found::Yes : Found::No;
    const Interval whole = domain(v);
    const Int128 middle = floor_div(whole.lo + whole.hi, 2);
    domain(v).hi = middle;
    const Found low = look(required, clauses);
    if (low == Found::Yes) return low;
    domain_ = here;
    domain(v).lo = middle + 1;
    const Found high = look(required, clauses);
    return high == Found::No ? low : high;
  }

  Found look_by_clause(const Linears& required, Clauses& clauses,
                       const std::vector<Interval>& here) {
    const size_t clause = clauses.back();
    clauses.pop_back();
    Found found = Found::No;
    for (const Linears& option : p_.clauses_[clause]) {
      domain_ = here;
      if (!is_possible(option)) continue;
      Linears more = required;
      more.insert(more.end(), option.begin(), option.end());
      const Found one = look(std::move(more), clauses);
      if (one == Found::Yes) return one;
      if (one == Found::Unknown) found = one;
    }
    return found;
  }

  const Problem& p_;
  int64_t left_;
  std::vector<Interval> domain_;
};

Problem::Answer Problem::search(int64_t steps) const { return Search(*this, steps).run(); }

}  // namespace assay::props::kernel
