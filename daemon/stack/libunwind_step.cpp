#include "stack/libunwind_step.hpp"

#include <libunwind-x86_64.h>

#include <cstring>

namespace fade {
namespace {

constexpr int kMostReads = 32;  // of one step, which needs about eight

// The state of one step, which libunwind hands back to each accessor. Its numbers of registers are DWARF's.
struct Access {
  const FrameRegisters& frame;
  std::span<const std::byte> code;
  const Memory& memory;
  int reads = 0;

  std::optional<unw_word_t> word(RemoteAddr at) {
    if (++reads > kMostReads) return std::nullopt;
    unw_word_t out = 0;
    const std::uint64_t offset = at.value - frame.pc().value;
    if (offset > code.size() || code.size() - offset < sizeof out) return memory.value<unw_word_t>(at);
    std::memcpy(&out, code.data() + offset, sizeof out);
    return out;
  }
};

int access_word(unw_addr_space_t, unw_word_t at, unw_word_t* value, int write, void* access) {
  const auto word = write ? std::nullopt : static_cast<Access*>(access)->word({at});
  if (word) *value = *word;
  return word ? 0 : -UNW_EINVAL;
}

int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* access) {
  const auto word =
      write || number < 0 ? std::nullopt : static_cast<Access*>(access)->frame.get(static_cast<std::size_t>(number));
  if (word) *value = *word;
  return word ? 0 : -UNW_EBADREG;
}

// Information of files was looked for before; a process's list of dynamic information has no address on x86-64.
int find_no_information(unw_addr_space_t, unw_word_t, unw_proc_info_t*, int, void*) { return -UNW_ENOINFO; }
int find_no_list(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }
void put_no_information(unw_addr_space_t, unw_proc_info_t*, void*) {}
int refuse_float(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EBADREG; }
int refuse_resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int refuse_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

unw_accessors_t accessors() {
  unw_accessors_t out{};
  out.find_proc_info = find_no_information;
  out.put_unwind_info = put_no_information;
  out.get_dyn_info_list_addr = find_no_list;
  out.access_mem = access_word;
  out.access_reg = access_register;
  out.access_fpreg = refuse_float;
  out.resume = refuse_resume;
  out.get_proc_name = refuse_name;
  return out;
}

// Guessed frames have a wrong stack pointer in libunwind. A return leaves it behind the return address.
std::optional<LibunwindStep::Caller> caller_at(unw_cursor_t& cursor, FrameRegisters frame) {
  unw_save_loc_t saved;
  unw_word_t pc = 0;
  if (::unw_get_save_loc(&cursor, UNW_X86_64_RIP, &saved) != 0 || saved.type != UNW_SLT_MEMORY ||
      ::unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
    return std::nullopt;
  for (const auto number : FrameRegisters::kSaved) {
    unw_word_t value = 0;
    if (::unw_get_reg(&cursor, number, &value) == 0) frame.set(number, value);
    else frame.forget(number);
  }
  frame.return_to(pc, saved.u.addr + sizeof pc);
  return LibunwindStep::Caller{frame, {saved.u.addr}};
}

}  // namespace

void LibunwindStep::Close::operator()(::unw_addr_space* space) const { ::unw_destroy_addr_space(space); }

// No cache: libunwind's takes a lock, and blocks all signals for it.
LibunwindStep::LibunwindStep() {
  unw_accessors_t functions = accessors();
  space_.reset(::unw_create_addr_space(&functions, 0));
  if (space_) ::unw_set_caching_policy(space_.get(), UNW_CACHE_NONE);
}

std::optional<LibunwindStep::Caller> LibunwindStep::out_of(const FrameRegisters& frame, std::span<const std::byte> code,
                                                           const Memory& memory) {
  Access access{.frame = frame, .code = code, .memory = memory};
  unw_cursor_t cursor;
  if (!space_ || ::unw_init_remote(&cursor, space_.get(), &access) != 0 || ::unw_step(&cursor) <= 0)
    return std::nullopt;
  return caller_at(cursor, frame);
}

}  // namespace fade
