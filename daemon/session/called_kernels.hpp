// Names the kernels that a call is about, before the call is recorded. Tracing thread only.
#pragma once
#include "probes/arguments.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/kernel_names.hpp"

namespace fade {

class CalledKernels {
 public:
  CalledKernels(EventSink& sink, FunctionTable& functions, ModuleSymbols& symbols)
      : functions_(functions), symbols_(symbols), names_(sink) {}

  // The stopped thread enters `call`: its arguments are read, and it is not open yet.
  void name(const Thread& thread, const probes::Probe& probe, const CallRecord& call, probes::Payload payload);

 private:
  std::uint64_t launched_around(const Thread& thread);

  FunctionTable& functions_;
  ModuleSymbols& symbols_;
  KernelNames names_;
};

}  // namespace fade
