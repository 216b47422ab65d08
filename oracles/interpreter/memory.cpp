#include "oracles/interpreter/memory.h"

#include "engine/uop/shape.h"
#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

std::span<std::byte> Memory::of(uop::Graph& g, uop::Ref buffer) {
  ASSAY_CHECK(buffer->op == uop::Op::Buffer, "{} is no buffer", uop::to_text(buffer->op));
  const int64_t number = buffer->arg.number();
  const auto found = bytes_.find(number);
  if (found != bytes_.end()) return found->second;
  const std::optional<uop::Shape> most = uop::max_shape(g, uop::shape(g, buffer));
  const std::optional<int64_t> count = most ? uop::constant_size(*most) : std::nullopt;
  ASSAY_CHECK(count.has_value(), "buffer {} has no largest size", number);
  std::vector<std::byte>& made = bytes_[number];
  made.resize(static_cast<size_t>(*count * uop::bytes_of(buffer->dtype)));
  fill_poison(buffer->dtype, made.data(), *count);
  return made;
}

}  // namespace assay::interpreter
