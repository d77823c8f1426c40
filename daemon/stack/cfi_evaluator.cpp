#include "stack/cfi_evaluator.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <vector>

namespace fade {
namespace {

constexpr int kMostSteps = 1000;  // of one expression, because it may jump back
constexpr std::size_t kMostWords = 64;

// DWARF 5, 2.5: a machine with a stack of words. An operation that is not understood stops the machine for good.
class Machine {
 public:
  Machine(const FrameRegisters& frame, const Memory& memory, std::optional<std::uint64_t> cfa)
      : frame_(frame), memory_(memory), cfa_(cfa) {}

  // The result of an expression. If the expression describes a location: the address, or the register's value.
  std::optional<std::uint64_t> run(std::span<const Dwarf_Op> ops) {
    int steps = 0;
    for (std::size_t next = 0; next < ops.size(); ++next) {
      if (++steps > kMostSteps || !execute(ops[next])) return std::nullopt;
      if (!jump_) continue;
      const auto to = std::ranges::find(ops, *jump_, &Dwarf_Op::offset);
      if (to == ops.end()) return std::nullopt;
      next = static_cast<std::size_t>(to - ops.begin()) - 1;
      jump_.reset();
    }
    return pop();
  }
  bool is_value() const { return is_value_; }  // false: the result is the address of the value

 private:
  bool push(std::optional<std::uint64_t> word) {
    if (!word || words_.size() == kMostWords) return false;
    words_.push_back(*word);
    return true;
  }
  // A register is a value itself, not the address of one.
  bool push_register(std::size_t number) {
    is_value_ = true;
    return push(frame_.get(number));
  }
  std::optional<std::uint64_t> pop() { return pick(0, true); }
  std::optional<std::uint64_t> pick(std::uint64_t depth, bool take = false) {
    if (depth >= words_.size()) return std::nullopt;
    const std::uint64_t word = words_[words_.size() - 1 - depth];
    if (take) words_.pop_back();
    return word;
  }
  std::optional<std::uint64_t> read(std::uint64_t at, std::size_t size) const {
    std::uint64_t word = 0;
    if (size > sizeof word || !memory_.read_exactly({at}, std::as_writable_bytes(std::span(&word, 1)).first(size)))
      return std::nullopt;
    return word;
  }
  bool execute(const Dwarf_Op& op);
  bool on_two(const Dwarf_Op& op);
  bool on_one(const Dwarf_Op& op);
  bool control(const Dwarf_Op& op);

  const FrameRegisters& frame_;
  const Memory& memory_;
  std::optional<std::uint64_t> cfa_;
  std::vector<std::uint64_t> words_;
  std::optional<Dwarf_Word> jump_;
  bool is_value_ = false;
};

bool Machine::execute(const Dwarf_Op& op) {
  const std::uint8_t atom = op.atom;
  if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) return push(atom - std::uint64_t{DW_OP_lit0});
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
    const auto base = frame_.get(atom - std::size_t{DW_OP_breg0});
    return base && push(*base + op.number);
  }
  if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) return push_register(atom - std::size_t{DW_OP_reg0});
  switch (atom) {
    case DW_OP_regx: return push_register(op.number);
    case DW_OP_bregx: {
      const auto base = frame_.get(op.number);
      return base && push(*base + op.number2);
    }
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: return push(op.number);
    case DW_OP_call_frame_cfa: return push(cfa_);
    case DW_OP_stack_value: return is_value_ = true;
    case DW_OP_dup: return push(pick(0));
    case DW_OP_over: return push(pick(1));
    case DW_OP_pick: return push(pick(op.number));
    case DW_OP_drop: return pop().has_value();
    default: return control(op) || on_one(op) || on_two(op);
  }
}

bool Machine::control(const Dwarf_Op& op) {
  if (op.atom == DW_OP_nop) return true;
  if (op.atom != DW_OP_skip && op.atom != DW_OP_bra) return false;
  const auto condition = op.atom == DW_OP_bra ? pop() : std::optional<std::uint64_t>(1);
  if (condition && *condition != 0) jump_ = op.offset + 3 + op.number;  // relative to the end of the operation
  return condition.has_value();
}

bool Machine::on_one(const Dwarf_Op& op) {
  const auto a = pick(0);
  if (!a) return false;
  const auto replace = [&](std::optional<std::uint64_t> by) {
    pop();
    return push(by);
  };
  switch (op.atom) {
    case DW_OP_deref: return replace(read(*a, 8));
    case DW_OP_deref_size: return replace(read(*a, op.number));
    case DW_OP_plus_uconst: return replace(*a + op.number);
    case DW_OP_neg: return replace(0 - *a);
    case DW_OP_not: return replace(~*a);
    case DW_OP_abs: return replace(static_cast<std::int64_t>(*a) < 0 ? 0 - *a : *a);
    default: return false;
  }
}

bool Machine::on_two(const Dwarf_Op& op) {
  const auto b = pick(0), a = pick(1);
  if (!a || !b) return false;
  const auto replace = [&](std::uint64_t by) {
    pop();
    pop();
    return push(by);
  };
  const auto sa = static_cast<std::int64_t>(*a), sb = static_cast<std::int64_t>(*b);
  switch (op.atom) {
    case DW_OP_and: return replace(*a & *b);
    case DW_OP_or: return replace(*a | *b);
    case DW_OP_xor: return replace(*a ^ *b);
    case DW_OP_plus: return replace(*a + *b);
    case DW_OP_minus: return replace(*a - *b);
    case DW_OP_mul: return replace(*a * *b);
    case DW_OP_div: return sb != 0 && sb != -1 && replace(static_cast<std::uint64_t>(sa / sb));
    case DW_OP_mod: return *b != 0 && replace(*a % *b);
    case DW_OP_shl: return replace(*b < 64 ? *a << *b : 0);
    case DW_OP_shr: return replace(*b < 64 ? *a >> *b : 0);
    case DW_OP_shra: return replace(static_cast<std::uint64_t>(sa >> std::min<std::uint64_t>(*b, 63)));
    case DW_OP_eq: return replace(*a == *b);
    case DW_OP_ne: return replace(*a != *b);
    case DW_OP_lt: return replace(sa < sb);
    case DW_OP_le: return replace(sa <= sb);
    case DW_OP_gt: return replace(sa > sb);
    case DW_OP_ge: return replace(sa >= sb);
    case DW_OP_swap: return replace(*b) && push(*a);
    default: return false;
  }
}

std::optional<std::uint64_t> cfa_of(Dwarf_Frame& information, const FrameRegisters& frame, const Memory& memory) {
  Dwarf_Op* ops = nullptr;
  std::size_t n = 0;
  if (::dwarf_frame_cfa(&information, &ops, &n) != 0 || n == 0) return std::nullopt;
  return Machine(frame, memory, std::nullopt).run({ops, n});
}

bool is_saved(std::size_t number) {
  return std::ranges::find(FrameRegisters::kSaved, number) != FrameRegisters::kSaved.end();
}

// Returns false if the rule of this register is not understood. A register without a rule follows the ABI: it decides
// which registers survive a call (libdw's version lacks rbx).
bool restore(Dwarf_Frame& information, int number, std::uint64_t cfa, const FrameRegisters& from, FrameRegisters& to,
             const Memory& memory) {
  Dwarf_Op buffer[3];
  Dwarf_Op* ops = nullptr;
  std::size_t n = 0;
  if (::dwarf_frame_register(&information, number, buffer, &ops, &n) != 0) return false;
  const auto index = static_cast<std::size_t>(number);
  if (n == 0) {
    if (!is_saved(index)) to.forget(index);
    return true;
  }
  Machine machine(from, memory, cfa);
  auto value = machine.run({ops, n});
  if (value && !machine.is_value()) value = memory.value<std::uint64_t>({*value});
  if (value) to.set(index, *value);
  return value.has_value();
}

}  // namespace

bool step_by_cfi(Dwarf_Frame& information, FrameRegisters& frame, const Memory& memory) {
  const auto cfa = cfa_of(information, frame, memory);
  if (!cfa) return false;
  FrameRegisters caller = frame;
  for (std::size_t number = 0; number < FrameRegisters::kReturnAddress; ++number) {
    const bool is_understood = restore(information, static_cast<int>(number), *cfa, frame, caller, memory);
    if (!is_understood) caller.forget(number);
  }
  if (!caller.has(FrameRegisters::kRsp)) caller.set(FrameRegisters::kRsp, *cfa);
  if (!restore(information, FrameRegisters::kReturnAddress, *cfa, frame, caller, memory)) return false;
  frame = caller;
  return caller.has(FrameRegisters::kReturnAddress);
}

}  // namespace fade
