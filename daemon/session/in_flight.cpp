#include "session/in_flight.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>

#include "base/glob.hpp"
#include "elf/dynamic_image.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

constexpr std::size_t kLookedThrough = 64 * 1024;

RemoteAddr after(RemoteAddr next, std::span<const std::uint8_t> displacement) {
  std::int32_t d = 0;
  std::memcpy(&d, displacement.data(), sizeof d);
  return {next.value + static_cast<std::uint64_t>(static_cast<std::int64_t>(d))};
}

}  // namespace

RemoteAddr read_stack_pointer(Tid tid) {
  std::ifstream in(fmt::format("/proc/{}/syscall", tid));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  if (words.size() < 3) return {};  // "running"
  const std::string& sp = words[words.size() - 2];
  std::uint64_t value = 0;
  if (sp.starts_with("0x")) std::from_chars(sp.data() + 2, sp.data() + sp.size(), value, 16);
  return {value};
}

const Module* CallsInFlight::watched_at(RemoteAddr address) const {
  const Module* module = program_.module_at(address);
  return module && module->watched ? module : nullptr;
}

bool CallsInFlight::may_be_in_one(RemoteAddr sp) const {
  std::vector<std::uint64_t> words(kLookedThrough / 8);
  words.resize(program_.space->memory().read(sp, std::as_writable_bytes(std::span(words))) / 8);
  return std::ranges::any_of(words, [&](std::uint64_t word) { return watched_at({word}) != nullptr; });
}

// Where the call before `return_address` went: call rel32, call *disp32(%rip), and through a stub of a PLT. Null where
// the target was in a register.
RemoteAddr CallsInFlight::called_before(RemoteAddr return_address) const {
  const Memory& memory = program_.space->memory();
  std::array<std::uint8_t, 6> code{};
  if (!memory.read_exactly(return_address - 6, std::as_writable_bytes(std::span(code)))) return {};
  if (code[0] == 0xFF && code[1] == 0x15)
    return {memory.value<std::uint64_t>(after(return_address, std::span(code).subspan(2))).value_or(0)};
  if (code[1] != 0xE8) return {};
  const RemoteAddr target = after(return_address, std::span(code).subspan(2));
  std::array<std::uint8_t, 16> stub{};
  if (program_.space->find(target) || !memory.read_exactly(target, std::as_writable_bytes(std::span(stub))))
    return target;
  for (std::size_t at = 0; at + 6 <= 11; ++at)  // behind an endbr64 and a bnd prefix
    if (stub[at] == 0xFF && stub[at + 1] == 0x25)
      return {memory.value<std::uint64_t>(after(target + at + 6, std::span(stub).subspan(at + 2))).value_or(0)};
  return target;
}

std::string CallsInFlight::symbol_around(RemoteAddr inside, const Module& module) const {
  const auto image = elf::DynamicImage::open(program_.space->memory(), {module.entry.l_addr});
  if (image)
    for (const auto& symbol : image->all_functions())
      if (inside >= image->address(symbol) && inside < image->address(symbol) + symbol.size) return symbol.name;
  return "a call of " + std::string(base_name(module.path));
}

std::string CallsInFlight::name(RemoteAddr return_address, RemoteAddr inside, const Module& module) const {
  const Site* site = program_.space->find(called_before(return_address));
  const std::uint32_t entry = site ? SiteUse::of(*site).entry : 0;
  if (entry != 0 && functions_[entry].probe) return functions_[entry].probe->symbol;
  return symbol_around(inside, module);
}

// A call is where a frame of a watched library was called from elsewhere.
std::vector<std::string> CallsInFlight::of(std::span<const RemoteAddr> frames) const {
  std::vector<std::string> out;
  for (std::size_t i = frames.size(); i-- > 1;) {
    const Module* inner = watched_at(frames[i - 1]);
    if (inner && !watched_at(frames[i])) out.push_back(name(frames[i] + 1, frames[i - 1], *inner));
  }
  return out;
}

}  // namespace fade
