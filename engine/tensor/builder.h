#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "engine/tensor/session.h"

namespace assay::tensor {

// Storage that an input statement made, and what is in it from the start.
struct InitialContents {
  Ref buffer;
  std::vector<std::byte> bytes;
};

// Runs the statements of a program in a session, one after the other. Nothing is computed: `force`
// and `expect` are the caller's, who asks for the tensors they name.
class Builder {
 public:
  Builder(Session& session, const Program& program);

  // Statement k, after all before it. An error has its line.
  Result<bool> step(size_t statement);
  // The value that statement `value` defined; it is dropped after the last statement that names it.
  const Tensor& tensor(int32_t value) const { return tensors_[static_cast<size_t>(value)]; }
  // Storage made since the last call.
  std::vector<InitialContents> take_contents() { return std::move(contents_); }
  // To be called when statement k and what it asks for are done. Nodes that the caller holds may be
  // gone then (Session::compact).
  void finish(size_t statement);

  // All statements in turn. `force` is given the tensors that are read at a place that reads any,
  // those of the end last. An error is the first of a statement or of `force`.
  using Force = std::function<Result<bool>(std::span<const Tensor* const>)>;
  Result<bool> run(const Force& force);

 private:
  Result<bool> define(size_t statement, const Define& define);
  Result<bool> input(size_t statement, const Define& define);
  Result<bool> write(const Write& write);
  void follow();
  Ref bound(const Variable& variable, int64_t value);

  Session& session_;
  const Program& program_;
  std::vector<Ref> variables_;                   // BIND(VARIABLE, CONST), as Program::variables
  std::vector<int64_t> values_;                  // what they are bound to now
  std::vector<Tensor> tensors_;                  // by statement
  std::vector<std::vector<int32_t>> last_uses_;  // values to drop after each statement
  std::vector<InitialContents> contents_;
  uint32_t generation_ = 0;
};

}  // namespace assay::tensor
