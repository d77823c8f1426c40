#include "elf/maps.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "elf/mapped_file.hpp"
#include "elf/support.hpp"

namespace fade::elf {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::uint64_t kMiB = 1ull << 20;

constexpr const char* kText =
    "00400000-00452000 r-xp 00001000 08:02 173521                             /usr/bin/a program (new)\n"
    "00651000-00652000 rw-s 00051000 fd:1f 173521 /usr/bin/a program (new)\n"
    "00e03000-00e24000 rw-p 00000000 00:00 0                                  [heap]\n"
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "7f1000000000-7f1000001000 r--p 00000000 00:01 1027                       /memfd:pads (deleted) (deleted)\n"
    "7f2000000000-7f2000001000 r-xp 00000000 08:02 99 /lib/gone.so (deleted)\n"
    "nonsense\n"
    "7ffd6e2a9000-7ffd6e2ca000 rw-p 00000000 00:00 0                          [stack]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

TEST(Maps, ReadsEveryKindOfLine) {
  const Maps maps = Maps::parse(kText);
  ASSERT_EQ(maps.all().size(), 8u);
  const auto& program = maps.all()[0];
  EXPECT_EQ(program.range.begin.value, 0x400000u);
  EXPECT_EQ(program.range.size(), 0x52000u);
  EXPECT_TRUE(program.readable && program.executable && !program.writable && !program.shared);
  EXPECT_EQ(program.offset, 0x1000u);
  EXPECT_EQ(program.device, ::makedev(8, 2));
  EXPECT_EQ(program.inode, 173521u);
  EXPECT_EQ(program.path, "/usr/bin/a program (new)");
  EXPECT_TRUE(maps.all()[1].shared);
  EXPECT_EQ(maps.all()[2].path, "[heap]");
  EXPECT_FALSE(maps.all()[2].has_file());
  EXPECT_EQ(maps.all()[3].path, "");
  EXPECT_EQ(maps.all()[4].path, "/memfd:pads (deleted)");
  EXPECT_TRUE(maps.all()[4].deleted);
  EXPECT_EQ(maps.all()[5].path, "/lib/gone.so");
}

TEST(Maps, FindsWhatIsMappedAtAnAddress) {
  const Maps maps = Maps::parse(kText);
  EXPECT_EQ(maps.find({0x3fffff}), nullptr);
  EXPECT_EQ(maps.find({0x400000}), &maps.all()[0]);
  EXPECT_EQ(maps.find({0x451fff}), &maps.all()[0]);
  EXPECT_EQ(maps.find({0x452000}), nullptr);
  EXPECT_EQ(maps.find({~0ull}), nullptr);
  EXPECT_EQ(Maps().find({0}), nullptr);
}

TEST(Maps, ReadsThoseOfThisProcess) {
  const auto maps = read_maps(own_pid());
  ASSERT_TRUE(maps);
  const Mapping* code = maps->find({reinterpret_cast<std::uint64_t>(&read_maps)});
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code->executable);
  EXPECT_EQ(code->path, std::filesystem::read_symlink("/proc/self/exe"));
  int local = 0;
  ASSERT_NE(maps->find({reinterpret_cast<std::uint64_t>(&local)}), nullptr);
}

TEST(Maps, FailsForAProcessThatIsNotThere) {
  const auto maps = read_maps(Pid(0x7fffffff));
  ASSERT_FALSE(maps);
  EXPECT_EQ(maps.error().code, ENOENT);
}

Maps maps_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
  std::string text;
  for (const auto& [begin, end] : ranges) text += fmt::format("{:x}-{:x} r-xp 00000000 00:00 0\n", begin, end);
  return Maps::parse(text);
}

TEST(FreeGap, IsRightBelowWherePossible) {
  const std::uint64_t at = 0x7f0000000000;
  const auto gap = free_gap_near(maps_of({{at, at + kMiB}}), {{at}, {at + kMiB}}, 0x10000);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->value, at - 0x10000);
}

TEST(FreeGap, SkipsGapsThatAreTooSmall) {
  const std::uint64_t at = 0x7f0000000000;
  const auto maps = maps_of({{at - 100 * kMiB, at - 0x3000}, {at, at + kMiB}});
  EXPECT_EQ(free_gap_near(maps, {{at}, {at + kMiB}}, 0x3000)->value, at - 0x3000);
  EXPECT_EQ(free_gap_near(maps, {{at}, {at + kMiB}}, 0x3001)->value, at - 100 * kMiB - 0x4000);
}

TEST(FreeGap, GoesAboveWhereNothingIsFreeBelow) {
  const std::uint64_t at = 0x7f0000000000;
  const auto maps = maps_of({{at - 3 * kGiB, at}, {at, at + kMiB}, {at + kMiB, at + 2 * kMiB}});
  EXPECT_EQ(free_gap_near(maps, {{at}, {at + kMiB}}, 0x1000)->value, at + 2 * kMiB);
}

TEST(FreeGap, IsNothingWhereEverythingNearIsTaken) {
  const std::uint64_t at = 0x7f0000000000;
  EXPECT_FALSE(free_gap_near(maps_of({{at - 3 * kGiB, at + 3 * kGiB}}), {{at}, {at + kMiB}}, 0x1000));
  EXPECT_FALSE(free_gap_near(Maps(), {{at}, {at + 3 * kGiB}}, 0x1000));  // no place reaches all of it
  EXPECT_FALSE(free_gap_near(Maps(), {{at}, {at + kMiB}}, 3 * kGiB));
}

TEST(FreeGap, StaysAboveTheLowestAddress) {
  const auto maps = maps_of({{0x20000, 0x30000}});
  EXPECT_EQ(free_gap_near(maps, {{0x20000}, {0x30000}}, 0x10000, 0x10000)->value, 0x10000u);
  EXPECT_EQ(free_gap_near(maps, {{0x20000}, {0x30000}}, 0x11000, 0x10000)->value, 0x30000u);
}

TEST(FreeGap, StaysWithinUserSpace) {
  const std::uint64_t top = 0x7ffffffff000;
  const auto maps = maps_of({{top - 4 * kGiB, top - 0x2000}});
  EXPECT_EQ(free_gap_near(maps, {{top - kGiB}, {top - kGiB + 1}}, 0x2000)->value, top - 0x2000);
  EXPECT_FALSE(free_gap_near(maps, {{top - kGiB}, {top - kGiB + 1}}, 0x3000));
}

TEST(FreeGap, ReachesEverythingFromEverywhere) {
  const std::uint64_t at = 0x7f0000000000;
  const RemoteRange reach{{at}, {at + kGiB}};
  const std::uint64_t size = 16 * kMiB;
  const auto gap = free_gap_near(maps_of({{at - kGiB + 20 * kMiB, at + kGiB}}), reach, size);
  ASSERT_TRUE(gap);
  EXPECT_LT(reach.end.value - gap->value, 1ull << 31);
}

TEST(FreeGap, LeavesRoomForStackAndHeap) {
  const Maps maps = Maps::parse(
      "00400000-00500000 r-xp 00000000 08:02 7 /bin/a\n"
      "00500000-00600000 rw-p 00000000 00:00 0 [heap]\n");
  const auto gap = free_gap_near(maps, {{0x400000}, {0x500000}}, 8 * kMiB, 0x10000);
  ASSERT_TRUE(gap);
  EXPECT_GE(gap->value, 0x600000 + 128 * kMiB);
}

TEST(FreeGap, CanBeMappedInThisProcess) {
  const auto maps = read_maps(own_pid());
  ASSERT_TRUE(maps);
  const std::uint64_t code = reinterpret_cast<std::uint64_t>(&read_maps);
  const auto gap = free_gap_near(*maps, {{code}, {code + 1}}, 0x10000);
  ASSERT_TRUE(gap);
  void* wanted = reinterpret_cast<void*>(gap->value);
  void* got = ::mmap(wanted, 0x10000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(got, wanted);
  if (got != MAP_FAILED) ::munmap(got, 0x10000);
}

// ---------------------------------------------------------------- the file behind a mapping
class MappedFile : public ::testing::Test {
 protected:
  void map(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::write(fd.get(), "the mapped one", 14), 14);
    at_ = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    ASSERT_NE(at_, MAP_FAILED);
  }
  void TearDown() override {
    if (at_) ::munmap(at_, 4096);
  }
  Mapping mapping() const {
    const auto maps = read_maps(own_pid());
    const Mapping* m = maps ? maps->find({reinterpret_cast<std::uint64_t>(at_)}) : nullptr;
    return m ? *m : Mapping();
  }
  static std::string content(const Fd& fd) {
    char text[32]{};
    return ::pread(fd.get(), text, sizeof text, 0) > 0 ? text : "";
  }
  test::TemporaryFolder folder_;
  void* at_ = nullptr;
};

TEST_F(MappedFile, IsOpenedUnderItsName) {
  map(folder_ / "a name with spaces");
  const auto fd = open_mapped_file(own_pid(), mapping());
  ASSERT_TRUE(fd) << fd.error().text();
  EXPECT_EQ(content(*fd), "the mapped one");
}

TEST_F(MappedFile, IsNotTheOneThatNowHasItsName) {
  const std::string path = folder_ / "lib.so";
  map(path);
  std::filesystem::rename(path, path + ".old");
  std::ofstream(path) << "an impostor";
  Mapping before = mapping();
  before.path = path;
  const auto fd = open_mapped_file(own_pid(), before);
  if (fd) EXPECT_EQ(content(*fd), "the mapped one");
  else EXPECT_EQ(fd.error().code, ESTALE);
}

TEST_F(MappedFile, IsFoundThoughDeletedWhereThatIsAllowed) {
  const std::string path = folder_ / "gone.so";
  map(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(mapping().deleted);
  const auto fd = open_mapped_file(own_pid(), mapping());
  if (fd) EXPECT_EQ(content(*fd), "the mapped one");
  else EXPECT_THAT(fd.error().text(), ::testing::HasSubstr("deleted"));
}

TEST_F(MappedFile, IsNeverADevice) {
  at_ = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, test::open_file("/dev/zero").get(), 0);
  ASSERT_NE(at_, MAP_FAILED);
  EXPECT_FALSE(open_mapped_file(own_pid(), mapping()));
}

TEST_F(MappedFile, IsNothingForAnonymousMemory) { EXPECT_FALSE(open_mapped_file(own_pid(), Mapping())); }

}  // namespace
}  // namespace fade::elf
