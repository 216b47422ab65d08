#pragma once

#include <span>
#include <string>

#include "fuzz/score/score.h"

namespace assay::fuzz {

// "found order.no_edges: case 3, 0.02 s, by reference; blames schedule in 0.01 s".
std::string line_of(const Scored& s);
// Findings, blame and witness, for who wants to see them.
std::string details_of(const Scored& s);

// Faults by class, and in how many of each class which judge found what was planted.
std::string matrix_text(std::span<const Scored> scored);
// The matrix, how many were found and how soon, whom blame named, survivors with why, classes that
// one judge alone finds, and what turned out to be no fault.
std::string summary_text(std::span<const Scored> scored);

// Whether something survived, or failed without any fault.
bool is_red(std::span<const Scored> scored);

}  // namespace assay::fuzz
