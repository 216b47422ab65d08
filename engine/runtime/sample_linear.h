#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/schedule/calls.h"
#include "engine/schedule/schedule.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::runtime {

// Kernels and schedules of tests.
struct SampleLinear {
  uop::Graph g;

  uop::Ref index(int64_t n) { return g.constant(uop::Index, n); }
  uop::Ref i32(int64_t n) { return g.constant(uop::I32, n); }
  uop::Ref device(std::string_view name) {
    return g.make(uop::Op::Device, uop::Void, {}, g.name(name));
  }
  uop::Ref buffer(int32_t number, int64_t size, std::string_view on, uop::DType t = uop::F32) {
    const uop::Ref count = index(size);
    const uop::Ref where = device(on);
    return g.make(uop::Op::Buffer, t, {count, where},
                  uop::Arg::place(number, uop::AddrSpace::Global));
  }
  uop::Ref param(int32_t slot, int64_t size, uop::DType t = uop::F32) {
    const uop::Ref count = i32(size);
    return g.make(uop::Op::Param, t, {count}, uop::Arg::number(slot));
  }
  uop::Ref special(std::string_view name, uop::Ref size) {
    return g.make(uop::Op::Special, uop::I32, {size}, g.name(name));
  }

  // A kernel over `params` buffers of `size` floats, the first of which it stores to: p0[i] =
  // p1[i], with as many work-items, `items` in a group.
  uop::Ref linear(std::string_view name, int params, int64_t size, int64_t items = 1) {
    const uop::Ref groups = i32(size / items);
    const uop::Ref gidx = special("gidx0", groups);
    const uop::Ref width = i32(items);
    const uop::Ref lidx = special("lidx0", width);
    const uop::Ref scaled = g.alu(uop::Op::Mul, {gidx, width});
    const uop::Ref i = g.alu(uop::Op::Add, {scaled, lidx});
    std::vector<uop::Ref> all;
    for (int k = 0; k < params; k++) all.push_back(param(k, size));
    uop::Ref x = g.constant(uop::of_double(uop::F32, 1));
    if (params > 1) {
      const uop::Ref from = g.make(uop::Op::Index, uop::F32, {all[1], i});
      x = g.make(uop::Op::Load, uop::F32, {from});
    }
    const uop::Ref to = g.make(uop::Op::Index, uop::F32, {all[0], i});
    all.push_back(g.make(uop::Op::Store, uop::Void, {to, x}));
    // Each node once and after its sources, the parameters first.
    std::vector<uop::Ref> list = uop::toposort(g, g.make(uop::Op::Group, uop::Void, all));
    list.pop_back();
    return g.make(uop::Op::Linear, uop::Void, list, g.info(name, {}));
  }

  uop::Ref call(uop::Ref body, std::vector<uop::Ref> arguments) {
    arguments.insert(arguments.begin(), body);
    return g.make(uop::Op::Call, uop::Void, arguments, g.info("", {}));
  }

  // COPY of n elements, from place `begin1` on of the one to `begin0` of the other.
  uop::Ref copy(uop::Ref to, int64_t begin0, uop::Ref from, int64_t begin1, int64_t n) {
    const uop::Ref p0 = g.make(uop::Op::Param, to->dtype, {to->src[0]}, uop::Arg::number(0));
    const uop::Ref p1 = g.make(uop::Op::Param, to->dtype, {from->src[0]}, uop::Arg::number(1));
    const uop::Ref count = index(n);
    const uop::Ref at0 = index(begin0);
    const uop::Ref at1 = index(begin1);
    const uop::Ref target = g.make(uop::Op::Shrink, to->dtype, {p0, at0, count});
    const uop::Ref source = g.make(uop::Op::Shrink, to->dtype, {p1, at1, count});
    const uop::Ref moved = g.make(uop::Op::Copy, to->dtype, {source, to->src[1]});
    const uop::Ref store = g.make(uop::Op::Store, uop::Void, {target, moved});
    return call(g.make(uop::Op::Sink, uop::Void, {store}, g.info("copy", {})), {to, from});
  }

  // What is run: `held` are the buffers that outlive it.
  schedule::Schedule scheduled(std::vector<uop::Ref> calls, std::vector<schedule::Edge> edges,
                               const std::vector<uop::Ref>& held) {
    schedule::Schedule s;
    s.linear = schedule::make_linear(g, calls, std::move(edges));
    s.planned = s.linear;
    std::vector<uop::Ref> all = {s.linear};
    all.insert(all.end(), held.begin(), held.end());
    s.call = g.make(uop::Op::Call, uop::Void, all, g.info("", {}));
    return s;
  }
};

inline std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
inline std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace assay::runtime
