#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schedule/calls.h"
#include "engine/uop/dim.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

// Builds kernel graphs and LINEARs for tests.
struct SampleGraph {
  Graph g;
  int32_t next_buffer = 0;

  Ref device(std::string_view name) { return g.make(uop::Op::Device, uop::Void, {}, g.name(name)); }
  Ref buffer(int64_t count, uop::DType t = uop::F32, std::string_view on = "sim:0") {
    const Ref sources[] = {uop::dim(g, count), device(on)};
    return g.make(uop::Op::Buffer, t, sources,
                  uop::Arg::place(next_buffer++, uop::AddrSpace::Global));
  }
  Ref param(int64_t slot, int64_t count, uop::DType t = uop::F32, std::string_view on = "sim:0") {
    const Ref sources[] = {uop::dim(g, count), device(on)};
    return g.make(uop::Op::Param, t, sources, uop::Arg::number(slot));
  }
  // PARAM{k} of a kernel.
  Ref flat(int64_t k, int64_t count, uop::DType t = uop::F32) {
    return g.make(uop::Op::Param, t, {uop::dim(g, count)}, uop::Arg::number(k));
  }
  Ref index(Ref x, Ref i) { return g.make(uop::Op::Index, x->dtype, {x, i}); }
  Ref range(int32_t number, int64_t count) {
    return g.make(uop::Op::Range, uop::Index, {uop::dim(g, count)},
                  uop::Arg::axis(number, uop::AxisType::Weak));
  }
  Ref kernel(std::string_view name, Ref target, Ref value, std::initializer_list<Ref> ranges) {
    std::vector<Ref> end = {g.make(uop::Op::Store, uop::Void, {target, value})};
    end.insert(end.end(), ranges.begin(), ranges.end());
    return g.make(uop::Op::Sink, uop::Void, {g.make(uop::Op::End, uop::Void, end)},
                  g.info(name, {}));
  }
  // Writes 4 elements: the sum of the buffers read; `in_place` adds what was there.
  Ref sum_kernel(std::string_view name, size_t reads, bool in_place = false) {
    const Ref r = range(0, 4);
    Ref value = in_place ? index(flat(0, 4), r) : g.constant(uop::of_int(uop::F32, 1));
    for (size_t k = 1; k <= reads; k++) {
      value = g.alu(uop::Op::Add, {value, index(flat(static_cast<int64_t>(k), 4), r)});
    }
    return kernel(name, index(flat(0, 4), r), value, {r});
  }
  Ref call(Ref body, std::initializer_list<Ref> states) {
    std::vector<Ref> sources = {body};
    sources.insert(sources.end(), states.begin(), states.end());
    return g.make(uop::Op::Call, uop::Void, sources);
  }
  Ref writes(std::string_view name, std::initializer_list<Ref> states) {
    return call(sum_kernel(name, states.size() - 1), states);
  }
  Ref changes(std::string_view name, std::initializer_list<Ref> states) {
    return call(sum_kernel(name, states.size() - 1, true), states);
  }
  Ref after(Ref state, std::initializer_list<Ref> members) {
    std::vector<Ref> sources = {state};
    sources.insert(sources.end(), members.begin(), members.end());
    return g.make(uop::Op::After, state->dtype, sources);
  }
  Ref stack(std::initializer_list<Ref> states) {
    return g.make(uop::Op::MStack, (*states.begin())->dtype, states);
  }
  Ref select(Ref state, int64_t k) {
    return g.make(uop::Op::MSelect, state->dtype, {state}, uop::Arg::number(k));
  }
  Ref sink(std::initializer_list<Ref> states) { return g.make(uop::Op::Sink, uop::Void, states); }
};

// "a b c; 0 RAW 1, 1 WAR 2": the kernels of a LINEAR by name and its edges.
inline std::string brief(Ref linear) {
  std::string out;
  for (const Ref call : linear->src) {
    out += fmt::format("{}{}", out.empty() ? "" : " ", kernel_name(call));
  }
  const auto edges = edges_of(linear);
  if (!edges.ok()) return edges.error().message;
  std::string_view mark = "; ";
  for (const Edge& e : edges.value()) {
    out += fmt::format("{}{} {} {}", mark, e.from, to_text(e.kind), e.to);
    mark = ", ";
  }
  return out;
}

}  // namespace assay::schedule
