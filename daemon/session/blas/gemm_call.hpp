// A call of rocBLAS, hipBLAS or hipBLASLt that multiplies matrices, as a product and its places in memory. Reads alpha
// and beta from the program's memory; asks it nothing else. Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "blas/product.hpp"
#include "session/blas/lt_objects.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"

namespace fade {

struct GemmCall {
  blas::Product product;
  RemoteAddr a, b, c, d;
  std::uint64_t handle = 0;
  std::optional<std::uint64_t> stream;  // hipBLASLt's is an argument; else the handle has it
  // Functions of the library that give the stream and the pointer mode of a handle; null: not needed.
  const char* stream_getter = nullptr;
  const char* mode_getter = nullptr;

  // C is overwritten by the result, and counts.
  bool loses_c() const { return product.uses_c() && c == d; }
};

// Tests if calls of the function multiply matrices, and could be checked.
bool is_gemm(const probes::Probe& probe);
// Tests if --check blas needs the calls of the function, too: it makes a description of a product.
bool describes_gemm(const probes::Probe& probe);

// The Error is a reason why the call is not checked.
Result<GemmCall> read_gemm(const Thread& thread, const Entry& entry, const OpenCall& call, const LtObjects& objects);

}  // namespace fade
