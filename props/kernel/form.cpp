#include "props/kernel/form.h"

namespace assay::props::kernel {

Form sum(const Form& a, const Form& b, Int128 times) {
  Form out;
  out.constant = a.constant + times * b.constant;
  out.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->atom < y->atom)) {
      out.terms.push_back(*x++);
      continue;
    }
    Form::Term term = {y->atom, times * y->times};
    if (x != a.terms.end() && x->atom == y->atom) term.times += (x++)->times;
    y++;
    if (term.times != 0) out.terms.push_back(term);
  }
  return out;
}

Form scaled(const Form& a, Int128 times) { return sum({}, a, times); }

}  // namespace assay::props::kernel
