// --check blas: which products are computed again, and the limits.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "blas/tolerance.hpp"

namespace fade::blas {

struct CheckRule {
  bool is_on = false;
  std::uint64_t every = 100;                                  // of the products of a process
  std::uint64_t most_bytes = std::uint64_t{64} << 20;         // most=: of the matrices of one product
  std::uint64_t bytes_per_second = std::uint64_t{256} << 20;  // rate=
  std::uint64_t dumps = 8;                                    // products of a recording that are written as files
  std::array<std::optional<double>, 8> absolute, relative;    // by Element

  Tolerance tolerance(Element type) const {
    const auto index = static_cast<std::size_t>(type);
    const Tolerance usual = default_tolerance(type);
    return {absolute[index].value_or(usual.absolute), relative[index].value_or(usual.relative)};
  }
};

// "blas,every=100,atol=1e-5,rtol.f16=1e-2,most=64M,rate=256M,dumps=8". Empty: off.
Result<CheckRule> parse_check_rule(std::string_view text);

}  // namespace fade::blas
