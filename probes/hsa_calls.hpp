// The functions of hsa.probes by what they tell about work of a GPU, and the places of what matters in their calls.
#pragma once
#include <cstddef>
#include <cstdint>

#include "probes/probe.hpp"

namespace fade::probes {

enum class HsaCall : std::uint8_t {
  None,          // not a function of hsa.probes
  Packet,        // gives a place in a queue
  QueueEnd,      // destroys a queue
  Copy,          // starts a copy engine
  RectCopy,      // the same for a box of memory
  KernelTime,    // asks when a packet was worked on
  CopyTime,      // asks when a copy engine ran
  SymbolByName,  // gives the symbol of a kernel
  SymbolInfo,    // tells a fact about a symbol
  SystemInfo,    // tells a fact about the runtime
};
HsaCall hsa_call(const Probe& probe);

// Indexes of parameters.
namespace hsa {
inline constexpr std::size_t kQueue = 0, kCount = 1;                     // Packet, QueueEnd
inline constexpr std::size_t kCopySize = 4, kCopySignal = 7;             // Copy
inline constexpr std::size_t kRectRange = 4, kRectSignal = 9;            // RectCopy
inline constexpr std::size_t kAgent = 0, kSignal = 1, kKernelTimes = 2;  // KernelTime
inline constexpr std::size_t kCopySignalAsked = 0, kCopyTimes = 1;       // CopyTime
inline constexpr std::size_t kSymbolName = 1, kSymbolGiven = 3;          // SymbolByName
inline constexpr std::size_t kSymbol = 0, kAttribute = 1, kValue = 2;    // SymbolInfo
inline constexpr std::size_t kSystemAttribute = 0, kSystemValue = 1;     // SystemInfo

inline constexpr std::uint64_t kKernelObject = 22, kTimestampFrequency = 3;  // attributes

// A packet of a queue: 64 bytes. Its type is in the low byte of the first word.
inline constexpr std::size_t kPacketSize = 64, kObjectAt = 32, kSignalAt = 56;
inline constexpr std::uint8_t kInvalidPacket = 1, kKernelPacket = 2, kBarrierAnd = 3, kBarrierOr = 5;
// hsa_queue_t, then the numbers of places that were given so far, and of packets that the GPU has begun (amd_queue_t).
inline constexpr std::size_t kQueueHeadSize = 136, kBaseAt = 8, kSizeAt = 24, kWriteIndexAt = 56, kReadIndexAt = 128;
}  // namespace hsa

}  // namespace fade::probes
