#include "stack/unwinder.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxStack = 256 * 1024, kMaxFrames = 256;
constexpr unsigned kReturnAddress = 16;  // System V x86-64 ABI, figure 3.36

// DWARF numbers of the registers, same figure.
std::array<Dwarf_Word, kReturnAddress + 1> by_dwarf_number(const Registers& r) {
  return {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
}

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// The first way also reads the auxiliary vector, for the vDSO; to other users that file is closed, even if they may trace.
bool report_modules(Dwfl* dwfl, pid_t pid) {
  if (::dwfl_linux_proc_report(dwfl, pid) == 0) return true;
  const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen(fmt::format("/proc/{}/maps", pid).c_str(), "re"));
  return maps && ::dwfl_linux_proc_maps_report(dwfl, maps.get()) == 0;
}

}  // namespace

StackCopy copy_stack(const Registers& registers, const Memory& memory) {
  StackCopy out{registers, registers.sp(), std::vector<std::byte>(kMaxStack)};
  out.bytes.resize(memory.read(out.at, out.bytes));
  return out;
}

struct Unwinder::State {
  pid_t pid;
  const Memory& memory;
  elf::Maps maps;
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  const StackCopy* stack = nullptr;  // of the walk that is under way

  static int find_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr base, char** file_name, Elf**);
  static pid_t next_thread(Dwfl*, void* self, void** thread);
  static bool read_word(Dwfl*, Dwarf_Addr at, Dwarf_Word* out, void* self);
  static bool set_registers(Dwfl_Thread* thread, void* self);
  static int add_frame(Dwfl_Frame* frame, void* out);

  static constexpr Dwfl_Callbacks kFiles{.find_elf = find_elf,
                                         .find_debuginfo = [](auto...) { return -1; },
                                         .section_address = nullptr, .debuginfo_path = nullptr};
  static constexpr Dwfl_Thread_Callbacks kThread{.next_thread = next_thread, .get_thread = nullptr, .memory_read = read_word,
                                                 .set_initial_registers = set_registers, .detach = nullptr,
                                                 .thread_detach = nullptr};
};

// The file that is mapped, whatever its name leads to now. `user` is the module's own word: it holds our State.
int Unwinder::State::find_elf(Dwfl_Module*, void** user, const char* name, Dwarf_Addr base, char** file_name, Elf**) {
  const auto* state = static_cast<const State*>(*user);
  const elf::Mapping* mapping = state ? state->maps.find({base}) : nullptr;
  if (!mapping || !mapping->has_file()) return -1;
  auto fd = elf::open_mapped_file(state->pid, *mapping);
  if (!fd) return -1;
  *file_name = ::strdup(name);
  return fd->release();
}

// There is one thread: the one whose copy is looked at.
pid_t Unwinder::State::next_thread(Dwfl*, void* self, void** thread) {
  if (*thread != nullptr) return 0;
  *thread = self;
  return static_cast<State*>(self)->pid;
}

bool Unwinder::State::read_word(Dwfl*, Dwarf_Addr at, Dwarf_Word* out, void* self) {
  const auto* state = static_cast<const State*>(self);
  const StackCopy& stack = *state->stack;
  const std::uint64_t offset = at - stack.at.value;
  if (at >= stack.at.value && offset + sizeof *out <= stack.bytes.size()) {
    std::memcpy(out, stack.bytes.data() + offset, sizeof *out);
    return true;
  }
  const auto word = state->memory.value<Dwarf_Word>({at});
  if (word) *out = *word;
  return word.has_value();
}

bool Unwinder::State::set_registers(Dwfl_Thread* thread, void* self) {
  const auto words = by_dwarf_number(static_cast<State*>(self)->stack->registers);
  return ::dwfl_thread_state_registers(thread, 0, words.size(), words.data());
}

int Unwinder::State::add_frame(Dwfl_Frame* frame, void* out) {
  auto& frames = *static_cast<std::vector<RemoteAddr>*>(out);
  Dwarf_Addr pc = 0;
  if (!::dwfl_frame_pc(frame, &pc, nullptr) || pc == 0 || frames.size() == kMaxFrames) return DWARF_CB_ABORT;
  frames.push_back({pc});
  return DWARF_CB_OK;
}

Result<Unwinder> Unwinder::of_process(pid_t pid, const Memory& memory) {
  auto maps = elf::read_maps(pid);
  if (!maps) return tl::unexpected(maps.error());
  auto state = std::make_unique<State>(State{.pid = pid, .memory = memory, .maps = std::move(*maps), .dwfl = {}});
  state->dwfl.reset(::dwfl_begin(&State::kFiles));
  Dwfl* dwfl = state->dwfl.get();
  const bool reported = dwfl && report_modules(dwfl, pid) && ::dwfl_report_end(dwfl, nullptr, nullptr) == 0;
  if (!reported) return fail("the modules of the process cannot be read", dwfl ? ::dwfl_errmsg(-1) : "");
  ::dwfl_getmodules(
      dwfl,
      [](Dwfl_Module*, void** user, const char*, Dwarf_Addr, void* self) {
        *user = self;
        return static_cast<int>(DWARF_CB_OK);
      },
      state.get(), 0);
  if (!::dwfl_attach_state(dwfl, nullptr, pid, &State::kThread, state.get()))
    return fail("the stacks of the process cannot be read", ::dwfl_errmsg(-1));
  return Unwinder(std::move(state));
}

Unwinder::Unwinder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder::~Unwinder() = default;

std::vector<RemoteAddr> Unwinder::frames(const StackCopy& stack) const {
  std::vector<RemoteAddr> out;
  state_->stack = &stack;
  ::dwfl_getthread_frames(state_->dwfl.get(), state_->pid, State::add_frame, &out);
  state_->stack = nullptr;
  return out;
}

}  // namespace fade
