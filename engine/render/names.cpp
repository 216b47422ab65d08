#include "engine/render/names.h"

#include <fmt/format.h>

#include <iterator>

namespace assay::render {

using uop::DType;
using uop::Op;
using uop::Target;

std::string_view c_type(DType t) {
  switch (t) {
    case DType::Bool: return "bool";
    case DType::I8: return "char";
    case DType::U8: return "uchar";
    case DType::I16: return "short";
    case DType::U16: return "ushort";
    case DType::I32: return "int";
    case DType::U32: return "uint";
    case DType::I64: return "long";
    case DType::U64: return "ulong";
    case DType::F16: return "half";
    case DType::F32: return "float";
    case DType::F64: return "double";
    case DType::Void:
    case DType::Index:
    case DType::E4M3:
    case DType::E5M2:
    case DType::BF16: return "void";
  }
  return "void";
}

DType unsigned_type(DType t) { return uop::bits_of(t) <= 32 ? DType::U32 : DType::U64; }

DType stored_as(DType t) { return t == DType::Bool ? DType::U8 : t; }

bool is_packed_half(const Target& target, DType t) {
  return t == DType::F16 && !target.arithmetic.has(DType::F16);
}

DType held_as(const Target& target, DType t) { return is_packed_half(target, t) ? DType::F32 : t; }

std::string user_name(std::string_view prefix, std::string_view text) {
  std::string name = fmt::format("{}_", prefix);
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || (c == '_' && name.back() != '_');
    if (is_plain) {
      name += c;
    } else {
      fmt::format_to(std::back_inserter(name), "__{:02x}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

std::string_view function_name(const Target& target, Op op, DType t) {
  struct Row {
    Op op;
    std::string_view name;
    std::string_view native;  // single precision only
  };
  static constexpr Row kRows[] = {
      {Op::Sqrt, "sqrt", "native_sqrt"}, {Op::Exp, "exp", "native_exp"},
      {Op::Exp2, "exp2", "native_exp2"}, {Op::Log, "log", "native_log"},
      {Op::Log2, "log2", "native_log2"}, {Op::Sin, "sin", "native_sin"},
      {Op::Cos, "cos", "native_cos"},    {Op::Tan, "tan", "native_tan"},
      {Op::Recip, "", "native_recip"},   {Op::FDiv, "", "native_divide"},
      {Op::Trunc, "trunc", "trunc"},     {Op::Floor, "floor", "floor"},
      {Op::Ceil, "ceil", "ceil"},        {Op::Round, "rint", "rint"},
      {Op::Pow, "pow", "pow"},           {Op::Fma, "fma", "fma"},
  };
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    return t == DType::F32 && target.math.native.has(op) ? row.native : row.name;
  }
  return {};
}

}  // namespace assay::render
