// A product as files that NumPy reads, and back: a.npy, b.npy, c.npy and d.npy as they were fetched, expected.npy as
// computed, and call.json. The folder is for its owner alone.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "blas/compare.hpp"

namespace fade::blas {

// `about`: more facts for call.json. The folder must not exist.
Result<void> write_dump(const std::string& folder, const Product& product, const Matrices& matrices,
                        const Tolerance& tolerance, const std::vector<Value>& wanted, const nlohmann::json& about);

struct Dump {
  Product product;
  Tolerance tolerance;
  std::string function;  // that was called
  std::uint64_t call = 0;
  std::vector<std::byte> a, b, c, d;
  Matrices matrices() const { return {a, b, c, d}; }
};
Result<Dump> read_dump(const std::string& folder);

}  // namespace fade::blas
