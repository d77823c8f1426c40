// Functions that are reached by a jump at their entry: which ones can be.
#include "probe/entry_jump.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using ::testing::IsEmpty;

std::optional<int> length_of(std::initializer_list<int> bytes) {
  std::vector<std::uint8_t> code(bytes.begin(), bytes.end());
  code.resize(16, 0x90);
  const auto length = entry_jump_length(code, {.length = 4, .depth = 0});
  return length ? std::optional<int>(*length) : std::nullopt;
}

TEST(EntryJump, HasRoomInAPrologue) {
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}), 6);  // push rbp; mov rsp, rbp; push r15
  EXPECT_EQ(length_of({0x48, 0x83, 0xEC, 0x28, 0x48, 0x89, 0x7C, 0x24, 0x18}),
            9);                                                   // sub $0x28, rsp; mov rdi, 0x18(rsp)
  EXPECT_EQ(length_of({0x48, 0x81, 0xEC, 0, 1, 0, 0}), 7);        // sub $0x100, rsp
  EXPECT_EQ(length_of({0x57, 0x56, 0x52, 0x51, 0x41, 0x50}), 6);  // push rdi, rsi, rdx, rcx, r8
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0xFD, 0x53}), 5);        // push rbp; mov rdi, rbp; push rbx
}

TEST(EntryJump, HasNoneForWhatIsNoPrologueMayFaultBranchOrMeansItsPlace) {
  EXPECT_EQ(length_of({0x31, 0xC0, 0x89, 0xF8, 0x31, 0xD2}), std::nullopt);  // xor; mov; xor
  EXPECT_EQ(length_of({0x48, 0xB8, 1, 2, 3, 4, 5, 6, 7, 8}), std::nullopt);  // movabs
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0x07, 0x55}), std::nullopt);        // push; mov rax, (rdi)
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0x44, 0x25, 8}), std::nullopt);     // push; mov rax, 8(rbp)
  EXPECT_EQ(length_of({0x55, 0x48, 0x8B, 0x44, 0x24, 8}), std::nullopt);     // push; mov 8(rsp), rax
  EXPECT_EQ(length_of({0x55, 0x48, 0x8D, 0x05, 1, 0, 0, 0}), std::nullopt);  // push; lea 1(rip), rax
  EXPECT_EQ(length_of({0x55, 0xE8, 1, 0, 0, 0}), std::nullopt);              // push; call
  EXPECT_EQ(length_of({0xE9, 1, 0, 0, 0}), std::nullopt);                    // jmp
  EXPECT_EQ(length_of({0x55, 0x85, 0xFF, 0x74, 0x01, 0x55}), std::nullopt);  // push; test; jz
  EXPECT_EQ(length_of({0x55, 0x2E, 0x89, 0xF8, 0x55}), std::nullopt);        // push; mov with a prefix of no use; push
  EXPECT_EQ(length_of({0x55, 0xF0, 0x48, 0x89, 0xE5}), std::nullopt);        // push; lock mov, which is none
  EXPECT_EQ(length_of({0xC3}), std::nullopt);                                // ret
  EXPECT_EQ(length_of({0x66, 0x55, 0x55, 0x55, 0x55}), std::nullopt);        // push bp
  EXPECT_EQ(length_of({0x83, 0xEC, 0x28, 0x55, 0x55}), std::nullopt);        // sub $0x28, esp
  EXPECT_EQ(length_of({0xCC, 0x55, 0x55, 0x55, 0x55}), std::nullopt);        // somebody's breakpoint
  EXPECT_EQ(entry_jump_length(std::array<std::uint8_t, 2>{0x55, 0x55}, {}), std::nullopt);  // the end of the memory
}

TEST(EntryJump, TheFirstInstructionIsAnEndbr64OrAPush) {
  const auto lead_of = [](std::initializer_list<std::uint8_t> bytes) { return entry_lead(std::vector(bytes)); };
  EXPECT_EQ(lead_of({0xF3, 0x0F, 0x1E, 0xFA})->length, 4);
  EXPECT_EQ(lead_of({0xF3, 0x0F, 0x1E, 0xFA})->depth, 0);
  EXPECT_EQ(lead_of({0x55})->length, 1);
  EXPECT_EQ(lead_of({0x55})->depth, 8);
  EXPECT_EQ(lead_of({0x41, 0x57})->length, 2);
  EXPECT_EQ(lead_of({0x41, 0x57})->depth, 8);
  EXPECT_FALSE(lead_of({0x66, 0x55}));              // push bp
  EXPECT_FALSE(lead_of({0x6A, 0x01}));              // push $1
  EXPECT_FALSE(lead_of({0xFF, 0x35, 1, 0, 0, 0}));  // push 1(rip)
  EXPECT_FALSE(lead_of({0x48, 0x83, 0xEC, 0x28}));  // sub $0x28, rsp
  EXPECT_FALSE(lead_of({0xCC}));
  EXPECT_FALSE(lead_of({}));
  // Behind a push we are in a prologue.
  const std::array<std::uint8_t, 16> frame{0x48, 0x89, 0xE5, 0x41, 0x57};  // mov rsp, rbp; push r15
  EXPECT_EQ(entry_jump_length(frame, {.length = 1, .depth = 8}), 5);
  EXPECT_EQ(entry_jump_length(frame, {.length = 4, .depth = 0}), std::nullopt);
}

// As AMD's HSA has them in Debian 12, and from Debian 13 on.
TEST(EntryJump, HasRoomInAThunk) {
  EXPECT_EQ(length_of({0x48, 0x8B, 0x05, 1, 0, 0, 0, 0xFF, 0xA0, 0xD0, 0, 0, 0}),
            7);                                                                     // mov 1(rip), rax; jmp *0xd0(rax)
  EXPECT_EQ(length_of({0x48, 0x8B, 0x05, 1, 0, 0, 0, 0xFF, 0x60, 0x30}), 7);        // mov 1(rip), rax; jmp *0x30(rax)
  EXPECT_EQ(length_of({0x0F, 0xB6, 0x44, 0x24, 0x20, 0x89, 0x44, 0x24, 0x20}), 5);  // movzbl 32(rsp), eax and back
  EXPECT_EQ(length_of({0x0F, 0xB6, 0x44, 0x24, 0x20, 0x89, 0x44, 0x24, 0x28}), std::nullopt);     // and elsewhere
  EXPECT_EQ(length_of({0x48, 0x8B, 0x05, 1, 0, 0, 0, 0xFF, 0x50, 0x30}), std::nullopt);           // call *0x30(rax)
  EXPECT_EQ(length_of({0x48, 0x8B, 0x05, 1, 0, 0, 0, 0x0F, 0xB7, 0xFF}), std::nullopt);           // movzwl di, edi
  EXPECT_EQ(length_of({0x48, 0x8B, 0x0D, 1, 0, 0, 0, 0xFF, 0xA1, 0xD0, 0, 0, 0}), std::nullopt);  // by rcx
}

TEST(EntryJump, IsBehindTheTableLoadOfAThunkWithoutEndbr64) {
  const auto behind = [](std::vector<std::uint8_t> bytes) {
    bytes.resize(16, 0xCC);
    return entry_jump_length(bytes, {.length = 7, .depth = 0});
  };
  const auto lead = entry_lead(std::vector<std::uint8_t>{0x48, 0x8B, 0x05, 1, 0, 0, 0});
  ASSERT_TRUE(lead);
  EXPECT_TRUE(lead->length == 7 && lead->depth == 0 && lead->loads_table() && lead->is_repeated());
  EXPECT_EQ(behind({0xFF, 0xA0, 0xD0, 0, 0, 0}), 6);                       // jmp *0xd0(rax)
  EXPECT_EQ(behind({0xFF, 0x60, 0x30, 0x66, 0x0F, 0x1F, 0x44, 0, 0}), 9);  // jmp *0x30(rax); nopw
  EXPECT_EQ(behind({0xFF, 0x60, 0x30, 0x90, 0x90}), 5);                    // jmp *0x30(rax); nop; nop
  EXPECT_EQ(behind({0xFF, 0x60, 0x30}), std::nullopt) << "something else follows";
  EXPECT_EQ(behind({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}), std::nullopt) << "a prologue would lose %rax";
}

TEST(EntryJump, MovesTheLoadOfATable) {
  const std::vector<std::uint8_t> code{0x48, 0x8B, 0x05, 0, 1, 0, 0, 0xFF, 0x60, 0x30, 0x66, 0x90};
  const RemoteAddr site{0x1004}, slot{0x3000};
  const auto moved = relocate_entry(code, site, slot);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->length, 7);
  EXPECT_EQ(std::vector(moved->code.begin(), moved->code.begin() + 7),
            (std::vector<std::uint8_t>{0x48, 0x8B, 0x05, 0x04, 0xE1, 0xFF, 0xFF}));
  EXPECT_FALSE(relocate_entry(code, site, {0x7000'0000'0000})) << "the table is out of reach";
}

TEST(EntryJump, IsWrittenOverTheBeginningsOfInstructions) {
  using Bytes = std::vector<std::uint8_t>;
  const auto starts = [](Bytes bytes) {
    bytes.resize(16, 0x90);
    return starts_under_jump(bytes);
  };
  EXPECT_EQ(starts({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}), (Bytes{1, 4}));  // push rbp; mov rsp, rbp; push r15
  EXPECT_EQ(starts({0x48, 0x83, 0xEC, 0x28, 0x48, 0x89, 0x7C, 0x24, 0x18}),
            (Bytes{4}));                                                         // sub $0x28, rsp; mov rdi, 0x18(rsp)
  EXPECT_EQ(starts({0x57, 0x56, 0x52, 0x51, 0x41, 0x50}), (Bytes{1, 2, 3, 4}));  // push rdi, rsi, rdx, rcx, r8
  EXPECT_EQ(starts({0x48, 0x81, 0xEC, 0, 1, 0, 0}), (Bytes{}));                  // sub $0x100, rsp
  EXPECT_EQ(starts_under_jump(Bytes{0x55, 0x48}), (Bytes{1}));                   // the end of the memory
}

// What gcc makes of a loop that passes arguments on the stack: its head is a push right behind the prologue.
TEST(EntryJump, BranchesThatLeadBetweenAreFound) {
  const std::vector<std::uint8_t> code{0x53, 0x48, 0x89, 0xFB,              // 0: push rbx; mov rdi, rbx
                                       0x53, 0x90, 0x85, 0xC0,              // 4: push rbx; nop; test eax, eax
                                       0x75, 0xFA,                          // 8: jne 4
                                       0x0F, 0x84, 0xF2, 0xFF, 0xFF, 0xFF,  // 10: je 2
                                       0xE9, 0xEC, 0xFF, 0xFF, 0xFF,        // 16: jmp 1
                                       0xE2, 0xEC,                          // 21: loop 3
                                       0xE8, 0xE4, 0xFF, 0xFF, 0xFF};       // 23: call 0
  const RemoteAddr at{0x7f0000001000};
  const std::unordered_set<RemoteAddr> covered{at + 1, at + 2, at + 3, at + 4, at + 5};
  EXPECT_EQ(branched_to(code, at, covered), (std::unordered_set<RemoteAddr>{at + 1, at + 2, at + 3, at + 4}));
  EXPECT_EQ(branched_to(code, at, {at}), std::unordered_set<RemoteAddr>{at});
  EXPECT_TRUE(branched_to(code, at, {}).empty());
  for (std::size_t n = 0; n < code.size(); ++n)  // cut off anywhere
    EXPECT_LE(branched_to(std::span(code).first(n), at, covered).size(), 4u);
}

}  // namespace
}  // namespace fade
