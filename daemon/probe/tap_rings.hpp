// The rings of one process's taps: one piece of memory that the process and fade both map, cut into rings of one size.
// The process keeps no descriptor of it. It outlives an exec and the end of the process on fade's side, so that the
// last records can be read. Tracing thread only.
//
// The child of a fork has it too, until it gets rings of its own: a signal handler may fork while its thread is about
// to write a record, and the child then goes on writing.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "base/result.hpp"
#include "elf/maps.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/remote_call.hpp"
#include "tap/layout.hpp"

namespace fade {

class TapRings {
 public:
  static constexpr tap::RingLayout kLayout{256 * 1024};
  static constexpr std::uint64_t kStride = kLayout.size + 4096;  // from ring to ring
  static constexpr std::uint64_t kWhole = std::uint64_t{64} << 20;
  static constexpr std::size_t kMost = kWhole / kStride;
  static_assert(kLayout.with_counters() <= kStride);
  static constexpr std::string_view kName = "fade taps";  // of the memory file

  // Maps the memory in the process of the stopped thread, and here. `name`: a text in the process, which its maps show.
  static Result<std::shared_ptr<TapRings>> make(const RemoteCall& call, const ProcFiles& proc, Tid stopped,
                                                RemoteAddr name);
  // Frees the memory of an earlier fade's rings, which stay mapped: a thread may be about to write there, and finds a
  // full ring.
  static void release(const RemoteCall& call, const elf::Maps& maps);
  // Unmaps the rings that the child of a fork has of its parent.
  static void unmap(const RemoteCall& call, const elf::Maps& maps);
  TapRings(const TapRings&) = delete;
  TapRings& operator=(const TapRings&) = delete;
  ~TapRings();

  // The number of a ring that no thread has; nullopt: all are taken. A ring goes on where its last thread left it.
  std::optional<std::size_t> take();
  void give_back(std::size_t ring) { free_.push_back(ring); }
  RemoteAddr at(std::size_t ring) const { return there_ + ring * kStride; }  // in the process
  std::span<std::byte> memory(std::size_t ring) const { return {here_ + ring * kStride, kLayout.mapped()}; }
  // The sum of all that threads have ever taken of the rings: it grows with each record.
  std::uint64_t taken() const;
  // The calls of the ring's thread that a gate has only counted.
  std::uint64_t counted(std::size_t ring, std::uint16_t gate) const;
  // Records may begin below this position of the ring.
  void allow(std::size_t ring, std::uint64_t limit) const;

 private:
  TapRings(RemoteAddr there, std::byte* here) : there_(there), here_(here) {}

  RemoteAddr there_;
  std::byte* here_;
  std::size_t used_ = 0;
  std::vector<std::size_t> free_;
};

}  // namespace fade
