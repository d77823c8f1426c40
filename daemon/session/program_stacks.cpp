#include "session/program_stacks.hpp"

#include <algorithm>

#include "base/page_cache.hpp"
#include "session/program.hpp"

namespace fade {

// The space is the program's, and outlives the program's other parts.
ProgramStacks::ProgramStacks(CodeFiles& files, const Program& program, std::uint32_t number)
    : code_(
          files, program.space->memory(),
          [space = program.space.get()](RemoteAddr pc) {
            return space->our_code().contains(pc) ? space->our_code().own_address(pc) : std::nullopt;
          },
          [space = program.space.get()](RemoteAddr pc) { return space->taps() && space->taps()->code().contains(pc); }),
      number_(number) {}

PythonStacks* ProgramStacks::python(const Program& program, std::string& problem) {
  if (python_) return &*python_;
  const Memory& memory = program.space->memory();
  const PageCache looked(memory);
  const ModuleId looked_at = last_module_;
  for (const Module& module : program.modules) {
    if (module.id <= looked_at) continue;
    last_module_ = std::max(last_module_, module.id);
    const auto image = elf::DynamicImage::open(looked, module.span.begin);
    if (!image || python_) continue;
    auto found = PythonStacks::in(*image, memory);
    if (!found) problem = found.error().text();
    else if ((python_ = std::move(*found))) python_at_ = module.span.begin;
  }
  return python_ ? &*python_ : nullptr;
}

PythonStacks* ProgramStacks::running_python(const Program& program) {
  if (running_python_ || !python_) return running_python_ ? &*running_python_ : nullptr;
  const Memory& memory = program.space->memory();
  const PageCache looked(memory);
  const auto image = elf::DynamicImage::open(looked, python_at_);
  auto found = image ? PythonStacks::in(*image, memory) : Result<std::optional<PythonStacks>>(std::nullopt);
  if (found) running_python_ = std::move(*found);
  return running_python_ ? &*running_python_ : nullptr;
}

}  // namespace fade
