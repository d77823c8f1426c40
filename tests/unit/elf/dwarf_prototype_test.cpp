#include "elf/dwarf_prototype.hpp"

#include <gmock/gmock.h>

#include "elf/support.hpp"
#include "probes/types.hpp"

namespace fade::elf {
namespace {

using probes::Location;
using probes::Parameter;
using probes::TypeClass;
using ::testing::HasSubstr;

constexpr const char* kLibrarySource = R"(
#include <stddef.h>
#include <stdint.h>
extern "C" {
enum Mode { kFast = 1, kExact = 7, kBroken = -1 };
typedef struct { float x, y, z; } Vector;
struct Pair { int64_t first; int32_t second; };
struct Mixed { double weight; int count; };
struct Big { char bytes[64]; };
struct Nested { struct { float a[2]; } inner; float b; };
struct __attribute__((packed)) Packed { char c; int i; };
typedef struct Opaque* Context;
__attribute__((noinline)) int plain(int a, const char* name, size_t bytes, Mode mode, double scale, const float* data,
                                    bool on) {
  return a + (int)bytes + mode + (int)scale + on + (name && data);
}
float many(int a, int b, int c, int d, int e, int f, short g, float h, Context ctx) {
  return h + g + a + b + c + d + e + f + (ctx != 0);
}
int structs(Vector v, Pair p, Big b, int last) { return (int)v.x + (int)p.first + b.bytes[0] + last; }
Big gives_big(int a) { Big b{}; b.bytes[0] = (char)a; return b; }
int nested(Nested n, int last) { return (int)n.b + last; }
int mixed(Mixed m) { return m.count; }
int packed(Packed p) { return p.i; }
int wide(long double x) { return (int)x; }
void nothing() {}
int variable_one = 3;
}
struct Owner { int* p; ~Owner(); };
Owner::~Owner() { delete p; }
struct Tag {};
struct Wrapped { Owner inner; };
struct Copied { long a; Copied(const Copied&); Copied(Copied&&) = default; };
Copied::Copied(const Copied& o) : a(o.a) {}
struct Shape { virtual int area() const; int side; };
int Shape::area() const { return side; }
struct Plain {
  long a;
  Plain(long n) : a(n) {}
  Plain(const Plain&) = default;
  ~Plain() = default;
  int twice() { return int(a) * 2; }
};
extern "C" int by_value(Wrapped w, Copied c, Shape s, Plain p) {
  return *w.inner.p + int(c.a) + s.side + p.twice();
}
struct Scene {
  int seed;
  __attribute__((noinline)) int render(int frames, Owner o, Tag, unsigned char quality) const;
  static int count(long n);
};
int Scene::render(int frames, Owner o, Tag, unsigned char quality) const { return seed + frames + *o.p + quality; }
int Scene::count(long n) { return (int)n; }
namespace deep { Owner make(int value) { return Owner{new int(value)}; } int count(int n) { return n; } }
static __attribute__((noinline, noclone)) int local_one(int only) { __asm__(""); return only; }
int uses() { Plain p(3); return local_one(4) + p.twice(); }
)";

class FunctionProbeTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { build(GetParam()); }
  void build(const std::string& flags) {
    if (!test::compile(folder_, "user.cpp", kLibrarySource, "libuser.so", "-shared -fPIC -w " + flags))
      GTEST_SKIP() << "no compiler";
    auto file = ElfFile::open(folder_ / "libuser.so");
    ASSERT_TRUE(file);
    file_.emplace(std::move(*file));
  }
  FunctionProbe probe(const std::string& name) {
    auto out = function_probe(*file_, name, folder_ / "debug");
    EXPECT_TRUE(out) << out.error().text();
    return out.value_or(FunctionProbe());
  }
  std::string error(const std::string& name) {
    const auto out = function_probe(*file_, name, folder_ / "debug");
    return out ? "" : out.error().text();
  }
  static std::string text(const Parameter& p) {
    constexpr const char* kWhere[] = {"int", "sse", "stack"};
    return fmt::format("{} {} {}: {}{}+{}", p.type.name, p.name, p.type.size, kWhere[static_cast<int>(p.at.where)],
                       p.at.first, p.at.words);
  }
  static std::vector<std::string> texts(const FunctionProbe& f) {
    std::vector<std::string> out;
    for (const auto& p : f.probe.parameters) out.push_back(text(p));
    return out;
  }
  test::TemporaryFolder folder_;
  std::optional<ElfFile> file_;
};

TEST_P(FunctionProbeTest, KnowsScalars) {
  const auto f = probe("plain");
  EXPECT_EQ(f.note, "");
  EXPECT_EQ(f.probe.symbol, "plain");
  EXPECT_EQ(f.probe.library, "libuser.so");
  EXPECT_EQ(f.address, file_->symbols().find("plain")->address);
  EXPECT_THAT(texts(f),
              ::testing::ElementsAre("int a 4: int0+1", "const char * name 8: int1+1", "size_t bytes 8: int2+1",
                                     "Mode mode 4: int3+1", "double scale 8: sse0+1", "const float * data 8: int4+1",
                                     "bool on 1: int5+1"));
  ASSERT_EQ(f.probe.parameters.size(), 7u);
  const TypeClass classes[] = {TypeClass::Signed, TypeClass::CString, TypeClass::Size, TypeClass::Enum,
                               TypeClass::Double, TypeClass::Pointer, TypeClass::Bool};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(f.probe.parameters[i].type.cls, classes[i]) << i;
  EXPECT_EQ(f.probe.result.cls, TypeClass::Signed);
  EXPECT_EQ(f.probe.result.size, 4u);
  EXPECT_EQ(f.probe.sse_words, 1);
  EXPECT_EQ(f.probe.stack_words, 0);
}

TEST_P(FunctionProbeTest, KnowsNamesOfEnumValues) {
  const auto f = probe("plain");
  ASSERT_TRUE(f.probe.types);
  EXPECT_EQ(f.probe.types->enum_name("Mode", 7, probes::kNewest), "kExact");
  EXPECT_EQ(f.probe.types->enum_name("Mode", -1, probes::kNewest), "kBroken");
}

TEST_P(FunctionProbeTest, PlacesWhatDoesNotFitIntoRegistersOnTheStack) {
  const auto f = probe("many");
  EXPECT_EQ(f.probe.result.cls, TypeClass::Float);
  ASSERT_EQ(f.probe.parameters.size(), 9u);
  EXPECT_EQ(text(f.probe.parameters[5]), "int f 4: int5+1");
  EXPECT_THAT(text(f.probe.parameters[6]), HasSubstr("g 2: stack0+1"));  // "short" or "short int"
  EXPECT_EQ(text(f.probe.parameters[7]), "float h 4: sse0+1");
  EXPECT_EQ(text(f.probe.parameters[8]), "Context ctx 8: stack1+1");
  EXPECT_EQ(f.probe.stack_words, 2);
}

TEST_P(FunctionProbeTest, PlacesStructuresByTheirFields) {
  EXPECT_THAT(texts(probe("structs")), ::testing::ElementsAre("Vector v 12: sse0+2", "Pair p 16: int0+2",
                                                              "Big b 64: stack0+8", "int last 4: int2+1"));
  EXPECT_THAT(texts(probe("nested")), ::testing::ElementsAre("Nested n 12: sse0+2", "int last 4: int0+1"));
}

TEST_P(FunctionProbeTest, LeavesRoomForTheHiddenAddressOfAResultInMemory) {
  const auto f = probe("gives_big");
  EXPECT_EQ(f.probe.result.size, 64u);
  EXPECT_THAT(texts(f), ::testing::ElementsAre("int a 4: int1+1"));
}

TEST_P(FunctionProbeTest, KnowsMembersAndObjectsThatTravelByAddress) {
  const auto f = probe("_ZNK5Scene6renderEi5Owner3Tagh");
  EXPECT_EQ(f.note, "");
  ASSERT_EQ(f.probe.parameters.size(), 4u);  // the empty Tag takes no place
  EXPECT_EQ(f.probe.parameters[0].name, "this");
  EXPECT_EQ(text(f.probe.parameters[1]), "int frames 4: int1+1");
  EXPECT_EQ(f.probe.parameters[2].type.cls, TypeClass::Pointer);
  EXPECT_EQ(text(f.probe.parameters[3]), "unsigned char quality 1: int3+1");
  const auto make = probe("_ZN4deep4makeEi");
  ASSERT_EQ(make.probe.parameters.size(), 2u);
  EXPECT_EQ(make.probe.result.cls, TypeClass::Pointer);
  EXPECT_EQ(text(make.probe.parameters[1]), "int value 4: int1+1");
}

TEST_P(FunctionProbeTest, TellsObjectsThatTravelByAddressFromPlainOnes) {
  const auto f = probe("by_value");
  ASSERT_EQ(f.probe.parameters.size(), 4u) << f.note;
  for (const std::size_t i : {0u, 1u, 2u}) EXPECT_EQ(f.probe.parameters[i].type.cls, TypeClass::Pointer) << i;
  EXPECT_EQ(text(f.probe.parameters[3]), "Plain p 8: int3+1");
}

TEST_P(FunctionProbeTest, TakesAPlainNameThatExistsOnce) {
  EXPECT_EQ(probe("render").probe.symbol, "_ZNK5Scene6renderEi5Owner3Tagh");
  EXPECT_THAT(error("count"), HasSubstr("no function count"));  // Scene::count and deep::count
}

TEST_P(FunctionProbeTest, FindsFunctionsThatAreNotExported) {
  const auto f = probe("_ZL9local_onei");
  EXPECT_THAT(texts(f), ::testing::ElementsAre("int only 4: int0+1"));
}

TEST_P(FunctionProbeTest, SaysWhenItCannotTellTheSignature) {
  for (const char* name : {"mixed", "packed", "wide"}) {
    const auto f = probe(name);
    EXPECT_FALSE(f.probe.known_signature) << name;
    EXPECT_TRUE(f.probe.parameters.empty()) << name;
    EXPECT_NE(f.note, "") << name;
    EXPECT_NE(f.address, 0u) << name;
  }
  EXPECT_THAT(probe("packed").note, HasSubstr("packed"));
  EXPECT_THAT(probe("wide").note, HasSubstr("long double"));
}

TEST_P(FunctionProbeTest, KnowsThatNothingIsTakenAndGiven) {
  const auto f = probe("nothing");
  EXPECT_TRUE(f.probe.known_signature);
  EXPECT_TRUE(f.probe.parameters.empty());
  EXPECT_EQ(f.probe.result.cls, TypeClass::Void);
}

TEST_P(FunctionProbeTest, NamesWhatMayHaveBeenMeant) {
  EXPECT_THAT(error("plian"), ::testing::AllOf(HasSubstr("there is no function plian"), HasSubstr("plain")));
  EXPECT_THAT(error("variable_one"), HasSubstr("not a function"));
}

INSTANTIATE_TEST_SUITE_P(Dwarf, FunctionProbeTest,
                         ::testing::Values("-g -O0 -gdwarf-5", "-g -O2 -gdwarf-5", "-g -O2 -gdwarf-4",
                                           "-g -O2 -gz=zlib"),
                         [](const auto& param) { return fmt::format("Case{}", param.index); });

class WithoutDwarf : public FunctionProbeTest {
 protected:
  void SetUp() override {}
};

TEST_F(WithoutDwarf, OnlyRegistersAreShown) {
  build("-O1");
  const auto f = probe("plain");
  EXPECT_FALSE(f.probe.known_signature);
  EXPECT_THAT(f.note, ::testing::AllOf(HasSubstr("no debug information"), HasSubstr("libuser.so")));
  EXPECT_EQ(f.address, file_->symbols().find("plain")->address);
}

// The network must not be asked for what is missing here.
TEST_F(WithoutDwarf, NothingIsAskedOfDebuginfod) {
  ::setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9/", 1);
  build("-O1");
  EXPECT_FALSE(probe("plain").probe.known_signature);
  std::ifstream maps("/proc/self/maps");
  const std::string mapped((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_THAT(mapped, ::testing::Not(HasSubstr("libcurl")));
  ::unsetenv("DEBUGINFOD_URLS");
}

TEST_F(WithoutDwarf, ASeparateDebugFileIsUsed) {
  build("-g -O1 -Wl,--build-id=0xabcdef0123456789");
  const std::string place = folder_ / "debug/.build-id/ab";
  const auto command = fmt::format(
      "mkdir -p {0} && cd {1} && objcopy --only-keep-debug libuser.so "
      "{0}/cdef0123456789.debug && strip libuser.so",
      place, folder_ / "");
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no objcopy";
  auto file = ElfFile::open(folder_ / "libuser.so");
  ASSERT_TRUE(file);
  file_.emplace(std::move(*file));
  EXPECT_EQ(probe("plain").probe.parameters.size(), 7u);
  EXPECT_EQ(probe("_ZL9local_onei").probe.parameters.size(), 1u);
}

}  // namespace
}  // namespace fade::elf
