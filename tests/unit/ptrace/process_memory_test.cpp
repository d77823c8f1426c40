#include "ptrace/process_memory.hpp"

#include <sys/resource.h>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using test::address_of;
using test::Child;

constexpr std::size_t kPage = 4096;

__attribute__((noinline, used)) int some_code(int n) { return n * 3 + 1; }

// Two pages, the second of which cannot be touched; text at the end of the first.
struct ProcessMemoryTest : ::testing::Test {
  std::byte* const pages =
      static_cast<std::byte*>(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::unique_ptr<Child> child;
  std::optional<ProcessMemory> memory;
  const Tracer tracer = test::make_tracer();

  void SetUp() override {
    std::memcpy(pages + kPage - 6, "abcdef", 6);
    ::munmap(pages + kPage, kPage);
    child = std::make_unique<Child>([] {
      ::raise(SIGUSR1);
      return 0;
    });
    ASSERT_TRUE(tracer.seize(child->tid(), true));
    child->go();
    ASSERT_EQ(tracer.next_of(child->tid()).kind, Stop::Kind::Signal);
    memory.emplace(child->pid());
  }
  void TearDown() override { ::munmap(pages, kPage); }
  Pid pid() const { return child->pid(); }
  Tid tid() const { return child->tid(); }
};

std::span<const std::byte> text(const char* s) { return std::as_bytes(std::span(s, std::strlen(s))); }

TEST_F(ProcessMemoryTest, ReadStopsWhereTheMappingEnds) {
  std::array<std::byte, 16> into{};
  EXPECT_EQ(memory->read(address_of(pages + kPage - 6), into), 6u);
  EXPECT_EQ(std::memcmp(into.data(), "abcdef", 6), 0);
  EXPECT_EQ(memory->read(address_of(pages + kPage), into), 0u);
  EXPECT_FALSE(memory->value<std::uint64_t>(address_of(pages + kPage - 6)));
  EXPECT_EQ(memory->c_string(address_of(pages + kPage - 6), 100), "abcdef");
}

TEST_F(ProcessMemoryTest, WriteIsAllOrFalse) {
  EXPECT_TRUE(memory->write(address_of(pages + 100), text("hello"), tid()));
  EXPECT_EQ(memory->c_string(address_of(pages + 100), 100), "hello");
  EXPECT_EQ(pages[100], std::byte{0});  // in the copy of the child alone
  EXPECT_FALSE(memory->write(address_of(pages + kPage - 2), text("hello"), tid()));
}

// PTRACE_POKETEXT would write into the new program.
TEST_F(ProcessMemoryTest, NothingIsWrittenIntoTheNextProgram) {
  Child executes([] { return ::execl("/bin/sleep", "sleep", "60", static_cast<char*>(nullptr)); });
  const ProcessMemory before(executes.pid());
  ASSERT_TRUE(tracer.seize(executes.tid(), true));
  executes.go();
  Stop stop = tracer.next_of(executes.tid());
  while (stop.kind != Stop::Kind::Exec) stop = tracer.next();
  const auto registers = Tracee(executes.tid()).registers();
  ASSERT_TRUE(registers);
  const ProcessMemory now(executes.pid());
  const auto word = now.value<std::uint64_t>(registers->sp());
  EXPECT_FALSE(before.write(registers->sp(), text("overdone"), executes.tid()));
  EXPECT_EQ(now.value<std::uint64_t>(registers->sp()), word);
}

TEST_F(ProcessMemoryTest, TextIsWritten) {
  const std::byte trap{0xCC};
  const RemoteAddr code = address_of(reinterpret_cast<void*>(&some_code));
  ASSERT_TRUE(memory->write(code, std::span(&trap, 1), tid()));
  EXPECT_EQ(memory->value<std::byte>(code), trap);
  EXPECT_EQ(some_code(1), 4);
}

TEST_F(ProcessMemoryTest, AddressesOfTheKernelAreNotThere) {
  std::array<std::byte, 8> into;
  for (const std::uint64_t address : {0xffffffff81000000ull, 0x8000000000000000ull, ~0ull}) {
    EXPECT_EQ(memory->read({address}, into), 0u);
    EXPECT_FALSE(memory->write({address}, into, tid()));
  }
  EXPECT_EQ(memory->read({0x7fffffffffff'f000}, into), 0u);
  EXPECT_EQ(memory->read({0}, into), 0u);
}

// A folder of /proc that cannot be opened: what is left are other system calls.
TEST_F(ProcessMemoryTest, WithoutProcItReadsAndPokes) {
  rlimit before{}, none{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  none = {0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const ProcessMemory poor(pid());
  ::setrlimit(RLIMIT_NOFILE, &before);

  std::array<std::byte, 16> into{};
  EXPECT_EQ(poor.read(address_of(pages + kPage - 6), into), 6u);
  EXPECT_EQ(poor.read(address_of(pages + kPage), into), 0u);
  for (std::uint64_t offset = 0; offset < 9; ++offset) {
    const RemoteAddr at = address_of(pages + 200 + offset);
    ASSERT_TRUE(memory->write(address_of(pages + 200), text("....................."), tid()));
    ASSERT_TRUE(poor.write(at, text("elevenchars"), tid()));
    const auto line = memory->c_string(address_of(pages + 200), 21);
    ASSERT_TRUE(line);
    EXPECT_EQ(*line, std::string(offset, '.') + "elevenchars" + std::string(10 - offset, '.'));
  }
  const std::byte trap{0xCC};
  const RemoteAddr code = address_of(reinterpret_cast<void*>(&some_code));
  EXPECT_TRUE(poor.write(code, std::span(&trap, 1), tid()));
  EXPECT_EQ(memory->value<std::byte>(code), trap);
  EXPECT_FALSE(poor.write(address_of(pages + kPage), text("x"), tid()));
}

TEST_F(ProcessMemoryTest, DeadProcessHasNone) {
  ::kill(pid().value(), SIGKILL);
  child->wait();
  std::array<std::byte, 8> into;
  EXPECT_EQ(memory->read(address_of(pages), into), 0u);
  EXPECT_FALSE(memory->write(address_of(pages), into, tid()));
}

}  // namespace
}  // namespace fade
