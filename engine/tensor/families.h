#pragma once

#include <span>

#include "engine/tensor/build.h"

namespace assay::tensor {

// The parts of the table of builders, each of the file that is named for it.
std::span<const BuildRow> source_builds();
std::span<const BuildRow> elementwise_builds();
std::span<const BuildRow> activation_builds();
std::span<const BuildRow> movement_builds();
std::span<const BuildRow> reduce_builds();
std::span<const BuildRow> scan_builds();
std::span<const BuildRow> contract_builds();
std::span<const BuildRow> einsum_builds();
std::span<const BuildRow> conv_builds();
std::span<const BuildRow> window_builds();
std::span<const BuildRow> norm_builds();
std::span<const BuildRow> indexing_builds();
std::span<const BuildRow> order_builds();

}  // namespace assay::tensor
