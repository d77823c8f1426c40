// A thread between the moved instructions of an entry goes back in front of them: which registers that needs.
#include "probe/moved_entry.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace fade {
namespace {

constexpr std::uint64_t kSp = 0x7000, kText = 0x1000, kSlot = 0x2000;

class WordsOnTheStack final : public Memory {
 public:
  std::map<std::uint64_t, std::uint64_t> words;

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto word = words.find(from.value);
    if (word == words.end()) return 0;
    std::memcpy(into.data(), &word->second, std::min(into.size(), sizeof word->second));
    return std::min(into.size(), sizeof word->second);
  }
};

struct InPrologue {
  WordsOnTheStack memory;
  Registers now{};

  // `executed`: bytes of `moved`.
  std::optional<Registers> back(std::initializer_list<std::uint8_t> moved, std::uint64_t executed, EntryLead lead) {
    Site site;
    site.address = {kText + lead.length};
    site.slot = {kSlot};
    site.length = static_cast<std::uint8_t>(moved.size());
    site.lead = lead;
    now.rip = kSlot + executed;
    std::vector<std::uint8_t> code(moved);
    code.resize(64, 0x90);
    return before_moved(site, code, now, memory);
  }
};

constexpr EntryLead kEndbr{.length = 4, .depth = 0}, kPush{.length = 1, .depth = 8};

TEST(MovedEntry, PushesAndRoomAreTakenBack) {
  InPrologue thread;
  thread.now.rsp = kSp;
  const auto pushes = thread.back({0x57, 0x56, 0x52, 0x51, 0x41, 0x50}, 3, kEndbr);  // push rdi, rsi, rdx | rcx, r8
  ASSERT_TRUE(pushes);
  EXPECT_EQ(pushes->rsp, kSp + 24);
  EXPECT_EQ(pushes->rip, kSlot);
  const auto room = thread.back({0x48, 0x81, 0xEC, 0, 1, 0, 0, 0x90}, 7, kEndbr);  // sub $0x100, rsp
  ASSERT_TRUE(room);
  EXPECT_EQ(room->rsp, kSp + 0x100);
}

TEST(MovedEntry, ARegisterThatWasPushedGetsItsValueBack) {
  InPrologue thread;
  thread.now.rsp = thread.now.rbp = kSp;
  thread.memory.words[kSp] = 0xBEEF;
  const auto here = thread.back({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}, 4, kEndbr);  // push rbp; mov rsp, rbp | push r15
  ASSERT_TRUE(here);
  EXPECT_EQ(here->rbp, 0xBEEFu);
  EXPECT_EQ(here->rsp, kSp + 8);
  thread.memory.words[kText] = 0x55;  // push rbp, in front of the site
  const auto in_front = thread.back({0x48, 0x89, 0xE5, 0x41, 0x57}, 3, kPush);
  ASSERT_TRUE(in_front);
  EXPECT_EQ(in_front->rbp, 0xBEEFu);
  EXPECT_EQ(in_front->rsp, kSp);
}

TEST(MovedEntry, ARegisterWithoutAnArgumentNeedsNoValue) {
  InPrologue thread;
  thread.now.rsp = kSp;
  EXPECT_TRUE(thread.back({0x53, 0x31, 0xC0, 0x41, 0x54}, 3, kEndbr));  // push rbx; xor eax, eax | push r12
}

TEST(MovedEntry, AnArgumentThatIsLostKeepsTheThreadThere) {
  InPrologue thread;
  thread.now.rsp = kSp;
  EXPECT_FALSE(thread.back({0x53, 0x48, 0x89, 0xFE, 0x41, 0x54}, 4, kEndbr));  // push rbx; mov rdi, rsi | push r12
  EXPECT_FALSE(thread.back({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}, 4, kEndbr)) << "the stack cannot be read";
  thread.memory.words[kText] = 0xCC;
  EXPECT_FALSE(thread.back({0x48, 0x89, 0xE5, 0x41, 0x57}, 3, kPush)) << "a breakpoint hides the push";
}

}  // namespace
}  // namespace fade
