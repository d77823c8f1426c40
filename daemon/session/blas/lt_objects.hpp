// Layouts of matrices and descriptions of products that a program has made for hipBLASLt, by their handles. A handle
// may be used again: the last object with it counts. Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "blas/product.hpp"
#include "session/argument_reader.hpp"

namespace fade {

class LtObjects {
 public:
  struct Layout {
    std::uint64_t type = 0, rows = 0, columns = 0, ld = 0, batch = 1, stride = 0;
    bool is_by_columns = true;
  };
  struct Description {
    std::uint64_t compute = 0, scale = 0;
    std::uint64_t op_a = 111, op_b = 111;
    std::string special;  // an attribute by which the result is more than the product; empty: none
  };

  // A call that describes_gemm() has succeeded.
  void learn(const Entry& entry, const OpenCall& call);
  const Layout* layout(std::uint64_t handle) const;
  const Description* description(std::uint64_t handle) const;

 private:
  static constexpr std::size_t kMost = 100'000;
  void set_layout(std::uint64_t handle, std::uint64_t attribute, std::uint64_t value);
  void set_description(std::uint64_t handle, std::uint64_t attribute, std::uint64_t value);

  std::unordered_map<std::uint64_t, Layout> layouts_;
  std::unordered_map<std::uint64_t, Description> descriptions_;
};

}  // namespace fade
