#include "blas/tolerance.hpp"

namespace fade::blas {

// f16 and bf16: results are rounded to 11 and 8 bits, and sums may be, too. Integers are exact.
Tolerance default_tolerance(Element type) {
  switch (type) {
    case Element::F16: return {1e-4, 5e-3};
    case Element::BF16: return {1e-6, 1e-2};
    case Element::F32:
    case Element::C64: return {1e-7, 1e-5};
    case Element::F64:
    case Element::C128: return {1e-14, 1e-12};
    case Element::I8:
    case Element::I32: break;
  }
  return {};
}

}  // namespace fade::blas
