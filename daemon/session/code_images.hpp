// What a program gave to hipModuleLoadData and its kin: reads from the program's memory what the code object says about its
// kernels, never the code, and sends it on with the call. A compressed one goes as it is: unpacking is the storing side's. Files are read where the runtime has mapped them: a name that comes from
// the program is not opened. Tracing thread only; bounded, once per load.
#pragma once
#include "session/inferior.hpp"

namespace fade {

// The call has loaded a module. Adds to its payload, for the parameter with the image or the file's name, what was found
// (elf::carry); nothing where that is no code object.
void read_code_image(const Thread& thread, const probes::Probe& probe, OpenCall& call);

}  // namespace fade
