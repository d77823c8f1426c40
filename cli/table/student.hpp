// Student's t distribution.
#pragma once
#include <cstddef>

namespace fade::table {

// The t of 97.5 %, for intervals of 95 %. For degrees of freedom between those of the table that of the smaller one,
// which claims less. Infinite for 0.
double student_975(std::size_t degrees_of_freedom);

}  // namespace fade::table
