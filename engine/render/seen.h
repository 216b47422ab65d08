#pragma once

#include "engine/render/source.h"

// What rendering shows to a watch (uop/watch.h).
namespace assay::render {

// A LINEAR became text.
struct SourceSeen {
  uop::Graph& graph;
  uop::Ref linear;
  const Source& source;
};

}  // namespace assay::render
