#include "engine/codegen/listing.h"

#include <fmt/format.h>

#include "engine/uop/node_map.h"
#include "engine/uop/text.h"

namespace assay::codegen {

using uop::Op;
using uop::Ref;

std::string lines_text(Ref linear) {
  std::string out;
  uop::NodeMap<uint32_t> numbers;
  uint32_t count = 0;
  size_t indent = 0;
  for (const Ref u : linear->src) {
    if (u->op == Op::Const) continue;
    if ((u->op == Op::End || u->op == Op::EndIf) && indent > 0) indent--;
    out.append(2 * indent, ' ');
    out += fmt::format("%{} = {}", count, to_text(u->op));
    if (u->dtype != uop::DType::Void) out += fmt::format(" {}", to_text(u->dtype));
    for (const Ref s : u->src) {
      const uint32_t* number = numbers.find(s);
      out += s->op == Op::Const ? fmt::format(" {}", to_text(s->value()))
                                : fmt::format(" %{}", number != nullptr ? *number : count);
    }
    uop::append_arg(out, u);
    out += '\n';
    numbers.set(u, count++);
    if (u->op == Op::Range || u->op == Op::If) indent++;
  }
  return out;
}

}  // namespace assay::codegen
