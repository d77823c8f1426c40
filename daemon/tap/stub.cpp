#include "tap/stub.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/result.hpp"
#include "tap/lookup.hpp"
#include "tap/machine_code.hpp"

namespace fade::tap {
namespace {

using enum Reg;
using Label = MachineCode::Label;

// The frame, from %rbp on.
constexpr std::int32_t kReturnAddressAt = 8, kStackArgumentsAt = 16;
constexpr std::int32_t kOutAt = -8, kResultAt = -16, kSecondResultAt = -24, kFrame = 32;
constexpr Reg kArguments[] = {di, si, dx, cx, r8, r9};

class Writer {
 public:
  Writer(const Tapped& function, const Surroundings& surroundings, RemoteAddr at, RemoteAddr moved)
      : function_(function), around_(surroundings), moved_(moved), code_(at) {}

  Stub write() {
    const Label pass = code_.label(), done = code_.label();
    stub_.begin = code_.here();
    begin();
    record_entry(pass);
    call();
    stub_.calls_from = code_.here();
    record_exit(done);
    code_.place(done);
    leave();
    code_.place(pass);
    code_.raw({0x5D});  // pop %rbp
    code_.jump(moved_);
    stub_.asks = code_.here();
    for (const auto& [question, here, again] : questions_) ask(question, here, again);
    stub_.end = code_.here();
    stub_.code = code_.finish();
    stub_.pass = code_.address_of(pass);
    stub_.done = code_.address_of(done);
    return std::move(stub_);
  }

 private:
  struct Asked {
    Question question;
    Label here, again;
  };

  void begin() {
    code_.raw({0xF3, 0x0F, 0x1E, 0xFA});  // endbr64
    code_.raw({0x55});                    // push %rbp
    code_.move(bp, sp);
    stub_.framed = code_.here();
  }

  void if_disabled(Label to) {
    code_.compare_byte(around_.data + DataLayout::kEnabledAt, 0);
    code_.jump(Condition::Equal, to);
  }

  void record_entry(Label pass) {
    const Label again = code_.label();
    code_.place(again);
    if_disabled(pass);
    if (function_.asks_for_sites) find_site(again);
    find_thread(again);
    const std::uint64_t size = EntryLayout::size(function_.stack_words);
    stub_.reserved = reserve(size, pass);
    write_entry(size);
    stub_.recorded = code_.here();
  }

  // Goes on if the call site is in the table. Uses %rax, %r10, %r11.
  void find_site(Label again) {
    const Label known = code_.label();
    code_.load(ax, bp, kReturnAddressAt);
    if (function_.number != 0) {
      code_.move(r10, function_.number);
      code_.shift_left(r10, 48);
      code_.bit_or(ax, r10);
    }
    find_bucket(code_, around_.data + DataLayout::kSitesAt);
    for (std::uint64_t i = 0; i < DataLayout::kSitesInBucket; ++i) {
      code_.compare(ax, r11, static_cast<std::int32_t>(8 * i));
      code_.jump(Condition::Equal, known);
    }
    code_.jump(question(Question::NewSite, again));
    code_.place(known);
  }

  void find_thread(Label again) { find_ring(code_, around_.data, question(Question::UnknownThread, again)); }

  // %rax: the position of a new record; %r10: its address. One instruction takes the room, so a signal handler that
  // calls the function gets other room. Returns the address behind that instruction.
  RemoteAddr reserve(std::uint64_t size, Label if_off) {
    const Label check = code_.label(), again = code_.label();
    code_.move(ax, static_cast<std::uint32_t>(size));
    code_.exchange_add(r11, RingLayout::kHeadAt, ax);
    const RemoteAddr taken = code_.here();
    code_.jump(check);
    code_.place(again);
    if_disabled(if_off);
    code_.place(check);
    code_.compare(ax, r11, RingLayout::kLimitAt);
    code_.jump(Condition::AboveOrEqual, question(Question::Full, again));
    code_.move(r10, ax);
    code_.bit_and(r10, static_cast<std::int32_t>(around_.ring_size - 1));
    code_.add(r10, r11);
    code_.add(r10, RingLayout::kRecordsAt);
    return taken;
  }

  // %rax becomes the record's first word.
  void make_word(RecordKind kind, std::uint64_t size) {
    code_.shift_left(ax, 19);  // position / 32 << 24
    code_.move(r11, static_cast<std::uint32_t>(head_word(0, function_.number, kind, size)));
    code_.bit_or(ax, r11);
  }

  void write_entry(std::uint64_t size) {
    make_word(RecordKind::Entry, size);
    for (std::int32_t i = 0; i < 6; ++i) code_.store(r10, EntryLayout::kRegistersAt + 8 * i, kArguments[i]);
    for (std::int32_t i = 0; i < function_.stack_words; ++i) {
      code_.load(r11, bp, kStackArgumentsAt + 8 * i);
      code_.store(r10, EntryLayout::kStackAt + 8 * i, r11);
    }
    code_.load(r11, bp, kReturnAddressAt);
    code_.store(r10, EntryLayout::kReturnAddressAt, r11);
    code_.move(r11, bp);
    code_.add(r11, kReturnAddressAt);
    code_.store(r10, EntryLayout::kStackPointerAt, r11);
    code_.move(r11, ax);
    code_.read_clock();
    stub_.clocked = code_.here();
    code_.shift_left(dx, 32);
    code_.bit_or(ax, dx);
    code_.store(r10, EntryLayout::kTscAt, ax);
    code_.load(dx, r10, EntryLayout::kRegistersAt + 8 * 2);
    code_.store(r10, EntryLayout::kWordAt, r11);
  }

  // The stack pointer stays a multiple of 16 at the call, as the ABI wants it.
  void call() {
    code_.add(sp, -kFrame);
    if (function_.out) code_.store(bp, kOutAt, kArguments[function_.out->parameter]);
    if (function_.all_stack_words() % 2 != 0) code_.add(sp, -8);
    for (std::int32_t i = function_.all_stack_words() - 1; i >= 0; --i)
      code_.raw({0xFF, 0x75, static_cast<std::uint8_t>(kStackArgumentsAt + 8 * i)});  // push offset(%rbp)
    code_.call(moved_);
  }

  // All registers are free but %rax and %rdx, the results.
  void record_exit(Label done) {
    const Label again = code_.label();
    code_.store(bp, kResultAt, ax);
    code_.store(bp, kSecondResultAt, dx);
    stub_.kept = code_.here();
    code_.read_clock();
    code_.shift_left(dx, 32);
    code_.bit_or(ax, dx);
    code_.move(r8, ax);
    code_.place(again);
    if_disabled(done);
    find_thread(again);
    const std::uint64_t size = function_.out ? ExitLayout::kSizeWithOut : ExitLayout::kSize;
    stub_.leaving = reserve(size, done);
    write_exit(size);
    stub_.left = code_.here();
    if (function_.success) ask_if_failed(done);
  }

  void write_exit(std::uint64_t size) {
    code_.store(r10, ExitLayout::kTscAt, r8);
    code_.load(cx, bp, kResultAt);
    code_.store(r10, ExitLayout::kResultAt, cx);
    code_.move(r11, bp);
    code_.add(r11, kReturnAddressAt);
    code_.store(r10, ExitLayout::kStackPointerAt, r11);
    if (function_.out) {
      write_out(size);
    } else {
      make_word(RecordKind::Exit, size);
    }
    code_.store(r10, ExitLayout::kWordAt, ax);
  }

  // A function that succeeded has written to its out-parameter, so it can be read.
  void write_out(std::uint64_t size) {
    const Label without = code_.label(), written = code_.label();
    code_.load(si, bp, kOutAt);
    code_.test(si);
    code_.jump(Condition::Equal, without);
    if (function_.success) {
      code_.compare32(cx, static_cast<std::int32_t>(*function_.success));
      code_.jump(Condition::NotEqual, without);
    }
    copy_out();
    make_word(RecordKind::ExitWithOut, size);
    code_.jump(written);
    code_.place(without);
    make_word(RecordKind::Exit, size);
    code_.place(written);
  }

  void copy_out() {
    if (function_.out->size == ExitLayout::kMostOut) {
      code_.load(r11, si, 8);
      code_.store(r10, ExitLayout::kOutAt + 8, r11);
    }
    if (function_.out->size == 4) {
      code_.load32(si, si, 0);
    } else {
      code_.load(si, si, 0);
    }
    code_.store(r10, ExitLayout::kOutAt, si);
  }

  void ask_if_failed(Label done) {
    code_.load(cx, bp, kResultAt);
    for (const auto& fine : {function_.success, function_.expected}) {
      if (!fine) continue;
      code_.compare32(cx, static_cast<std::int32_t>(*fine));
      code_.jump(Condition::Equal, done);
    }
    code_.jump(question(Question::Failed, done));
  }

  void leave() {
    code_.load(ax, bp, kResultAt);
    code_.load(dx, bp, kSecondResultAt);
    code_.raw({0xC9});  // leave
    stub_.returns = code_.here();
    code_.raw({0xC3});  // ret
  }

  Label question(Question question, Label again) {
    const Label here = code_.label();
    questions_.push_back({question, here, again});
    return here;
  }

  // %r10: where the tap goes on after the answer.
  void ask(Question question, Label here, Label again) {
    code_.place(here);
    stub_.askings.push_back({code_.here(), code_.address_of(again)});
    code_.load_address(r10, again);
    code_.jump(around_.traps[static_cast<std::size_t>(question)]);
  }

  const Tapped& function_;
  const Surroundings& around_;
  const RemoteAddr moved_;
  MachineCode code_;
  Stub stub_;
  std::vector<Asked> questions_;
};

}  // namespace

Traps traps_code(RemoteAddr at, RemoteAddr data) {
  Traps traps;
  MachineCode code(at);
  for (std::size_t i = 0; i < kQuestions; ++i) {
    traps.trap[i] = code.here();
    code.raw({0xCC});
    code.raw({0x41, 0xFF, 0xE2});  // jmp *%r10
    traps.give_up[i] = code.here();
    code.store_byte(data + DataLayout::kEnabledAt, 0);
    code.raw({0x41, 0xFF, 0xE2});
  }
  traps.code = code.finish();
  return traps;
}

Stage Stub::stage_at(RemoteAddr ip) const {
  if (ip >= end) return Stage::Passing;
  if (ip >= asks) {
    const auto behind = std::ranges::find_if(askings, [ip](const Asking& one) { return one.at > ip; });
    return stage_at(std::prev(behind)->again);
  }
  if (ip >= pass) return Stage::Passing;
  if (ip >= left) return Stage::Left;
  if (ip >= leaving) return Stage::Leaving;
  if (ip >= calls_from) return Stage::Returned;
  if (ip >= recorded) return Stage::Recorded;
  return ip >= reserved ? Stage::Reserved : Stage::Entering;
}

Stub stub_code(const Tapped& function, const Surroundings& surroundings, RemoteAddr at, RemoteAddr moved) {
  FADE_CHECK(function.stack_words <= EntryLayout::kMostStackWords);
  FADE_CHECK(function.all_stack_words() <= static_cast<int>(Tapped::kMostPassed));
  return Writer(function, surroundings, at, moved).write();
}

}  // namespace fade::tap
