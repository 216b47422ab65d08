#pragma once

#include "engine/codegen/term.h"

// Floats narrower than f32, by f32 and integers: e4m3, e5m2, f16 and bf16. Rounding, overflow and
// NaN are those of engine/uop/README.md; a NaN may come out as another one. Nothing on the way is
// subnormal but what is subnormal in bf16, so a device that flushes subnormals does the rest right.
namespace assay::codegen {

// The bits of x (of f32) rounded to t, as u32.
Term encoded(Term x, uop::DType t);
// The f32 that the bits (of u8 or u16) stand for at t.
Term decoded(Term bits, uop::DType t);
// x (of f32) rounded to t, as f32.
Term rounded(Term x, uop::DType t);

// What rounds to t as x does: x (of f64, or an integer) at f32, rounded to odd where t could tell.
Term narrowed(Term x, uop::DType t);
// What rounds to t as a * b + c does, of f32 numbers that t holds.
Term narrow_fma(Term a, Term b, Term c, uop::DType t);

}  // namespace assay::codegen
