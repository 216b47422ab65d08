#include "fuzz/bench/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/runtime/buffers.h"

namespace assay::fuzz::bench {

using runtime::View;

std::vector<int64_t> ForeignProgram::inputs() const {
  std::set<int64_t> written;
  for (const ForeignKernel& k : kernels) written.insert(k.buffers[0]);
  std::vector<int64_t> numbers;
  for (const auto& [number, size] : bytes) {
    if (!written.contains(number)) numbers.push_back(number);
  }
  return numbers;
}

Foreign::~Foreign() {
  for (const runtime::KernelId kernel : kernels_) device_.release(kernel);
  for (const runtime::StorageId storage : storages_) device_.release(storage);
}

Result<std::unique_ptr<Foreign>> Foreign::make(runtime::opencl::OpenclDevice& device,
                                               const ForeignProgram& program,
                                               std::span<const View> inputs) {
  std::unique_ptr<Foreign> made(new Foreign(device));
  if (std::optional<Error> error = made->give_storage(program, inputs)) return *error;
  for (const ForeignKernel& kernel : program.kernels) {
    if (std::optional<Error> error = made->build(program, kernel)) return *error;
  }
  const View output = made->views_.at(program.output());
  made->contender_.output = [&device, output] {
    return runtime::read_view(device, output, "its value");
  };
  return made;
}

std::optional<Error> Foreign::give_storage(const ForeignProgram& program,
                                           std::span<const View> inputs) {
  const std::vector<int64_t> numbers = program.inputs();
  if (numbers.size() != inputs.size()) {
    return Error{
        fmt::format("it has {} inputs where the program has {}", numbers.size(), inputs.size()), 0,
        0};
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (program.bytes.at(numbers[i]) != inputs[i].bytes) {
      return Error{fmt::format("buffer {} has {} bytes where input {} of the program has {}",
                               numbers[i], program.bytes.at(numbers[i]), i, inputs[i].bytes),
                   0, 0};
    }
    views_[numbers[i]] = inputs[i];
  }
  for (const auto& [number, bytes] : program.bytes) {
    if (views_.contains(number)) continue;
    ASSAY_TRY(storage, device_.allocate(bytes, fmt::format("foreign {}", number)));
    storages_.push_back(storage);
    views_[number] = {storage, 0, bytes};
    contender_.written.push_back(views_[number]);
  }
  return std::nullopt;
}

std::optional<Error> Foreign::build(const ForeignProgram& program, const ForeignKernel& kernel) {
  std::vector<int64_t> sizes;
  runtime::Command launch;
  for (const int64_t number : kernel.buffers) {
    sizes.push_back(program.bytes.at(number));
    launch.views.push_back(views_.at(number));
  }
  const Result<runtime::KernelId> built = device_.build_text(
      runtime::fixed_signature(kernel.name, sizes, kernel.sizes), {kernel.name, kernel.text});
  if (!built.ok()) return Error{fmt::format("{}: {}", kernel.file, built.error().message), 0, 0};
  kernels_.push_back(built.value());
  launch.kernel = built.value();
  contender_.names.push_back(kernel.name);
  contender_.launches.push_back(std::move(launch));
  return std::nullopt;
}

}  // namespace assay::fuzz::bench
