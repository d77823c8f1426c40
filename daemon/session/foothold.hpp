// The facts about a running program that fade needs before it changes anything. Found by reading alone: no thread is
// stopped.
#pragma once
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "elf/link_map.hpp"
#include "ptrace/remote_call.hpp"
#include "session/auxiliary_vector.hpp"

namespace fade {

struct Foothold {
  elf::Loader loader;
  RemoteRange loader_span;
  RemoteAddr libc;                   // where its ELF header is mapped
  RemoteGadgets gadgets;             // in libc and the loader
  std::vector<RemoteRange> modules;  // everything loaded
};

// Fails with code ENOTSUP if the program lacks code that fade needs, EAGAIN if that code may still be loaded.
Result<Foothold> find_foothold(const Memory& memory, const AuxiliaryVector& facts);

// The same of a process that runs. Fails with ENOTSUP for 32-bit and static programs too, and if the process is gone.
Result<Foothold> foothold_of(Pid pid, const Memory& memory);

// "/lib64/ld-linux-x86-64.so.2 PROGRAM": then the loader is the program for the kernel, and has no loader of its own.
// Null: the program is not a loader.
RemoteAddr loader_run_as_program(const Memory& memory, const AuxiliaryVector& facts);

// Returns the address at which the libc returns from signal handlers; null: unknown. `libc`: its ELF header is mapped
// there.
RemoteAddr find_sigreturn(const Memory& memory, RemoteAddr libc);

// `syscall; ret` in the dynamic loader, which is all that a program at its first instruction has.
Result<RemoteAddr> find_first_gadget(const Memory& memory, RemoteAddr loader_base);

}  // namespace fade
