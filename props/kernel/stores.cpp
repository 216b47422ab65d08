#include "props/kernel/checks.h"
#include "props/kernel/races.h"

namespace assay::props::kernel {

Checked check_stores(const Subject& subject, uop::Ref scheduled) {
  (void)subject;
  (void)scheduled;
  return {};
}

}  // namespace assay::props::kernel
