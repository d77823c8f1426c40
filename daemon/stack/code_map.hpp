// Which file's code stands where in a process, and the frame rule for each instruction that was ever asked for. Follows the
// process' memory only as far as it is told (changed()). Tracing thread only.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stack/code_file.hpp"

namespace fade {

class CodeMap {
 public:
  // What is known of one instruction.
  struct Place {
    std::uint64_t pc = 0;
    std::uint32_t code = 0;  // index into codes_, from 1; 0: in no file
    FrameRule rule;
  };
  // Where a thread that stands in code of fade's own making would stand without it; nullopt: that is not such code.
  using OwnAddress = std::function<std::optional<RemoteAddr>(RemoteAddr)>;

  // Both must outlive it.
  CodeMap(CodeFiles& files, const Memory& memory, OwnAddress own_address = {})
      : files_(files), memory_(memory), own_address_(std::move(own_address)), places_(kFirstSize) {}

  // `thread` is any living thread of the process. The reference is good until the next call.
  const Place& at(RemoteAddr pc, pid_t thread) {
    const Place& place = places_[slot(pc.value)];
    return place.pc == pc.value ? place : add(pc, thread);
  }
  bool step(const Place& place, FrameRegisters& frame, const Memory& memory);
  std::optional<RemoteAddr> own_address(RemoteAddr pc) const { return own_address_ ? own_address_(pc) : std::nullopt; }
  // Whether code may run there now, whatever code; read anew each time.
  static bool is_executable(RemoteAddr pc, pid_t thread);
  // Why there is no rule at `pc`, for users to read.
  std::string why_missing(RemoteAddr pc) const;

  // Something was mapped or unmapped: nothing that is known counts any more.
  void changed();
  // Differs from that of all other times and processes.
  std::uint64_t generation() const { return generation_; }

 private:
  struct Code {
    RemoteRange range;
    elf::Mapping mapping;
    std::uint64_t bias = 0;
    std::shared_ptr<CodeFile> file;  // null: not asked for yet, or cannot be had
    std::string problem;
  };
  static constexpr std::size_t kFirstSize = 1 << 10, kMostSlots = 1 << 17;

  std::size_t slot(std::uint64_t pc) const;
  const Place& add(RemoteAddr pc, pid_t thread);
  void grow();
  void read_maps(pid_t thread);
  std::uint32_t code_at(RemoteAddr pc, pid_t thread);
  const Code* find(RemoteAddr pc) const;
  void open(Code& code, pid_t thread);
  Result<std::shared_ptr<CodeFile>> file_of(const Code& code, pid_t thread);

  CodeFiles& files_;
  const Memory& memory_;
  OwnAddress own_address_;
  std::vector<Place> places_;  // by pc, open addressing; a free one has pc 0
  std::size_t used_ = 0;
  std::vector<Code> codes_;    // by address
  bool is_read_ = false;
  std::uint64_t generation_ = next_generation();
  static std::uint64_t next_generation();
};

}  // namespace fade
