// Guesses the type of a buffer's elements from its bytes. A guess may miss a type. It must not take other data for
// floats: text, images, integers and random bytes are no floats.
#pragma once
#include <cstddef>
#include <span>

#include "numbers/dtype.hpp"

namespace fade::numbers {

struct Guess {
  bool has_evidence = false;  // false: too few bytes that are not zero
  Dtype type = Dtype::Unknown;
};

// Looks at bytes spread over all of `bytes`, which begin with an element.
Guess guess(std::span<const std::byte> bytes);

}  // namespace fade::numbers
