// What the calls of one function need from a stopped thread, worked out once per function. A way of capturing calls
// is chosen by it: one that cannot read strings serves only functions without.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/hsa_calls.hpp"
#include "probes/overrides/overrides.hpp"
#include "probes/probe.hpp"

namespace fade {

struct Needs {                  // a field answers a question of the engines
  std::size_t stack_words = 0;  // argument words on the stack
  std::size_t sse_words = 0;    // SSE registers with arguments
  bool sse_result = false;      // the result is in xmm0
  // Parameters by index. Strings and `ins` are read at the entry, `outs` at the return.
  std::vector<std::uint8_t> strings, ins, outs;
  std::vector<std::uint8_t> of_operator;        // tensors and lists of PyTorch, read at the entry (TensorReader)
  std::vector<std::uint8_t> out_strings;        // those of `outs` that give the address of a text
  bool result = true;                           // the return is watched
  bool result_string = false;                   // the result is the address of a text
  bool kernel_names = false;                    // handles of kernels get their names before the call is recorded
  bool code_object = false;                     // the call loads a code object, which is read at the return
  bool device = false;                          // the call sets the thread's device
  bool table = false;                           // the call gives a table of functions
  bool rule = false;                            // a --set rule may change the answer
  bool inject = false;                          // a rule of --inject or --replace may act on the call
  bool resolver = false;                        // the call returns the place of a function (IFUNC)
  bool makes_tensor = false;                    // the call gives a tensor whose sizes its arguments tell
  bool numbers = false;                         // its copy is looked at, or it waits for copies (--watch-numbers)
  bool gemm = false;                            // it multiplies matrices (--check blas),
  bool gemm_parts = false;                      // describes matrices or products to be multiplied,
  bool errand = false;                          // or is called by the program's threads for fade
  bool step = false;                            // it begins a step that a rule of --actions asks for
  bool only = false;                            // only calls with some arguments are recorded
  std::vector<std::uint16_t> actions;           // rules of --actions for its calls, by index
  bool sums_only = false;                       // its calls get no rows (--detail GROUP=stats)
  std::string callers;                          // only calls of libraries that match are recorded; empty: all calls
  probes::HsaCall hsa = probes::HsaCall::None;  // what the call tells about work of a GPU

  // Whether calls matter while nothing is recorded: threads change their device, rules go on being applied, and
  // functions are found.
  bool always() const { return device || rule || inject || resolver; }
};

Needs needs_of(const probes::Probe& probe, const probes::Overrides& overrides);

}  // namespace fade
