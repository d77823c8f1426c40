#include "ptrace/seccomp_filter.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "proc/proc_files.hpp"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

namespace fade {
namespace {

constexpr unsigned kMostFilters = 4096;  // the kernel allows 32768 instructions in all
using Word = std::uint32_t;

// Classic BPF as kernel/seccomp.c restricts it (seccomp_check_filter). Jumps only lead forward, so every program ends.
class Machine {
 public:
  Machine(std::span<const sock_filter> filter, const seccomp_data& about) : filter_(filter) {
    std::memcpy(data_.data(), &about, sizeof about);
  }

  std::optional<Word> run() {
    static constexpr Step kSteps[] = {&Machine::load,    &Machine::load_x, &Machine::store, &Machine::store_x,
                                      &Machine::compute, &Machine::jump,   nullptr,         &Machine::move};
    while (at_ < filter_.size()) {
      const sock_filter& i = filter_[at_++];
      if (BPF_CLASS(i.code) == BPF_RET) return BPF_RVAL(i.code) == BPF_A ? a_ : i.k;
      if (!(this->*kSteps[BPF_CLASS(i.code)])(i)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  using Step = bool (Machine::*)(const sock_filter&);

  static bool take(Word& into, std::optional<Word> value) {
    if (value) into = *value;
    return value.has_value();
  }
  std::optional<Word> source(const sock_filter& i) const {
    const auto mode = BPF_MODE(i.code);
    if (mode == BPF_IMM) return i.k;
    if (mode == BPF_LEN) return static_cast<Word>(sizeof(seccomp_data));
    if (mode == BPF_MEM && i.k < memory_.size()) return memory_[i.k];
    if (mode == BPF_ABS && i.k % 4 == 0 && i.k / 4 < data_.size()) return data_[i.k / 4];
    return std::nullopt;
  }
  Word operand(const sock_filter& i) const { return BPF_SRC(i.code) == BPF_X ? x_ : i.k; }

  bool load(const sock_filter& i) { return take(a_, source(i)); }
  bool load_x(const sock_filter& i) { return take(x_, source(i)); }
  bool store(const sock_filter& i) { return put(i.k, a_); }
  bool store_x(const sock_filter& i) { return put(i.k, x_); }
  bool put(std::size_t at, Word word) {
    if (at >= memory_.size()) return false;
    memory_[at] = word;
    return true;
  }
  bool move(const sock_filter& i) {
    if (BPF_MISCOP(i.code) == BPF_TXA) a_ = x_;
    else x_ = a_;
    return true;
  }

  bool compute(const sock_filter& i) {
    static constexpr Word (*kOperations[])(Word, Word) = {
        [](Word a, Word b) { return a + b; },         [](Word a, Word b) { return a - b; },
        [](Word a, Word b) { return a * b; },         [](Word a, Word b) { return a / b; },
        [](Word a, Word b) { return a | b; },         [](Word a, Word b) { return a & b; },
        [](Word a, Word b) { return a << (b & 31); }, [](Word a, Word b) { return a >> (b & 31); },
        [](Word a, Word) { return 0 - a; },           [](Word a, Word b) { return a % b; },
        [](Word a, Word b) { return a ^ b; }};
    const auto operation = BPF_OP(i.code);
    if (operation > BPF_XOR) return false;
    if ((operation == BPF_DIV || operation == BPF_MOD) && operand(i) == 0) return false;
    a_ = kOperations[operation >> 4](a_, operand(i));
    return true;
  }

  bool jump(const sock_filter& i) {
    static constexpr bool (*kConditions[])(Word, Word) = {
        [](Word, Word) { return true; }, [](Word a, Word b) { return a == b; }, [](Word a, Word b) { return a > b; },
        [](Word a, Word b) { return a >= b; }, [](Word a, Word b) { return (a & b) != 0; }};
    const auto condition = BPF_OP(i.code);
    if (condition > BPF_JSET) return false;
    if (condition == BPF_JA) at_ += i.k;
    else at_ += kConditions[condition >> 4](a_, operand(i)) ? i.jt : i.jf;
    return true;
  }

  std::span<const sock_filter> filter_;
  std::array<Word, sizeof(seccomp_data) / 4> data_{};
  std::array<Word, BPF_MEMWORDS> memory_{};
  std::size_t at_ = 0;
  Word a_ = 0, x_ = 0;
};

using Filter = std::vector<sock_filter>;

// The Error has errno as its code.
Result<std::vector<Filter>> filters_of(Tid stopped) {
  std::vector<Filter> out;
  for (unsigned i = 0; i < kMostFilters; ++i) {
    const auto request = static_cast<__ptrace_request>(PTRACE_SECCOMP_GET_FILTER);
    const long size = ::ptrace(request, stopped.value(), i, nullptr);
    if (size < 0 && errno == ENOENT) return out;  // there are no more
    if (size < 0) return fail_errno("its seccomp filters cannot be read");
    Filter filter(static_cast<std::size_t>(size));
    if (::ptrace(request, stopped.value(), i, filter.data()) != size)
      return fail_errno("its seccomp filters cannot be read");
    out.push_back(std::move(filter));
  }
  return fail("it has too many seccomp filters", {}, {}, E2BIG);
}

bool passes(const Filter& filter, const PlannedCall& call) {
  seccomp_data about{
      .nr = static_cast<int>(call.number), .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 0, .args = {}};
  for (std::size_t i = 0; i < call.arguments.size(); ++i) about.args[i] = call.arguments[i];
  const auto answer = answer_of(filter, about);
  const Word action = answer.value_or(SECCOMP_RET_KILL_THREAD) & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace

std::optional<std::uint32_t> answer_of(std::span<const sock_filter> filter, const seccomp_data& about) {
  return Machine(filter, about).run();
}

SeccompState read_seccomp_state(Tid tid) {
  const StatusFile status = ProcFiles().status(tid);
  SeccompState out{.mode = status.number("Seccomp"), .filters = status.number("Seccomp_filters")};
  if (status.value("Seccomp_filters").empty()) out.filters = out.mode == SECCOMP_MODE_FILTER;
  return out;
}

Result<void> may_call(Tid stopped, std::span<const PlannedCall> calls) {
  const SeccompState state = read_seccomp_state(stopped);
  if (state.mode == 0) return {};
  if (state.mode == SECCOMP_MODE_STRICT)
    return fail("it is in seccomp's strict mode", "any system call that fade makes in it would kill it", {}, ENOTSUP);
  const auto filters = filters_of(stopped);
  if (!filters && state.filters <= read_seccomp_state(leader_of(own_pid())).filters) return {};
  if (!filters)
    return fail("what its seccomp filter forbids cannot be seen",
                "the kernel shows filters only to root (CAP_SYS_ADMIN) without a filter of its own",
                "run fade-attach as root, outside of any container", ENOTSUP);
  for (const PlannedCall& call : calls)
    for (const Filter& filter : *filters)
      if (!passes(filter, call))
        return fail(fmt::format("its seccomp filter forbids {}", call.name),
                    "fade would have to make that system call in it",
                    "start the program under fade-run, or without the filter", ENOTSUP);
  return {};
}

}  // namespace fade
