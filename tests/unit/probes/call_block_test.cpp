#include "probes/call_block.hpp"

#include <gmock/gmock.h>

#include "probes/decode.hpp"
#include "probes/probe_fixtures.hpp"
#include "probes/signature.hpp"

namespace fade::probes {
namespace {

// What a reader makes of the block and of the signature.
std::string read_back(const Probe& probe, const CallBlock& block, std::int64_t call) {
  const auto signature = signature_from(signature_text(probe, 6));
  const auto found = block.find(call);
  if (!signature || !found) return "nothing";
  return args_json(signature->probe, found->record, found->payload, signature->library_major);
}

std::string as_text(const Probe& probe, const Call& call) { return args_json(probe, call.record, call.payload, 6); }

CallBlock packed(CallPacker& packer) {
  const std::vector<std::byte> bytes = packer.pack();
  auto block = CallBlock::unpack(bytes);
  EXPECT_TRUE(block);
  return block ? std::move(*block) : CallBlock();
}

TEST(CallBlock, GivesBackTheArgumentsOfEachCall) {
  const Probe probe = probe_of(
      "hipError_t f(out void **ptr, size_t size, hipMemcpyKind kind, const char *name, double x, int a, int b, int c, "
      "int d)");
  CallPacker packer(probe);
  std::vector<Call> calls;
  for (std::uint64_t i = 0; i < kMostCallsInABlock; ++i) {
    Call& call = calls.emplace_back();
    call.word(0, 0x7ffd0000 - i * 8)
        .word(1, i * i * 4096)
        .word(2, i % 4)
        .word(3, i % 3 ? 0x4000 : 0)
        .word(4, ~i)
        .word(5, i);
    if (i % 5 != 0) call.piece(PieceKind::Out, 0, bytes_of(0x7f0000000000 + i % 7 * 4096));
    if (i % 3 != 0) call.piece(PieceKind::String, 3, bytes_of(std::string(i % 50, 'x')));
    call.piece(PieceKind::Sse, 0, bytes_of(static_cast<double>(i) / 3));
    call.piece(PieceKind::Stack, 0, bytes_of(std::array<std::uint64_t, 2>{i, ~i}));
    call.record.flags = i % 11 ? kReturned : kReturned | kFailed;
    ASSERT_TRUE(packer.add(static_cast<std::int64_t>(i * 3 + 7), call.record, call.payload));
  }
  EXPECT_EQ(packer.first(), 7);
  EXPECT_EQ(packer.last(), 7 + 3 * (static_cast<std::int64_t>(kMostCallsInABlock) - 1));
  const CallBlock block = packed(packer);
  for (std::size_t i = 0; i < calls.size(); ++i)
    ASSERT_EQ(read_back(probe, block, static_cast<std::int64_t>(i * 3 + 7)), as_text(probe, calls[i])) << i;
  EXPECT_EQ(read_back(probe, block, 8), "nothing");
  EXPECT_EQ(packer.calls(), 0u);
  EXPECT_EQ(packer.words(), 0u);
}

TEST(CallBlock, FindsCallsThatReturnedInAnotherOrder) {
  const Probe probe = probe_of("void f(int a)");
  CallPacker packer(probe);
  for (const std::int64_t call : {9, 3, 12, 4})
    packer.add(call, Call().word(0, static_cast<std::uint64_t>(call)).record, {});
  EXPECT_EQ(packer.first(), 3);
  EXPECT_EQ(packer.last(), 12);
  const CallBlock block = packed(packer);
  EXPECT_EQ(read_back(probe, block, 3), R"({"a":3})");
  EXPECT_EQ(read_back(probe, block, 12), R"({"a":12})");
}

TEST(CallBlock, MovesItsCalls) {
  const Probe probe = probe_of("void f(int a)");
  CallPacker packer(probe);
  for (const std::int64_t call : {9, 3, 12, 4})
    packer.add(call, Call().word(0, static_cast<std::uint64_t>(call)).record, {});
  const std::vector<std::byte> bytes = packer.pack();
  const auto moved = with_moved_calls(bytes, 1'000'000);
  ASSERT_TRUE(moved);
  const auto block = CallBlock::unpack(*moved);
  ASSERT_TRUE(block);
  for (const std::int64_t call : {9, 3, 12, 4}) {
    EXPECT_EQ(read_back(probe, *block, 1'000'000 + call), "{\"a\":" + std::to_string(call) + "}");
    EXPECT_EQ(read_back(probe, *block, call), "nothing");
  }
  EXPECT_EQ(with_moved_calls(*moved, -1'000'000), bytes);
  EXPECT_FALSE(with_moved_calls({}, 1));
  EXPECT_FALSE(with_moved_calls(std::span(bytes).first(3), 1)) << "it ends before the first id";
}

TEST(CallBlock, EqualCallsTakeNoRoom) {
  const Probe probe = probe_of("void f(void *p, size_t n)");
  CallPacker packer(probe);
  for (std::int64_t call = 1; call <= 1000; ++call)
    packer.add(call, Call().word(0, 0x7f0012345678).word(1, 4096).record, {});
  EXPECT_LT(packer.pack().size(), 1100u);  // a byte for the difference of their ids
}

TEST(CallBlock, LeavesOutPiecesThatAreTooLarge) {
  const Probe probe = probe_of("void f(const char *a, const char *b)");
  CallPacker packer(probe);
  Call call;
  call.word(0, 0x10)
      .word(1, 0x20)
      .piece(PieceKind::String, 0, bytes_of(std::string(kMostPayloadInABlock, 'x')))
      .piece(PieceKind::String, 1, bytes_of(std::string("y")));
  ASSERT_TRUE(packer.add(1, call.record, call.payload));
  EXPECT_EQ(read_back(probe, packed(packer), 1), R"({"a":{"at":"0x10"},"b":"y"})");
}

TEST(CallBlock, TakesNoCallWithoutRoomForItsArguments) {
  const Probe probe = probe_of("void f(int a)");
  CallPacker packer(probe);
  Call call;
  call.piece(PieceKind::Stack, 0, std::vector<std::byte>(kMostPayloadInABlock));
  EXPECT_FALSE(packer.add(1, call.record, call.payload));
  EXPECT_TRUE(packer.add(2, Call().word(0, 5).record, {}));
  EXPECT_EQ(read_back(probe, packed(packer), 2), R"({"a":5})");
}

TEST(CallBlock, AFunctionWithoutPrototypeKeepsItsRegisters) {
  const Probe probe = probe_of("? mystery");
  CallPacker packer(probe);
  const Call call = Call().word(0, 0x11).word(5, 0x66);
  packer.add(1, call.record, {});
  EXPECT_EQ(read_back(probe, packed(packer), 1), as_text(probe, call));
}

TEST(CallBlock, NoBytesMakeItReadBeyondThem) {
  const Probe probe = probe_of("void f(void *p, const char *name)");
  CallPacker packer(probe);
  for (std::int64_t call = 1; call <= 40; ++call) {
    Call one = Call()
                   .word(0, static_cast<std::uint64_t>(call * 77777))
                   .piece(PieceKind::String, 1, bytes_of(std::string(static_cast<std::size_t>(call % 9), 'n')));
    packer.add(call, one.record, one.payload);
  }
  const std::vector<std::byte> good = packer.pack();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(CallBlock::unpack(std::span(good).first(size))) << size;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      if (const auto block = CallBlock::unpack(bad))
        for (std::int64_t call = 0; call <= 41; ++call)
          if (const auto found = block->find(call)) args_json(probe, found->record, found->payload, 6);
    }
}

TEST(Signature, TextThatIsNoneIsRefused) {
  const std::string good = signature_text(probe_of("hipError_t f(inout int *a, in int b[n], int n)"), 6);
  ASSERT_TRUE(signature_from(good));
  EXPECT_EQ(signature_from(good)->probe.parameters.size(), 3u);
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(signature_from(good.substr(0, size)));
  for (const char* bad : {"[]", "7", R"({"major":6,"known":true,"parameters":[{"name":1}]})",
                          R"({"major":-1,"known":true,"parameters":[]})"})
    EXPECT_FALSE(signature_from(bad)) << bad;
}

}  // namespace
}  // namespace fade::probes
