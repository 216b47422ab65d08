#include "fuzz/shrink/shrink.h"

#include <algorithm>
#include <utility>

#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/repair.h"
#include "fuzz/mutate/statement.h"

namespace assay::fuzz {
namespace {

uint64_t hash_of(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// Of a list of opts; what a seed draws is more than any.
int64_t entries_of(std::string_view opts) {
  constexpr int64_t kDrawn = 100;
  if (opts.empty() || opts == "none") return 0;
  return opts.find('(') == std::string_view::npos ? kDrawn : 1 + std::ranges::count(opts, ' ');
}

void run_all(Shrinking& s) {
  for (const auto steps : {statement_steps(), part_steps()}) {
    for (const ShrinkStep& step : steps) step.run(s);
  }
}

}  // namespace

CaseSize size_of(const Case& c) {
  CaseSize size;
  const tensor::Program& p = c.program;
  size.statements = std::ssize(p.statements);
  const Case plain;
  size.settings = int{c.device != plain.device} + int{c.profile != plain.profile} +
                  int{c.seed != plain.seed} + entries_of(c.opts) + std::ssize(p.hints) +
                  std::ssize(p.variables);
  const std::vector<int64_t> largest = largest_values(p);
  for (size_t i = 0; i < p.statements.size(); i++) {
    const tensor::Define* d = define_at(p, i);
    if (d == nullptr) continue;
    size.elements += element_count(d->shape, largest).value_or(0);
    const bool is_plain =
        d->dtype == uop::DType::F32 || d->dtype == uop::DType::I32 || d->dtype == uop::DType::Bool;
    size.types += is_plain ? 0 : 1;
  }
  size.letters = std::ssize(to_text(c));
  return size;
}

Shrinking::Shrinking(const Case& failing, const std::function<bool(const Case&)>& still_fails,
                     const ShrinkOptions& options)
    : still_fails_(still_fails),
      options_(options),
      now_(failing),
      size_(fuzz::size_of(failing)),
      most_elements_(most_elements_of(failing.program)) {
  tensor::Program copy = failing.program;
  const Repaired repaired = repair(copy, most_elements_);
  is_well_formed_ = repaired.changed == 0 && repaired.dropped == 0;
}

bool Shrinking::takes(Case candidate) {
  if (is_spent()) return false;
  if (is_well_formed_) repair(candidate.program, most_elements_);
  if (candidate.program.statements.empty()) return false;
  const CaseSize size = fuzz::size_of(candidate);
  if (size >= size_) return false;
  const uint64_t hash = hash_of(to_text(candidate));
  const auto place = std::ranges::lower_bound(tried_, hash);
  if (place != tried_.end() && *place == hash) return false;
  tried_.insert(place, hash);
  trials_++;
  if (!still_fails_(candidate)) return false;
  now_ = std::move(candidate);
  size_ = size;
  return true;
}

bool Shrinking::takes(tensor::Program program) {
  Case candidate = now_;
  candidate.program = std::move(program);
  return takes(std::move(candidate));
}

Shrunk shrink(const Case& failing, const std::function<bool(const Case&)>& still_fails,
              const ShrinkOptions& options) {
  Shrinking s(failing, still_fails, options);
  bool is_smaller = true;
  while (is_smaller && !s.is_spent()) {
    const CaseSize before = size_of(s.now());
    run_all(s);
    is_smaller = size_of(s.now()) < before;
  }
  return {s.now(), s.trials(), !is_smaller};
}

std::vector<Case> smaller(const Case& c) {
  std::vector<Case> found;
  const std::function<bool(const Case&)> collects = [&](const Case& candidate) {
    found.push_back(candidate);
    return false;
  };
  const ShrinkOptions once;
  Shrinking s(c, collects, once);
  run_all(s);
  return found;
}

}  // namespace assay::fuzz
