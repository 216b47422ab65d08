#pragma once

#include <cstdint>
#include <span>

#include "engine/tensor/program/program.h"
#include "oracles/choices.h"

namespace assay::fuzz {

using oracles::Choices;

class ProgramMaker;

struct ProgramOptions {
  int statements = 10;       // about as many: an op brings operands that it lacks
  int64_t elements = 256;    // the most of one value
  bool is_stateful = true;   // writes, forces at any place, variables, a second device
  bool only_floats = false;  // values are floats, but for what an op needs beside them
  int folds = 0;             // of 16 ops so many are drawn among reduces and contractions alone
  // Of 16 inputs, types and ops so many are drawn where numbers meet the ends of what holds them:
  // contents at the ends of their types, each type as often as another but for one that a program
  // has most of, and ops that differ there by width and by sign (casts, comparisons, shifts,
  // minima).
  int edges = 0;
};

// A random program, valid by construction: every op, at all types, on small shapes with edges (no
// axis, axes of size 0 and 1), with views, writes through views and forces in any order. What the
// numeric contract leaves open (a division by zero, a float compared inside its error) is rare.
tensor::Program make_program(Choices& choices, const ProgramOptions& options = {});

// Draws one statement, and what it needs beside the values that are there.
void draw_statement(ProgramMaker& m);

// How a program comes to have an op: `draw` adds a statement of it, or nothing and says so where it
// finds no operands that fit.
struct Draw {
  tensor::Op op;
  int weight;
  bool (*draw)(ProgramMaker& m, tensor::Op op);
};
// One row an op, by Op.
std::span<const Draw> all_draws();

}  // namespace assay::fuzz
