// How far a result may be from the value that was computed again. Pure.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "blas/element.hpp"

namespace fade::blas {

// |got - wanted| <= absolute + relative * magnitude. The magnitude is the sum of the absolute values that were added,
// so that terms which cancel each other make no false alarm.
struct Tolerance {
  double absolute = 0, relative = 0;
  double limit(double magnitude) const { return absolute + relative * magnitude; }
};

Tolerance default_tolerance(Element type);

}  // namespace fade::blas
