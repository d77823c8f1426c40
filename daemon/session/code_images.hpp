// The code objects that a program gives to hipModuleLoadData and related functions. Reads from the program's memory the
// description of the kernels, never the code, and sends it with the call. A compressed one is sent as it is: the
// storing side unpacks it. Files are read from the runtime's mapping: a name that comes from the program is not opened.
// Tracing thread only; bounded, once per load.
#pragma once
#include "session/inferior.hpp"

namespace fade {

// The call has loaded a module. Adds the findings (elf::carry) to its payload, for the parameter with the image or the
// file's name. Adds nothing if that is no code object.
void read_code_image(const Thread& thread, const probes::Probe& probe, OpenCall& call);

}  // namespace fade
