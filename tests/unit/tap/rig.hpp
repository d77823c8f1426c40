// Taps in the test's own process: their memory, and a SIGTRAP handler that plays the tracer.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "tap/gate.hpp"
#include "tap/ring_reader.hpp"
#include "tap/stub.hpp"
#include "tap/tables.hpp"
#include "tap/unwind.hpp"

extern "C" {
void __register_frame(void*);
void __deregister_frame(void*);
}

namespace fade::tap::test {

inline std::uint64_t thread_pointer() {
  std::uint64_t value;
  asm("mov %%fs:0, %0" : "=r"(value));
  return value;
}

constexpr Tapped kPlain{.number = 7, .asks_for_sites = false};

// Functions behind pointers that the compiler cannot see through, so that every call is one.
template <class Function>
Function* hidden(Function* function) {
  asm volatile("" : "+r"(function));
  return function;
}

// A ring and its reader.
struct Ring {
  explicit Ring(std::uint64_t size) : layout{size}, reader(size) {
    memory = static_cast<std::byte*>(
        ::mmap(nullptr, layout.with_counters(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    publish();
  }
  ~Ring() { ::munmap(memory, layout.with_counters()); }

  void publish() {
    const std::uint64_t limit = reader.limit();
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(memory + RingLayout::kLimitAt), limit, __ATOMIC_RELEASE);
  }
  std::uint64_t counted(std::uint16_t gate) const {
    const std::byte* const at = memory + layout.counters_at(gate) + RingLayout::kCountedAt;
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
  }
  RingReader::State drain(std::size_t most = 1'000'000) {
    const auto state = reader.read({memory, layout.mapped()}, records, most);
    publish();
    return state;
  }

  RingLayout layout;
  RingReader reader;
  std::byte* memory = nullptr;
  std::vector<Record> records;
};

class Rig {
 public:
  explicit Rig(std::uint64_t ring_size = 1 << 20) : ring_size_(ring_size), threads_(data()), sites_(data()) {
    current = this;
    ::madvise(reinterpret_cast<void*>(data().value), DataLayout::kSize, MADV_WIPEONFORK);
    const Traps traps = traps_code(code(), data());
    std::memcpy(reinterpret_cast<void*>(code().value), traps.code.data(), traps.code.size());
    traps_ = traps;
    next_ = code() + 4096;
    unwind_ = unwind_information({code(), code() + kCodeSize});
    __register_frame(unwind_.data());
    enable(true);
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    ::sigaddset(&action.sa_mask, SIGALRM);  // the tracer is no part of the program
    ::sigaction(SIGTRAP, &action, &old_);
  }
  ~Rig() {
    ::sigaction(SIGTRAP, &old_, nullptr);
    __deregister_frame(unwind_.data());
    ::munmap(base_, kCodeSize + DataLayout::kSize);
    current = nullptr;
  }

  // A function that calls `function` through a tap.
  template <class Function>
  Function* tap(Function* function, Tapped tapped) {
    const Surroundings around{data(), ring_size_, traps_.trap};
    stub = stub_code(tapped, around, next_, {reinterpret_cast<std::uint64_t>(function)});
    const RemoteAddr at = next_;
    std::memcpy(reinterpret_cast<void*>(at.value), stub.code.data(), stub.code.size());
    next_ = {(at.value + stub.code.size() + 63) / 64 * 64};
    return reinterpret_cast<Function*>(at.value);
  }

  // The same with a gate in front of the tap.
  template <class Function>
  Function* gated(Function* function, Tapped tapped, std::uint16_t number) {
    const RemoteAddr through{reinterpret_cast<std::uint64_t>(tap(function, tapped))};
    gate = gate_code(number, {data(), ring_size_, through, {reinterpret_cast<std::uint64_t>(function)}}, next_);
    std::memcpy(reinterpret_cast<void*>(gate.begin.value), gate.code.data(), gate.code.size());
    next_ = {(gate.end.value + 63) / 64 * 64};
    return reinterpret_cast<Function*>(gate.begin.value);
  }
  void set_mask(std::uint16_t number, std::uint32_t mask) {
    const RemoteAddr at = data() + DataLayout::kMasksAt + sizeof mask * number;
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(at.value), mask, __ATOMIC_RELEASE);
  }

  void enable(bool on) { __atomic_store_n(reinterpret_cast<std::uint8_t*>(data().value), on, __ATOMIC_RELEASE); }
  bool is_enabled() const { return *reinterpret_cast<const volatile std::uint8_t*>(data().value) != 0; }
  // The ring of this thread.
  Ring& give_ring() {
    const std::lock_guard lock(mutex_);
    Ring& ring = *rings_.emplace_back(std::make_unique<Ring>(ring_size_));
    const auto words = threads_.add(thread_pointer(), {reinterpret_cast<std::uint64_t>(ring.memory)});
    EXPECT_EQ(words.size(), 2u);
    for (const Word& word : words) write(word);
    mine = &ring;
    return ring;
  }
  void take_ring() {
    const std::lock_guard lock(mutex_);
    if (const auto word = threads_.remove(thread_pointer())) write(*word);
  }
  static void write(const Word& word) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(word.at.value), word.value, __ATOMIC_RELEASE);
  }

  // The tracer's answer to a question; the thread goes on behind the int3, or at the returned address if that is set.
  std::function<RemoteAddr(Question, ucontext_t&)> answer;
  std::array<std::atomic<int>, kQuestions> asked{};
  Stub stub;  // of the last tap
  Gate gate;  // the last one
  SiteTable& sites() { return sites_; }
  const Traps& traps() const { return traps_; }
  static inline thread_local Ring* mine = nullptr;

 private:
  static constexpr std::uint64_t kCodeSize = 1 << 16;

  RemoteAddr code() const { return {reinterpret_cast<std::uint64_t>(base_)}; }
  RemoteAddr data() const { return code() + kCodeSize; }

  static void on_trap(int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const std::uint64_t at = static_cast<std::uint64_t>(registers[REG_RIP]) - 1;
    for (std::size_t i = 0; i < kQuestions; ++i) {
      if (current->traps_.trap[i].value != at) continue;
      ++current->asked[i];
      const RemoteAddr to = current->answer(static_cast<Question>(i), *static_cast<ucontext_t*>(context));
      if (to) registers[REG_RIP] = static_cast<greg_t>(to.value);
      return;
    }
    ::abort();
  }

  // Within reach of the test's own code, as in a program.
  static void* map_near() {
    const auto own = reinterpret_cast<std::uint64_t>(&Rig::on_trap) & ~0xFFFFull;
    for (std::uint64_t distance = 16 << 20; distance < (1ull << 30); distance += 1 << 20) {
      void* at = ::mmap(reinterpret_cast<void*>(own - distance), kCodeSize + DataLayout::kSize,
                        PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (at != MAP_FAILED) return at;
    }
    return nullptr;
  }

  static inline Rig* current = nullptr;
  void* base_ = map_near();
  std::uint64_t ring_size_;
  ThreadTable threads_;
  SiteTable sites_;
  Traps traps_;
  RemoteAddr next_;
  std::vector<std::uint8_t> unwind_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Ring>> rings_;
  struct sigaction old_ {};
};

}  // namespace fade::tap::test
