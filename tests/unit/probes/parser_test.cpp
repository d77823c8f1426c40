#include "probes/syntax/parser.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "probes/listing.hpp"
#include "probes/probe_fixtures.hpp"
#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> errors_in(const std::string& text) {
  std::vector<std::string> out;
  for (const Diagnostic& error : parse(text, "x", built_in_types()).errors)
    out.push_back(fmt::format("{}:{}: {}", error.at.line, error.at.column, error.message));
  return out;
}

TEST(Parser, ReadsAPrototypeWithDirectionsAndRoles) {
  const Probe probe = probe_of("group mem\nhipError_t hipMalloc(out void **ptr @address, size_t size @bytes) @alloc");
  EXPECT_EQ(probe.symbol, "hipMalloc");
  EXPECT_EQ(probe.api, "hip");
  EXPECT_EQ(probe.group, "mem");
  EXPECT_EQ(probe.origin, "test.probes:3");
  EXPECT_EQ(probe.kind, Kind::Alloc);
  ASSERT_EQ(probe.parameters.size(), 2U);
  const Parameter& ptr = probe.parameters[0];
  EXPECT_EQ(ptr.type.cls, TypeClass::Pointer);
  EXPECT_EQ(ptr.type.name, "void **");
  EXPECT_EQ(ptr.pointee.cls, TypeClass::Pointer);
  EXPECT_EQ(ptr.pointee.size, 8U);
  EXPECT_TRUE(ptr.read_at_return());
  EXPECT_FALSE(ptr.read_at_entry());
  EXPECT_EQ(probe.with_role(Role::Bytes), &probe.parameters[1]);
  EXPECT_EQ(probe.with_role(Role::Stream), nullptr);
}

TEST(Parser, FunctionsThatShareAPrototypeShareALine) {
  const ParsedFile file =
      parse("library \"x\"\nint f{s,d}mul_64(const void *a, int n)\nint g{a,b}(void)\n", "x", built_in_types());
  std::vector<std::string> names;
  for (const Probe& probe : file.probes) names.push_back(probe.symbol);
  EXPECT_THAT(names, ElementsAre("fsmul_64", "fdmul_64", "ga", "gb"));
  EXPECT_EQ(file.probes[1].parameters.size(), 2U);
  EXPECT_EQ(file.probes[1].origin, "x:2");
}

TEST(Parser, AListOfNamesHasParts) {
  EXPECT_THAT(errors_in("library \"x\"\nint f{}(int n)"),
              ElementsAre(HasSubstr("expected a part of the function's name")));
  EXPECT_THAT(errors_in("library \"x\"\nint f{a b}(int n)"), ElementsAre(HasSubstr("after the parts of the name")));
  EXPECT_THAT(errors_in("library \"x\"\nint f{a,a}(int n)"), ElementsAre(HasSubstr("'fa' stands in line 2 already")));
}

TEST(Parser, APointerWithoutDirectionIsNotRead) {
  const Probe probe = probe_of("void f(void *dst, const never_declared *what, char *buffer, const char *const *list)");
  for (const Parameter& parameter : probe.parameters) {
    EXPECT_EQ(parameter.type.cls, TypeClass::Pointer) << parameter.name;
    EXPECT_FALSE(parameter.read_at_entry() || parameter.read_at_return()) << parameter.name;
  }
}

TEST(Parser, ConstCharIsTextUnlessItIsReadOtherwise) {
  const Probe probe = probe_of("void f(const char *a, char *b @text, out const char **c, out char d[len], int len)");
  EXPECT_EQ(probe.parameters[0].type.cls, TypeClass::CString);
  EXPECT_EQ(probe.parameters[1].type.cls, TypeClass::CString);
  EXPECT_EQ(probe.parameters[2].pointee.cls, TypeClass::CString);
  EXPECT_TRUE(probe.parameters[2].gives_text());
  EXPECT_EQ(probe.parameters[3].pointee.cls, TypeClass::Char);
  EXPECT_EQ(probe.parameters[3].length_param, 4);
}

TEST(Parser, ReadsEverySpellingOfCsNumbers) {
  const Probe probe = probe_of(
      "void f(long unsigned int a, short b, unsigned c, long long d, signed char e, const volatile int f, unsigned "
      "short int g)");
  std::vector<std::string> names;
  for (const Parameter& parameter : probe.parameters)
    names.push_back(fmt::format("{}:{}", parameter.type.name, parameter.type.size));
  EXPECT_THAT(names, ElementsAre("unsigned long:8", "short:2", "unsigned int:4", "long long:8", "signed char:1",
                                 "int:4", "unsigned short:2"));
}

TEST(Parser, NamesParametersThatHaveNone) {
  const Probe probe = probe_of("int f(int, const char *, ...)");
  ASSERT_EQ(probe.parameters.size(), 2U);
  EXPECT_EQ(probe.parameters[0].name, "arg1");
  EXPECT_EQ(prototype_of(probe), "int f(int arg1, const char *arg2)");
}

TEST(Parser, ResultsSayWhatIsAFailure) {
  const Probe query = probe_of("hipError_t hipStreamQuery(hipStream_t s) @ok(600, 1)");
  EXPECT_FALSE(query.failed(0));
  EXPECT_FALSE(query.failed(600));
  EXPECT_TRUE(query.failed(2));
  EXPECT_FALSE(query.failed(0xdeadbeef00000000));  // the upper half of rax is undefined
  EXPECT_FALSE(probe_of("hipError_t g() @ok").failed(2));
  EXPECT_FALSE(probe_of("int g()").failed(2));
  EXPECT_TRUE(probe_of("int g() @success(-1)").failed(0));
  EXPECT_FALSE(probe_of("int g() @success(-1)").failed(0xffffffff));
}

TEST(Parser, ReadsTheEffectOnMemory) {
  const auto action = [](const std::string& text) { return probe_of(text).memory_action(); };
  using enum MemoryAct;
  EXPECT_EQ(action("int f(out void **p @address, size_t n @bytes) @memory(allocate, managed)"),
            (MemoryAction{Allocate, MemoryKind::Managed, MemorySpace::Memory}));
  EXPECT_EQ(action("int f(out void **p @address) @alloc @memory(allocate, array)"),
            (MemoryAction{Allocate, MemoryKind::Array, MemorySpace::Array}));
  EXPECT_EQ(action("int f(out void **p @address) @memory(allocate, imported, physical)"),
            (MemoryAction{Allocate, MemoryKind::Imported, MemorySpace::Physical}));
  EXPECT_EQ(action("int f(void *p @address) @free @memory(free, registered)"),
            (MemoryAction{Free, MemoryKind::Device, MemorySpace::Registered}));
  EXPECT_EQ(action("int f(out void **p @address) @memory(open, ipc)"),
            (MemoryAction{Open, MemoryKind::Imported, MemorySpace::Ipc}));
  EXPECT_EQ(action("int f() @memory(reset)").act, Reset);
  EXPECT_EQ(action("int f(out void **p @address) @host_alloc").kind, MemoryKind::Host);
  EXPECT_EQ(action("int f()").act, None);
}

TEST(Parser, TheNoteOfMemoryIsWrittenAsItWasRead) {
  for (const std::string note : {"@memory(allocate, managed)", "@memory(allocate, imported, external)", "@memory(free)",
                                 "@memory(free, array)", "@memory(open)", "@memory(map)"})
    EXPECT_EQ(memory_note(probe_of("int f(void *p @address) " + note).memory), note);
  EXPECT_EQ(memory_note(probe_of("int f(void *p @address) @memory(allocate, array, array)").memory),
            "@memory(allocate, array)");
  EXPECT_EQ(memory_note({}), "");
}

TEST(Parser, ReadsTypesDeclaredInTheFile) {
  const Probe probe = probe_of(
      "enum mode 1 { FAST = 0, EXACT = -2 }\nflags bits {\n  A = 0x1\n  B = 0x80000000\n}\n"
      "struct inner { char tag; long value; }\nstruct outer { inner pair[2]; mode m; }\nhandle h\ntypedef unsigned "
      "short port\n"
      "void f(mode m, bits b, in outer *o, h handle, port p)");
  EXPECT_EQ(probe.parameters[0].type.size, 1U);
  EXPECT_EQ(probe.types->enum_name("mode", -2, kNewest), "EXACT");
  EXPECT_EQ(probe.types->flags_text("bits", 0x80000001), "A|B");
  EXPECT_EQ(probe.parameters[2].pointee.size, 40U);
  EXPECT_EQ(probe.parameters[3].type.cls, TypeClass::Handle);
  EXPECT_EQ(probe.parameters[4].type.size, 2U);
}

TEST(Parser, FieldsLieWhereACompilerPutsThem) {
  const Probe probe = probe_of("struct s { char a; short b; double c; char d[3]; int e @at(40); }\nvoid f(in s *p)");
  std::vector<std::uint32_t> offsets;
  for (const Field& field : probe.types->find("s")->fields) offsets.push_back(field.offset);
  EXPECT_THAT(offsets, ElementsAre(0U, 2U, 8U, 16U, 40U));
  EXPECT_EQ(probe.types->find("s")->type.size, 48U);
}

TEST(Parser, SaysWhereAndWhatItExpected) {
  EXPECT_THAT(errors_in("api hip\nint f(hipStrem_t s)"),
              ElementsAre("2:7: expected a declared type, found 'hipStrem_t'; did you mean 'hipStream_t'?"));
  EXPECT_THAT(
      errors_in("api hip\nint f(size_t n @byte)"),
      ElementsAre(
          "2:17: expected a role, text, only(...), flags(TYPE) or enum(TYPE), found '@byte'; did you mean '@bytes'?"));
  EXPECT_THAT(errors_in("api hip\nint f(int a) @lanch"), ElementsAre(HasSubstr("did you mean '@launch'?")));
  EXPECT_THAT(errors_in("api hip\nint f() @memry(free)"), ElementsAre(HasSubstr("did you mean '@memory'?")));
  EXPECT_THAT(errors_in("api hip\nint f(void *p @address) @memory(allocat, host)"),
              ElementsAre(AllOf(HasSubstr("2:33: expected an effect on memory (allocate, free, map, "),
                                HasSubstr("found 'allocat'; did you mean 'allocate'?"))));
  EXPECT_THAT(errors_in("api hip\nint f(void *p @address) @memory(allocate)"),
              ElementsAre(HasSubstr("expected ',' and a kind of memory after allocate")));
  EXPECT_THAT(errors_in("api hip\nint f(void *p @address) @memory(allocate, manged)"),
              ElementsAre(HasSubstr("found 'manged'; did you mean 'managed'?")));
  EXPECT_THAT(errors_in("api hip\nint f(void *p @address) @memory(free, host)"),
              ElementsAre(HasSubstr("expected the sort of value that names the memory (memory, registered, ")));
  EXPECT_THAT(errors_in("api hip\nint f(void *p @address) @memory(map, array)"),
              ElementsAre(HasSubstr("expected ')' after the effect on memory")));
  EXPECT_THAT(errors_in("api hip\nint f(void *p) @memory(free)"),
              ElementsAre(HasSubstr("expected a parameter with @address")));
  EXPECT_THAT(errors_in("api hip\nint f() @memory(reset) @memory(reset)"),
              ElementsAre(HasSubstr("expected one @memory note")));
  EXPECT_THAT(errors_in("api hip\nint f() @memory(reset) @launch"),
              ElementsAre(HasSubstr("expected no @memory beside @launch")));
  EXPECT_THAT(errors_in("api hip\nint f() @memory(node)"), ElementsAre(HasSubstr("expected @graph beside")));
  EXPECT_THAT(errors_in("api hip\nint f(int a"),
              ElementsAre(HasSubstr("expected ',' or ')' after the parameter, found the end of the file")));
  EXPECT_THAT(errors_in("api hip\nint f(out int a)"),
              ElementsAre(HasSubstr("expected a pointer after in, out or inout")));
  EXPECT_THAT(errors_in("api hip\nint f(out void *a)"), ElementsAre(HasSubstr("uint8_t name[LENGTH]")));
  EXPECT_THAT(errors_in("api hip\nint f(out int a[n], int *n)"),
              ElementsAre(HasSubstr("2:17: expected a number or a parameter")));
  EXPECT_THAT(errors_in("api hip\nint f(int a, int a)"), ElementsAre(HasSubstr("expected a new name")));
  EXPECT_THAT(errors_in("api hip\nint f(int a,)"), ElementsAre(HasSubstr("2:13: expected a parameter after ','")));
  EXPECT_THAT(errors_in("api hip\nint f(long double a)"), ElementsAre(HasSubstr("a type that C has")));
  EXPECT_THAT(errors_in("int f(int a)"), ElementsAre(HasSubstr("1:1: expected library \"PATTERN\" or api hip")));
  EXPECT_THAT(errors_in("library libfoo.so"), ElementsAre(HasSubstr("1:9: expected a pattern")));
  EXPECT_THAT(errors_in("enum e { A = 1 [6-7 }"), ElementsAre(HasSubstr("expected ']' after the versions")));
  EXPECT_THAT(errors_in("enum e { A = 1 [9-3] }"),
              ElementsAre(HasSubstr("1:19: expected a version that is not before the first one")));
  EXPECT_THAT(errors_in("struct s"), ElementsAre(HasSubstr("expected a size in bytes")));
  EXPECT_THAT(errors_in("struct s 4 { long a; }"), ElementsAre(HasSubstr("fit into 4 bytes, but they take 8")));
  EXPECT_THAT(errors_in("struct s { long a; int b @at(4); }"), ElementsAre(HasSubstr("an offset of at least 8")));
  EXPECT_THAT(errors_in("handle a\nhandle a"), ElementsAre(HasSubstr("2:8: expected a new name")));
  EXPECT_THAT(errors_in("// comment"), ElementsAre(HasSubstr("comments begin with #")));
  EXPECT_THAT(errors_in("\xff"), ElementsAre("1:1: unexpected byte 0xff"));
  EXPECT_THAT(errors_in("enum e { A = 99999999999999999999 }"), ElementsAre(HasSubstr("at most 64 bits")));
}

TEST(Parser, ReportsEverySlipOnceAndReadsTheRest) {
  const ParsedFile file = parse_user(
      "int a(nothing x)\nint b(int x)\nenum e {\n  ONE = one\n  TWO = 2\n}\nint c(int x,\n      nothing y,\n      int "
      "z)\nint b(int y)\nint d()\n");
  std::vector<std::uint32_t> lines;
  for (const Diagnostic& error : file.errors) lines.push_back(error.at.line);
  EXPECT_THAT(lines, ElementsAre(2U, 5U, 9U, 11U));  // one line of the header stands before
  std::vector<std::string> read;
  for (const Probe& probe : file.probes) read.push_back(probe.symbol);
  EXPECT_THAT(read, ElementsAre("b", "d"));
}

TEST(Parser, TheErrorListsAtMostTwentyPlaces) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "int f(nothing x)\n";
  const Error error = error_of(parse_user(text), "my.probes");
  EXPECT_EQ(error.message, "my.probes has 30 errors");
  EXPECT_THAT(error.cause, HasSubstr("my.probes:21:7: expected"));
  EXPECT_THAT(error.cause, HasSubstr("and 10 more"));
}

TEST(Parser, HugeInputIsRefusedAndDeepInputIsNoProblem) {
  EXPECT_EQ(parse(std::string(5 << 20, ' '), "x", built_in_types()).errors.size(), 1U);
  EXPECT_FALSE(errors_in("int f(" + std::string(100'000, '(')).empty());
  EXPECT_FALSE(errors_in("api hip\nint f(int " + std::string(1000, '*') + "a)").empty());
}

TEST(Parser, AFunctionWithoutPublicPrototypeShowsRegistersOnly) {
  const Probe probe = probe_of("? hipGetCmdName");
  EXPECT_FALSE(probe.known_signature);
  EXPECT_TRUE(probe.parameters.empty());
  EXPECT_EQ(prototype_of(probe), "? hipGetCmdName");
}

TEST(Parser, WhatIsListedCanBeReadAgain) {
  const std::string written =
      "hipError_t hipDeviceGetName(out char name[len], int len, inout float m[16], const void *p, dim3 d)";
  EXPECT_EQ(prototype_of(probe_of(written)), written);
}

}  // namespace
}  // namespace fade::probes
