#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/mutate/generate.h"
#include "fuzz/trial/case.h"
#include "oracles/choices.h"

namespace assay::fuzz {

struct MutateOptions {
  CaseOptions cases = {};
  // Of a program: it does not grow beyond, nor do its values (or beyond what they have already).
  size_t most_statements = 48;
  int64_t elements = 256;
};

// What a mutation works on.
struct Mutation;
class Mutator {
 public:
  Mutator(Choices& choices, const MutateOptions& how, Case& what)
      : c(choices), options(how), x(what), program(what.program) {}

  Choices& c;
  const MutateOptions& options;
  Case& x;
  tensor::Program& program;

  size_t size() const { return program.statements.size(); }
  int64_t most_elements() const;
};

// A way to change a case: false where it finds nothing to change. What it leaves ill-typed is
// repaired (fuzz/mutate/repair.h).
struct Mutation {
  std::string_view name;
  int weight;
  bool (*apply)(Mutator& m);
};
// Of statements, of their parts, of what is around the program.
std::span<const Mutation> statement_mutations();
std::span<const Mutation> part_mutations();
std::span<const Mutation> setting_mutations();
std::vector<const Mutation*> all_mutations();

// A case that differs from this one by a mutation, or by a few: valid as what is generated is
// (read back as the same program, accepted by the builder), whatever program it is that is changed.
// What a program expects is forgotten: expected values are forced, hints left to the case's opts.
// `done` collects the names of the mutations.
Case mutate(const Case& x, Choices& choices, const MutateOptions& options = {},
            std::vector<std::string_view>* done = nullptr);

// A part of b put into a, values of a taking the places of some that b has.
Case splice(const Case& a, const Case& b, Choices& choices, const MutateOptions& options = {});

}  // namespace assay::fuzz
