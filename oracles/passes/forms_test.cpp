// Kernels in each form that stands between two passes (engine/codegen/README.md), written by hand:
// all forms of a kernel compute the same.
#include "engine/codegen/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/uop/spec.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"

namespace assay::oracles {
namespace {

using interpreter::StepOrder;
using uop::Graph;
using uop::Ref;

std::filesystem::path folder() { return ASSAY_SOURCE_DIR "/oracles/interpreter/testdata/forms"; }

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// "0_scheduled.uop" and so on, by their numbers.
std::vector<std::filesystem::path> forms_of(const std::string& kernel) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder() / kernel))
    files.push_back(entry.path());
  const auto number = [](const std::filesystem::path& p) {
    return std::stoi(p.filename().string());
  };
  std::sort(files.begin(), files.end(),
            [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const uop::Spec* form(std::string_view name) {
  for (const uop::Spec* spec :
       {&codegen::scheduled_form(), &codegen::tiled_form(), &codegen::expanded_form(),
        &codegen::reduced_form(), &codegen::unstaged_form(), &codegen::placed_form(),
        &codegen::loads_form(), &codegen::scalar_form(), &codegen::vectors_form(),
        &codegen::lowered_form(), &codegen::gated_form()}) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

// Small integers, at the type.
void fill(std::span<std::byte> bytes, uop::DType t) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  for (size_t i = 0; i * width < bytes.size(); ++i) {
    const uint64_t bits = uop::of_int(t, 9 - static_cast<int64_t>(i * 7 % 13)).bits;
    std::memcpy(&bytes[i * width], &bits, width);
  }
}

// Storage for the parameters of a kernel, by slot.
struct Storage {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<interpreter::Argument> arguments;

  Storage(Graph& g, Ref kernel) {
    for (const Ref u : uop::toposort(g, kernel)) {
      if (u->op != uop::Op::Param) continue;
      const auto slot = static_cast<size_t>(u->arg.number());
      const auto size = static_cast<int64_t>(u->src[0]->arg.bits);
      if (slot >= bytes.size()) {
        bytes.resize(slot + 1);
        arguments.resize(slot + 1);
      }
      bytes[slot].resize(static_cast<size_t>(size * uop::bytes_of(u->dtype)));
      fill(bytes[slot], u->dtype);
      arguments[slot] = {bytes[slot], u->dtype, size, true, u->arg.number()};
    }
  }
};

// What a kernel leaves in its first argument, or an error.
Result<std::vector<std::byte>> result_of(const std::string& text, StepOrder order) {
  Graph g;
  ASSAY_TRY(parsed, uop::from_text(g, text));
  Storage storage(g, parsed.root);
  const auto ran = interpreter::run_kernel(g, parsed.root, storage.arguments, {}, order);
  if (!ran.ok()) return ran.error();
  return storage.bytes[0];
}

class Forms : public testing::TestWithParam<std::string> {};

TEST_P(Forms, ComputeTheSame) {
  std::vector<std::byte> wanted;
  for (const std::filesystem::path& path : forms_of(GetParam())) {
    SCOPED_TRACE(path.filename().string());
    Graph g;
    const std::string text = read(path);
    const auto parsed = uop::from_text(g, text);
    ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
    const uop::Spec* spec = form(parsed.value().stage);
    ASSERT_NE(spec, nullptr) << parsed.value().stage;
    EXPECT_EQ(uop::breach(*spec, g, parsed.value().root), std::nullopt);
    for (const StepOrder order : {StepOrder::FirstSourceFirst, StepOrder::LastSourceFirst}) {
      const auto got = result_of(text, order);
      ASSERT_TRUE(got.ok()) << to_string(got.error());
      if (wanted.empty()) wanted = got.value();
      EXPECT_EQ(got.value(), wanted);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Forms, testing::ValuesIn(kernels()),
                         [](const auto& p) { return p.param; });

// A mistake that a pass might make, as an edit of what it should leave, and the error that shows
// it; without one the kernel computes something else.
struct Mistake {
  const char* name;
  std::string_view file;
  std::string_view from;
  std::string_view to;
  std::string_view error = {};
};

constexpr Mistake kMistakes[] = {
    {"stride", "grouped_sum/1_tiled", "mul index %g %c2", "mul index %g %c3",
     "reads element 49 of argument 1 (buffer 1), which holds 48, at range 0 = 2"},
    {"folded_twice", "grouped_sum/2_expanded", "{add 1}\n%back = reshape i32 %sum %c1",
     "{add 0}\n%none = const index 0\n%back = index i32 %sum %none"},
    {"no_start", "grouped_sum/3_reduced", "%acc %start %r", "%acc %r"},
    {"other_unit", "grouped_sum/3_reduced", "const i32 0", "const i32 1"},
    {"one_lane_lost", "grouped_sum/3_reduced", "add i32 %sum0 %x1", "add i32 %sum0 %x0"},
    {"stage_not_awaited", "grouped_sum/4_unstaged", "after i32 %b %puts",
     "after i32 %b %i\n%unused = group void %puts"},
    {"all_store", "grouped_sum/5_placed", "index i32 %out %own", "index i32 %out %i",
     "writes element 0 of argument 0 (buffer 0), which the same store has written"},
    {"result_too_early", "grouped_sum/7_scalar", "after i32 %acc %loop", "after i32 %acc %start"},
    {"vector_one_off", "grouped_sum/8_vectors", "%a %at1 %c2", "%a %at0 %c2"},
    {"gate_lost", "grouped_sum/10_gated", "store void %to %all %first", "store void %to %all",
     "writes element 0 of argument 0 (buffer 0), which the same store has written"},
    {"wrong_identity", "padded_max/3_reduced", "const f32 -inf", "const f32 100.0"},
    {"load_without_gate", "padded_max/4_gated", "load f32 %a1 %unit %g1", "load f32 %a1",
     "reads element 5 of argument 1 (buffer 1), which holds 5"},
    {"wrong_alternative", "padded_max/4_gated", "%y1 = load f32 %a1 %unit %g1",
     "%big = const f32 100.0\n%y1 = load f32 %a1 %big %g1"},
    {"tail_written", "tail/1_tiled", "index i32 %out %at", "index i32 %out %i",
     "writes element 5 of argument 0 (buffer 0), which holds 5, at range 0 = 1, range 1 = 1"},
    {"start_out_of_the_loop", "nested/2_placed", "after i32 %inner %j", "after i32 %inner"},
    {"lanes_not_in_front", "upcast_matmul/3_reduced", "{2 0 1}", "{0 1 2}"},
    {"lanes_swapped", "upcast_matmul/6_vectors", "stack f32 %v0 %v1", "stack f32 %v1 %v0"},
    {"vector_past_the_end", "masked_upcast/3_gated", "store void %to %y %inside",
     "store void %to %y", "writes element 6 of argument 0 (buffer 0), which holds 6, at gidx0 = 3"},
};

void PrintTo(const Mistake& m, std::ostream* out) { *out << m.name; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, Show) {
  const Mistake& m = GetParam();
  const std::string path = (folder() / m.file).string() + ".uop";
  const std::string text = read(path);
  std::string wrong = text;
  const size_t at = wrong.find(m.from);
  ASSERT_NE(at, std::string::npos);
  wrong.replace(at, m.from.size(), m.to);
  const auto wanted = result_of(text, StepOrder::FirstSourceFirst);
  ASSERT_TRUE(wanted.ok()) << to_string(wanted.error());
  bool differs = false;
  for (const StepOrder order : {StepOrder::FirstSourceFirst, StepOrder::LastSourceFirst}) {
    const auto got = result_of(wrong, order);
    if (!m.error.empty()) {
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().message, m.error);
      continue;
    }
    ASSERT_TRUE(got.ok()) << to_string(got.error());
    differs = differs || got.value() != wanted.value();
  }
  EXPECT_EQ(differs, m.error.empty());
}

INSTANTIATE_TEST_SUITE_P(, Mistakes, testing::ValuesIn(kMistakes),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace assay::oracles
