// Feeds arbitrary memory to what reads CPython's objects. The input stands at kBase; its first bytes also say which
// layout is read and where. A stack may be wrong, but must end.
#include <cstdlib>

#include "elf/dynamic_image.hpp"
#include "stack/python_code.hpp"
#include "stack/python_frames.hpp"
#include "stack/python_stacks.hpp"
#include "stack/python_text.hpp"
#include "stack/python_threads.hpp"
#include "unit/stack/python_memory.hpp"

namespace {

using fade::PythonLayout;

constexpr std::uint64_t kBase = 0x10000;
constexpr std::size_t kLimit = 64;

void require(bool condition) {
  if (!condition) std::abort();
}

PythonLayout layout(std::uint8_t choice) {
  auto out = fade::test::small_layout(choice % 3 == 0   ? PythonLayout::Entry::EveryFrame
                                      : choice % 3 == 1 ? PythonLayout::Entry::Flag
                                                        : PythonLayout::Entry::Shim);
  if (out.entry == PythonLayout::Entry::EveryFrame) {
    out.chunk = out.frame_owner = PythonLayout::kNone;
    out.instruction = PythonLayout::Instruction::Index;
    out.lines = PythonLayout::Lines::Pairs;
  }
  if ((choice & 8) != 0) out.cframe_frame = 8;
  if ((choice & 16) != 0) out.generation = 16;
  if ((choice & 32) != 0) out.object_mask = ~7ull;
  out.has_base_frame = (choice & 64) != 0;
  return out;
}

void read_stack(const fade::Memory& memory, const PythonLayout& layout, std::uint64_t fs_base) {
  fade::PythonThreads threads({layout, {kBase}, "3"});
  fade::PythonFrames walk(layout);
  fade::PythonCode code(layout, {{kBase}, {kBase + 4096}});
  for (int round = 0; round < 2; ++round) {
    const auto thread = threads.find(fs_base, memory);
    if (!thread) return;
    const auto frames =
        walk.of(*thread, memory, kLimit, [&](std::uint64_t at) { return code.is_internal(at, memory); });
    require(frames.size() <= kLimit);
    for (const auto& frame : frames) require(code.place(frame.code, frame.instruction, memory).line >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 16) return 0;
  fade::test::Blocks memory;
  memory.block(kBase, size);
  memory.put_bytes(kBase, data, size);
  const PythonLayout chosen = layout(data[0]);
  read_stack(memory, chosen, memory.value<std::uint64_t>({kBase + 8}).value_or(0));
  (void)fade::python_text(memory, {kBase + data[1]}, chosen, 4096);
  const auto bytes = std::as_bytes(std::span(data, size));
  require(fade::python_line(bytes.subspan(2), data[1], data[2] * 2 - 2, chosen.lines) >= 0);
  if (const auto image = fade::elf::DynamicImage::open(memory, {kBase})) (void)fade::PythonStacks::in(*image, memory);
  return 0;
}
