#pragma once

#include "engine/tensor/program/program.h"
#include "engine/uop/target.h"
#include "oracles/reference/licence.h"

namespace assay::runtime {
class Devices;
}

namespace assay::oracles {

// What devices of a target may do to floats, as the reference is told: whether they contract, at
// which types they flush subnormals (what a target only stores is computed in f32), and the limits
// of the functions that are its own. For the others the full profile speaks, which is what
// polynomials keep to.
reference::Licence licence_of(const uop::Target& target);

// What is allowed to all devices that a program names together, where `device` stands for what it
// leaves open. One that cannot be opened allows nothing.
reference::Licence licence_of(const tensor::Program& program, std::string_view device,
                              runtime::Devices& devices);

}  // namespace assay::oracles
