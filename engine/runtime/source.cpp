#include "engine/runtime/source.h"

#include "engine/render/renderer.h"
#include "engine/render/seen.h"

namespace assay::runtime {

Result<KernelText> render_kernel(Graph& g, Ref linear, const Target& target, std::string_view name,
                                 uop::Watch* watch) {
  ASSAY_TRY(source, render::render(g, linear, target, name));
  if (watch != nullptr) {
    watch->edit_source(source.text);
    watch->seen(render::SourceSeen{g, linear, source});
  }
  return KernelText{std::move(source.name), std::move(source.text)};
}

}  // namespace assay::runtime
