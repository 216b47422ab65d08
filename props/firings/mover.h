#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/uop.h"
#include "oracles/smt/formula.h"

namespace assay::props {

// Sizes, positions and conditions of movements as terms of one formula. A chain of movements is
// given with the last one first.
class Mover {
 public:
  Mover(uop::Graph& g, smt::Formula& f) : g_(g), f_(f) {}

  // Where an element of the base lies: an index for each axis, or its place in row-major order.
  struct Place {
    std::vector<smt::Term> at;
    smt::Term flat;
    bool is_flat = false;
    smt::Term valid;  // else it is padding
  };
  // What a chain makes of the sizes of its base.
  struct Moved {
    std::vector<smt::Term> sizes;
    smt::Term well_formed;
    std::vector<std::vector<smt::Term>> steps;  // the sizes of each movement's source, root first
  };

  // A size as a term: variables within their bounds.
  smt::Term term(uop::Ref size);
  std::vector<smt::Term> terms(std::span<const uop::Ref> sizes) {
    std::vector<smt::Term> all;
    for (const uop::Ref s : sizes) all.push_back(term(s));
    return all;
  }
  Moved moved(std::span<const uop::Ref> chain, const std::vector<smt::Term>& base);
  // Where the element at these indices comes from.
  Place place(std::span<const uop::Ref> chain, const Moved& moved,
              const std::vector<smt::Term>& at);
  smt::Term flattened(const std::vector<smt::Term>& at, const std::vector<smt::Term>& sizes);
  // Those that sizes have, by name.
  const std::map<std::string, uop::Ref>& variables() const { return variables_; }

 private:
  smt::Term all(std::initializer_list<smt::Term> conditions) {
    smt::Term result = f_.truth(true);
    for (const smt::Term c : conditions) result = f_.both(result, c);
    return result;
  }
  smt::Term product(const std::vector<smt::Term>& sizes) {
    smt::Term result = f_.integer(1);
    for (const smt::Term s : sizes) result = f_.mul(result, s);
    return result;
  }
  smt::Term size_step(uop::Ref u, std::vector<smt::Term>& sizes);
  void place_step(uop::Ref u, const std::vector<smt::Term>& from, const std::vector<smt::Term>& to,
                  Place& place);
  std::vector<smt::Term> unflattened(smt::Term flat, const std::vector<smt::Term>& sizes);

  uop::Graph& g_;
  smt::Formula& f_;
  std::map<std::string, uop::Ref> variables_;  // of sizes, by name
};

}  // namespace assay::props
