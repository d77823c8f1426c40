// The files of a process's code by address, and the frame rule for each instruction that was asked for. The caller must
// report changes of the mappings by changed(). Tracing thread only.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "stack/code_file.hpp"

namespace fade {

class CodeMap {
 public:
  // The facts about one instruction.
  struct Place {
    std::uint64_t pc = 0;
    std::uint32_t code = 0;  // index into codes_, from 1; 0: in no file
    FrameRule rule;
  };
  // Maps a pc in fade's own code to the pc that the thread would have without fade; nullopt: not fade's code.
  using OwnAddress = std::function<std::optional<RemoteAddr>(RemoteAddr)>;

  // True for a pc in a frame of fade's own, which %rbp leads out of.
  using IsOwnFrame = std::function<bool(RemoteAddr)>;

  // `files` and `memory` must outlive the map.
  CodeMap(CodeFiles& files, const Memory& memory, OwnAddress own_address = {}, IsOwnFrame is_own_frame = {})
      : files_(files),
        memory_(memory),
        own_address_(std::move(own_address)),
        is_own_frame_(std::move(is_own_frame)),
        places_(kFirstSize) {}

  // `thread` is any living thread of the process. The reference is good until the next call.
  const Place& at(RemoteAddr pc, Tid thread) {
    const Place& place = places_[slot(pc.value)];
    return place.pc == pc.value ? place : add(pc, thread);
  }
  bool step(const Place& place, FrameRegisters& frame, const Memory& memory);
  std::optional<RemoteAddr> own_address(RemoteAddr pc) const { return own_address_ ? own_address_(pc) : std::nullopt; }
  bool is_own_frame(RemoteAddr pc) const { return is_own_frame_ && is_own_frame_(pc); }
  // True if the pc is in executable memory, in a file or not; read again at each call.
  static bool is_executable(RemoteAddr pc, Tid thread);
  // True if the pc was in executable memory, in a file or not, when the mappings were read.
  bool is_known_code(RemoteAddr pc) const { return find(pc) || is_generated(pc); }
  // The same, after another look at the mappings if needed: generated code is mapped without notice. There are at most
  // kMostLooks of these between two changes.
  bool is_code(RemoteAddr pc, Tid thread);
  // The reason for a missing rule at `pc`, for users.
  std::string why_missing(RemoteAddr pc) const;

  // The mappings changed: forgets all places.
  void changed();
  // Differs from every other generation, also of other processes.
  std::uint64_t generation() const { return generation_; }

 private:
  struct Code {
    RemoteRange range;
    elf::Mapping mapping;
    std::uint64_t bias = 0;
    std::shared_ptr<CodeFile> file;  // null: not opened yet, or unavailable
    std::string problem;
  };
  static constexpr std::size_t kFirstSize = 1 << 10, kMostSlots = 1 << 17;
  static constexpr int kMostLooks = 64;

  static FrameRule own_frame_rule();
  std::size_t slot(std::uint64_t pc) const;
  const Place& add(RemoteAddr pc, Tid thread);
  void grow();
  void read_maps(Tid thread);
  void read_generated(const elf::Maps& maps);
  bool is_generated(RemoteAddr pc) const;
  std::uint32_t code_at(RemoteAddr pc, Tid thread);
  const Code* find(RemoteAddr pc) const;
  void open(Code& code, Tid thread);
  Result<std::shared_ptr<CodeFile>> file_of(const Code& code, Tid thread);

  CodeFiles& files_;
  const Memory& memory_;
  OwnAddress own_address_;
  IsOwnFrame is_own_frame_;
  std::vector<Place> places_;  // by pc, open addressing; a free slot has pc 0
  std::size_t used_ = 0;
  std::vector<Code> codes_;             // by address
  std::vector<RemoteRange> generated_;  // executable memory of no file, by address
  int looks_ = 0;                       // by is_code()
  bool is_read_ = false;
  std::uint64_t generation_ = next_generation();
  static std::uint64_t next_generation();
};

}  // namespace fade
