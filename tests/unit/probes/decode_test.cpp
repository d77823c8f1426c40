#include "probes/decode.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "probes/built_in.hpp"
#include "probes/probe_fixtures.hpp"
#include "probes/text.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

std::string json(const Probe& probe, const Call& call, int major = 7) {
  const std::string out = args_json(probe, call.record, call.payload, major);
  EXPECT_FALSE(nlohmann::json::parse(out, nullptr, false).is_discarded()) << out;
  return out;
}
std::string texts(const Probe& probe, const Call& call, int major = 7) {
  std::string out;
  for (const Value& value : decode(probe, call.record, call.payload, major))
    out += (out.empty() ? "" : "; ") + value.name + (value.direction == Direction::Out ? " => " : " = ") + value.text;
  return out;
}

TEST(Decode, ShowsNumbersAndNamesFromRegisters) {
  const Probe probe = probe_of(
      "hipError_t f(void *dst, size_t n, hipMemcpyKind kind, int signed_one, unsigned flags @flags(hipStreamFlags), "
      "bool b)");
  Call call;
  call.word(0, 0x7f0000001000)
      .word(1, 4096)
      .word(2, 0xffffffff00000001)
      .word(3, 0xdead0000fffffffe)
      .word(4, 1)
      .word(5, 0xff00);
  EXPECT_EQ(texts(probe, call),
            "dst = 0x7f0000001000; n = 4096; kind = hipMemcpyHostToDevice; signed_one = -2; "
            "flags = hipStreamNonBlocking; b = false");
  EXPECT_EQ(json(probe, call), R"({"dst":"0x7f0000001000","n":4096,"kind":"hipMemcpyHostToDevice","signed_one":-2,)"
                               R"("flags":"hipStreamNonBlocking","b":false})");
}

TEST(Decode, NumbersThatJsonCannotHoldAreText) {
  const Probe probe = probe_of("void f(size_t n, double d)");
  Call call;
  call.word(0, std::numeric_limits<std::uint64_t>::max());
  call.piece(PieceKind::Sse, 0, bytes_of(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(json(probe, call), R"({"n":"18446744073709551615","d":"inf"})");
}

TEST(Decode, ReadsTheStackAndTheFloatRegisters) {
  const Probe probe =
      probe_of("void f(int a, int b, int c, int d, int e, int g, int seventh, float x, double y, double z)");
  Call call;
  const std::uint64_t seventh = 0xaaaaaaaa00000007;
  call.piece(PieceKind::Stack, 0, bytes_of(seventh));
  const std::array<std::uint64_t, 3> sse = {std::bit_cast<std::uint32_t>(1.5F), std::bit_cast<std::uint64_t>(-0.25),
                                            std::bit_cast<std::uint64_t>(3.0)};
  call.piece(PieceKind::Sse, 0, bytes_of(sse));
  EXPECT_THAT(texts(probe, call), testing::EndsWith("seventh = 7; x = 1.5; y = -0.25; z = 3"));
}

TEST(Decode, ADim3ComesFromTwoRegisters) {
  const Probe probe = probe_of("void f(const void *k, dim3 grid, dim3 block)");
  Call call;
  call.word(1, 96 | std::uint64_t{2} << 32)
      .word(2, 0xbad0000000000003)
      .word(3, 256 | std::uint64_t{1} << 32)
      .word(4, 1);
  EXPECT_EQ(texts(probe, call), "k = 0x0; grid = (96, 2, 3); block = (256, 1, 1)");
  EXPECT_EQ(json(probe, call), R"({"k":"0x0","grid":[96,2,3],"block":[256,1,1]})");
}

TEST(Decode, StructsByValueComeFromTheStackFieldByField) {
  const Probe probe = probe_of("void f(int n, hipExtent extent, hipIpcMemHandle_t handle)");
  Call call;
  std::array<std::uint64_t, 11> stack{640, 480, 2, 0x0807060504030201};
  call.word(0, 5).piece(PieceKind::Stack, 0, bytes_of(stack));
  EXPECT_EQ(texts(probe, call),
            "n = 5; extent = {width=640, height=480, depth=2}; handle = {reserved=0102030405060708" +
                std::string(112, '0') + "}");
}

TEST(Decode, OutParametersShowWhatCameBack) {
  const Probe probe = probe_of("hipError_t f(out void **ptr, out char name[len], int len, out hipMemoryType *type)");
  Call call;
  call.word(0, 0x1000).word(1, 0x2000).word(2, 16).word(3, 0x3000);
  call.piece(PieceKind::Out, 0, bytes_of(std::uint64_t{0x7fabc}));
  call.piece(PieceKind::Out, 1, bytes_of(std::string("AMD Radeon\0garb", 15)));
  call.piece(PieceKind::Out, 3, bytes_of(std::uint32_t{2}));
  EXPECT_EQ(json(probe, call, 7), R"({"ptr":"0x7fabc","name":"AMD Radeon","len":16,"type":"hipMemoryTypeDevice"})");
  EXPECT_EQ(json(probe, call, 5), R"({"ptr":"0x7fabc","name":"AMD Radeon","len":16,"type":"hipMemoryTypeArray"})");
  EXPECT_EQ(texts(probe, call), "ptr => 0x7fabc; name => \"AMD Radeon\"; len = 16; type => hipMemoryTypeDevice");
}

TEST(Decode, ATextThatAnOutParameterGivesIsShown) {
  const Probe probe = probe_of("hipError_t f(hipError_t error, out const char **name, out const char *const *other)");
  Call call;
  call.word(0, 1).word(1, 0x1000).piece(PieceKind::Out, 1, bytes_of(std::uint64_t{0x7fabc}));
  EXPECT_EQ(texts(probe, call).substr(0, 50),
            "error = hipErrorInvalidValue; name => 0x7fabc; oth");  // it was not readable
  call.piece(PieceKind::ReturnedString, 1, bytes_of(std::string("a \"b\"")));
  EXPECT_THAT(texts(probe, call), testing::HasSubstr(R"(name => "a \"b\"";)"));
  EXPECT_THAT(json(probe, call), testing::HasSubstr(R"("name":"a \"b\"",)"));
}

TEST(Decode, ATextThatIsTheResultIsShown) {
  Call call;
  EXPECT_EQ(returned_text(call.payload), "");
  call.piece({.kind = PieceKind::ReturnedString, .param = kResultParam, .cut = 1}, bytes_of(std::string("hipErr")));
  EXPECT_EQ(returned_text(call.payload), "\"hipErr\"...");
}

TEST(Decode, MarksWhatCouldNotBeReadAndWhatDidNotReturn) {
  const Probe probe = probe_of("hipError_t f(const char *name, out int *a, out int *b, inout int *c)");
  Call call;
  call.word(0, 0x10).word(1, 0x20).word(2, 0x30).word(3, 0x40);
  call.piece({.kind = PieceKind::String, .param = 0, .unreadable = 1}, {});
  call.piece({.kind = PieceKind::Out, .param = 1, .unreadable = 1}, {});
  call.piece(PieceKind::In, 3, bytes_of(std::uint32_t{9}));
  EXPECT_EQ(
      json(probe, call),
      R"({"name":{"unreadable":"0x10"},"a":{"unreadable":"0x20"},"b":{"at":"0x30"},"c":{"in":9,"out":{"at":"0x40"}}})");
  const auto values = decode(probe, call.record, call.payload, 7);
  EXPECT_TRUE(values[0].unreadable);
  EXPECT_EQ(values[0].text, "<unreadable 0x10>");
}

TEST(Decode, ShowsWhatAnOverrideDid) {
  const Probe probe = probe_of("hipError_t f(out int *pi, hipDeviceAttribute_t attr)");
  Call call;
  call.word(1, 63)
      .piece(PieceKind::Out, 0, bytes_of(std::int32_t{36}))
      .piece(PieceKind::Became, 0, bytes_of(std::int32_t{72}));
  EXPECT_EQ(json(probe, call), R"({"pi":{"was":36,"became":72},"attr":"hipDeviceAttributeMultiprocessorCount"})");
  EXPECT_EQ(texts(probe, call), "pi => 36 -> 72; attr = hipDeviceAttributeMultiprocessorCount");
  EXPECT_TRUE(decode(probe, call.record, call.payload, 7)[0].overridden);
}

TEST(Decode, OutParametersOfFailedCallsHaveNoValue) {
  const Probe probe = probe_of("hipError_t f(out int *pi, inout int *both, int size)");
  Call call;
  call.word(0, 0x20).word(1, 0x30).word(2, 8).piece(PieceKind::Out, 0, bytes_of(std::int32_t{-2015337184}));
  call.piece(PieceKind::In, 1, bytes_of(std::int32_t{4})).piece(PieceKind::Out, 1, bytes_of(std::int32_t{4}));
  call.record.flags = kReturned | kFailed;
  EXPECT_EQ(json(probe, call), R"({"pi":{"at":"0x20"},"both":{"in":4,"out":{"at":"0x30"}},"size":8})");
  EXPECT_EQ(texts(probe, call), "pi => 0x20; both = 4; both => 0x30; size = 8");
  call.piece(PieceKind::Became, 0, bytes_of(std::int32_t{72}));
  EXPECT_THAT(json(probe, call), testing::HasSubstr(R"("pi":{"was":-2015337184,"became":72})"));
}

TEST(Decode, TextIsCutMarkedAndNullIsNull) {
  const Probe probe = probe_of("void f(const char *a, const char *b)");
  Call call;
  call.word(0, 0x10);
  call.piece({.kind = PieceKind::String, .param = 0, .cut = 1}, bytes_of(std::string("__global__ void k")));
  EXPECT_EQ(json(probe, call), R"({"a":{"cut":"__global__ void k"},"b":null})");
  EXPECT_EQ(texts(probe, call), R"(a = "__global__ void k"...; b = NULL)");
}

TEST(Decode, ForeignTextCannotReachTheTerminalOrBreakJson) {
  const std::string nasty = "a\x1b[31m\"\\\n\x80\xc3\xa9\xe2\x80\xae\xed\xa0\x80\x7f";
  std::string text, js;
  append_quoted(text, nasty, Style::Text);
  append_quoted(js, nasty, Style::Json);
  EXPECT_EQ(text, "\"a\\x1b[31m\\\"\\\\\\n\\x80\xc3\xa9\\u202e\\xed\\xa0\\x80\\x7f\"");
  EXPECT_EQ(js, "\"a\\u001b[31m\\\"\\\\\\n\\\\x80\xc3\xa9\\u202e\\\\xed\\\\xa0\\\\x80\\u007f\"");
  EXPECT_FALSE(nlohmann::json::parse(js, nullptr, false).is_discarded());
}

TEST(Decode, LongArraysAndLargeBytesAreShortened) {
  const Probe probe = probe_of("void f(in int a[n], in uint8_t b[n], int n)");
  Call call;
  call.piece(PieceKind::In, 0, bytes_of(std::array<std::int32_t, 100>{}));
  call.piece(PieceKind::In, 1, bytes_of(std::array<std::uint8_t, 100>{}));
  EXPECT_THAT(json(probe, call),
              testing::AllOf(testing::HasSubstr(R"(0,"... 36 more"])"), testing::HasSubstr("... (100 bytes)")));
}

TEST(Decode, AFunctionWithoutPrototypeShowsItsRegisters) {
  Call call;
  call.word(0, 0x11).word(5, 0x66);
  EXPECT_EQ(json(probe_of("? mystery"), call),
            R"({"rdi":"0x11","rsi":"0x0","rdx":"0x0","rcx":"0x0","r8":"0x0","r9":"0x66"})");
}

TEST(Decode, AnEmptyOrTornPayloadIsNoProblem) {
  for (const ProbePtr& probe : built_in_probes()) {
    Call call;
    json(*probe, call);
    call.payload.resize(13, std::byte{0xff});
    json(*probe, call);
    decode(*probe, call.record, call.payload, 7);
  }
}

TEST(Decode, NamesResults) {
  EXPECT_EQ(result_text(probe_of("hipError_t f()"), 0xffffffff00000002, 7), "hipErrorOutOfMemory");
  EXPECT_EQ(result_text(probe_of("hipError_t f()"), 4711, 7), "4711");
  EXPECT_EQ(result_text(probe_of("void f()"), 4711, 7), "");
  EXPECT_EQ(result_text(probe_of("double f()"), std::bit_cast<std::uint64_t>(0.5), 7), "0.5");
  EXPECT_EQ(result_text(probe_of("const char *f()"), 0x1234, 7), "0x1234");
}

}  // namespace
}  // namespace fade::probes
