#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/schedule/call.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"

namespace assay::schedule {

// The programs of corpus/seeds/program, for tests and benchmarks.
inline std::string seed_text(std::string_view name) {
  std::ifstream in(std::filesystem::path(ASSAY_SOURCE_DIR "/corpus/seeds/program") /
                   (std::string(name) + ".tp"));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline tensor::Program seed_program(std::string_view name) {
  Result<tensor::Program> read = tensor::from_text(seed_text(name));
  ASSAY_CHECK(read.ok(), "{}: {}", name, to_string(read.error()));
  return std::move(read).value();
}

// Those that another compiler was timed on, in the order of its table.
inline constexpr std::array<const char*, 12> kTimedPrograms = {
    "elementwise", "softmax",           "layernorm", "matmul", "mlp",    "conv",
    "attention",   "transformer_block", "sum_all",   "cumsum", "rotary", "sgd_step"};

// The body of the call that realizes what the program asks for.
inline Result<Ref> seed_body(Session& session, const tensor::Program& program) {
  tensor::Builder builder(session, program);
  for (size_t k = 0; k < program.statements.size(); ++k) {
    const Result<bool> done = builder.step(k);
    if (!done.ok()) return done.error();
    // What no later statement names is dropped.
    if (k + 1 < program.statements.size()) builder.finish(k);
  }
  std::vector<const Tensor*> tensors;
  for (const tensor::Output& o : tensor::outputs(program)) {
    tensors.push_back(&builder.tensor(o.value));
  }
  return transform_to_call(session.graph(), pick_outputs(session, tensors).sink)->src[0];
}

}  // namespace assay::schedule
