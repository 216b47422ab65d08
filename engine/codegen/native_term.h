#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/check.h"
#include "engine/uop/walk.h"

// Scalar terms computed by this machine's own arithmetic, many values at once, for tests of
// millions. It shares nothing with uop/eval.
namespace assay::codegen {

class NativeTerm {
 public:
  static constexpr size_t kLanes = 512;
  using Lanes = std::vector<uint64_t>;  // the bits of kLanes values

  // How a device may compute, of f32.
  struct Licence {
    int recip_off = 0;     // units in the last place that a reciprocal is off
    bool flushes = false;  // operands and results that are subnormal become zeros
  };

  NativeTerm(uop::Graph& g, uop::Ref root, Licence licence)
      : licence_(licence), order_(uop::toposort(g, root)) {
    for (const uop::Ref u : order_) {
      const size_t place = places_.size();
      places_[u] = place;
      lanes_.emplace_back(kLanes, uop::is_const(u) ? u->arg.bits : 0);
    }
  }

  // The one leaf is x.
  const Lanes& run(const Lanes& x) {
    for (const uop::Ref u : order_) step(u, x);
    return lanes_[places_.at(order_.back())];
  }

 private:
  template <typename T>
  static T as(uint64_t bits) {
    if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<uint32_t>(bits));
    if constexpr (sizeof(T) == 1) return bits != 0;
  }
  template <typename T>
  static uint64_t bits(T v) {
    if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(v);
    if constexpr (std::is_same_v<T, float>) return std::bit_cast<uint32_t>(v);
    if constexpr (std::is_same_v<T, double>) return std::bit_cast<uint64_t>(v);
  }

  const Lanes& source(uop::Ref u, size_t i) const { return lanes_[places_.at(u->src[i])]; }
  template <typename F>
  void map(uop::Ref u, F f) {
    Lanes& out = lanes_[places_.at(u)];
    const Lanes& a = source(u, 0);
    const Lanes& b = source(u, u->src.size() > 1 ? 1 : 0);
    const Lanes& c = source(u, u->src.size() > 2 ? 2 : 0);
    for (size_t i = 0; i < kLanes; i++) out[i] = f(a[i], b[i], c[i]);
  }
  template <typename T, typename F>
  void map_as(uop::Ref u, F f) {
    map(u, [&](uint64_t a, uint64_t b, uint64_t c) {
      return bits(seen(f(seen(as<T>(a)), seen(as<T>(b)), seen(as<T>(c)))));
    });
  }
  // What a device that may flush subnormals sees of x.
  template <typename T>
  T seen(T x) const {
    if constexpr (std::is_same_v<T, float>) {
      if (licence_.flushes && std::fabs(x) < 0x1p-126F) return std::copysign(0.0F, x);
    }
    return x;
  }
  template <typename T>
  T reciprocal(T x) const {
    const T r = T(1) / x;
    if constexpr (std::is_same_v<T, float>) {
      if (std::isfinite(r) && r != 0) {
        return std::bit_cast<float>(std::bit_cast<int32_t>(r) + licence_.recip_off);
      }
    }
    return r;
  }

  void step(uop::Ref u, const Lanes& x) {
    using uop::Op;
    if (u->op == Op::Variable) {
      lanes_[places_.at(u)] = x;
    } else if (u->op == Op::Where) {
      map(u, [](uint64_t a, uint64_t b, uint64_t c) { return a != 0 ? b : c; });
    } else if (u->op == Op::Bitcast) {
      bitcast(u);
    } else if (!uop::is_const(u)) {
      typed(u, u->src[0]->dtype);
    }
  }

  void bitcast(uop::Ref u) {
    const bool extends = u->dtype == uop::I32;
    map(u, [&](uint64_t a, uint64_t, uint64_t) {
      if (extends) return static_cast<uint64_t>(static_cast<int32_t>(a));
      return u->dtype == uop::F32 || u->dtype == uop::U32 ? a & 0xFFFFFFFF : a;
    });
  }

  void typed(uop::Ref u, uop::DType t) {
    switch (t) {
      case uop::F32: return on_floats<float>(u);
      case uop::F64: return on_floats<double>(u);
      case uop::I32: return on_integers<int32_t, uint32_t>(u);
      case uop::U32: return on_integers<uint32_t, uint32_t>(u);
      case uop::I64: return on_integers<int64_t, uint64_t>(u);
      case uop::U64: return on_integers<uint64_t, uint64_t>(u);
      case uop::Bool: return on_bools(u);
      default: ASSAY_CHECK(false, "no arithmetic at {}", to_text(t));
    }
  }

  template <typename T>
  void cast(uop::Ref u) {
    switch (u->dtype) {
      case uop::F32: return map_as<T>(u, [](T a, T, T) { return static_cast<float>(a); });
      case uop::F64: return map_as<T>(u, [](T a, T, T) { return static_cast<double>(a); });
      case uop::I32: return map_as<T>(u, [](T a, T, T) { return static_cast<int32_t>(a); });
      case uop::U32: return map_as<T>(u, [](T a, T, T) { return static_cast<uint32_t>(a); });
      case uop::I64: return map_as<T>(u, [](T a, T, T) { return static_cast<int64_t>(a); });
      default: return map_as<T>(u, [](T a, T, T) { return static_cast<uint64_t>(a); });
    }
  }

  template <typename T>
  bool compares(uop::Ref u) {
    using uop::Op;
    switch (u->op) {
      case Op::Lt: map_as<T>(u, [](T a, T b, T) { return a < b; }); return true;
      case Op::Eq: map_as<T>(u, [](T a, T b, T) { return a == b; }); return true;
      case Op::Ne: map_as<T>(u, [](T a, T b, T) { return a != b; }); return true;
      default: return false;
    }
  }

  template <typename T>
  void on_floats(uop::Ref u) {
    using uop::Op;
    if (compares<T>(u)) return;
    switch (u->op) {
      case Op::Neg: return map_as<T>(u, [](T a, T, T) { return -a; });
      case Op::Recip: return map_as<T>(u, [&](T a, T, T) { return reciprocal(a); });
      case Op::Trunc: return map_as<T>(u, [](T a, T, T) { return std::trunc(a); });
      case Op::Add: return map_as<T>(u, [](T a, T b, T) { return a + b; });
      case Op::Sub: return map_as<T>(u, [](T a, T b, T) { return a - b; });
      case Op::Mul: return map_as<T>(u, [](T a, T b, T) { return a * b; });
      case Op::Fma: return map_as<T>(u, [](T a, T b, T c) { return std::fma(a, b, c); });
      case Op::Cast: return cast<T>(u);
      default: ASSAY_CHECK(false, "no {} of floats", to_text(u->op));
    }
  }

  // T's arithmetic, by U, its unsigned type.
  template <typename T, typename U>
  void on_integers(uop::Ref u) {
    using uop::Op;
    if (compares<T>(u)) return;
    switch (u->op) {
      case Op::Neg: return map_as<T>(u, [](T a, T, T) { return T(U(0) - U(a)); });
      case Op::Add: return map_as<T>(u, [](T a, T b, T) { return T(U(a) + U(b)); });
      case Op::Sub: return map_as<T>(u, [](T a, T b, T) { return T(U(a) - U(b)); });
      case Op::Mul: return map_as<T>(u, [](T a, T b, T) { return T(U(a) * U(b)); });
      case Op::And: return map_as<T>(u, [](T a, T b, T) { return T(a & b); });
      case Op::Or: return map_as<T>(u, [](T a, T b, T) { return T(a | b); });
      case Op::Xor: return map_as<T>(u, [](T a, T b, T) { return T(a ^ b); });
      case Op::Shl: return map_as<T>(u, [](T a, T b, T) { return T(U(a) << b); });
      case Op::Shr: return map_as<T>(u, [](T a, T b, T) { return T(a >> b); });
      case Op::Cast: return cast<T>(u);
      default: ASSAY_CHECK(false, "no {} of integers", to_text(u->op));
    }
  }

  void on_bools(uop::Ref u) {
    using uop::Op;
    if (compares<bool>(u)) return;
    switch (u->op) {
      case Op::And: return map_as<bool>(u, [](bool a, bool b, bool) { return a && b; });
      case Op::Or: return map_as<bool>(u, [](bool a, bool b, bool) { return a || b; });
      case Op::Xor: return map_as<bool>(u, [](bool a, bool b, bool) { return a != b; });
      case Op::Not: return map_as<bool>(u, [](bool a, bool, bool) { return !a; });
      default: ASSAY_CHECK(false, "no {} of bools", to_text(u->op));
    }
  }

  Licence licence_;
  std::vector<uop::Ref> order_;
  std::map<uop::Ref, size_t> places_;
  std::vector<Lanes> lanes_;
};

}  // namespace assay::codegen
