#pragma once

#include <string>
#include <string_view>

#include "engine/uop/target.h"

namespace assay::render {

// "uint"; void for what the language has no type for.
std::string_view c_type(uop::DType t);
// The unsigned integer of at least 32 bits that a fixed-width integer is computed in.
uop::DType unsigned_type(uop::DType t);

// How values of t are held: a bool in storage is a uchar, and a half that the target only stores is
// a float once it is loaded.
uop::DType stored_as(uop::DType t);
uop::DType held_as(const uop::Target& target, uop::DType t);
// Whether t is a half that is read and written through vload_half and vstore_half.
bool is_packed_half(const uop::Target& target, uop::DType t);

// A name of letters, digits and _ that begins with the prefix and a _, so that it is no word of the
// language and no name of a library or driver, all of which are many. Different texts give
// different names.
std::string user_name(std::string_view prefix, std::string_view text);

// The name of a scalar function at a float type, empty where op is none.
std::string_view function_name(const uop::Target& target, uop::Op op, uop::DType t);

}  // namespace assay::render
