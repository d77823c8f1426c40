#include "session/process_facts.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/processes.hpp"
#include "ptrace/launch.hpp"
#include "ptrace/process_memory.hpp"
#include "ptrace/tracer.hpp"
#include "session/auxiliary_vector.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(StoredEnvironment, OnlyWhatConcernsTheGpuStack) {
  for (const char* name :
       {"HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "ROCR_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD",
        "LD_BIND_NOW", "KMP_DUPLICATE_LIB_OK", "ZLUDA_X", "PYTORCH_HIP_ALLOC_CONF", "RANK", "CUDA_VISIBLE_DEVICES"})
    EXPECT_TRUE(may_be_stored(name)) << name;
  for (const char* name :
       {"HOME", "PATH", "AWS_SECRET_ACCESS_KEY", "RANKED", "XHIP_A", "HIP", "", "MY_HIP_A", "HF_TOKEN"})
    EXPECT_FALSE(may_be_stored(name)) << name;
}

TEST(StoredEnvironment, SecretsAreReplaced) {
  for (const char* name :
       {"OLLAMA_API_KEY", "TORCH_TOKEN", "HIP_PASSWORD", "NCCL_SECRET", "ollama_api_key", "Triton_Token"})
    EXPECT_EQ(redacted(name, "hush"), "<redacted>") << name;
  EXPECT_EQ(redacted("HIP_VISIBLE_DEVICES", "0,1"), "0,1");
}

// A program that waits in its first stop.
struct Started {
  Result<Tracer> tracer = Tracer::create();
  Result<LaunchedProgram> program;
  explicit Started(const LaunchedProgram::Command& command) : program(LaunchedProgram::fork_waiting(command)) {
    if (!tracer->seize(leader_of(program->pid()), true)) std::abort();
    program->release();
    while (tracer->next_of(leader_of(program->pid())).kind != Stop::Kind::Exec) continue;
  }
  ~Started() {
    ::kill(program->pid().value(), SIGKILL);
    ::waitpid(program->pid().value(), nullptr, 0);
  }
  Pid pid() const { return program->pid(); }
  Tid tid() const { return leader_of(program->pid()); }
};

TEST(ProcessFactsOfAProgram, AreThoseItWasStartedWith) {
  const Started started(
      {{"/bin/sleep", "", "1 0", ""}, {"HIP_A=b=c", "HOME=/x", "HIP_KEY=k", "NOTHING", "HIP_EMPTY="}, {}});
  const ProcessFacts facts = read_process_facts(started.pid());
  EXPECT_EQ(facts.ppid, own_pid());
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_GT(facts.start_ticks, 0u);
  EXPECT_TRUE(facts.exe.ends_with("/sleep") || facts.exe.ends_with("coreutils")) << facts.exe;
  EXPECT_THAT(facts.command, ElementsAre("/bin/sleep", "", "1 0", ""));
  EXPECT_THAT(facts.environment,
              ElementsAre(Pair("HIP_A", "b=c"), Pair("HIP_KEY", "<redacted>"), Pair("HIP_EMPTY", "")));
  EXPECT_EQ(read_thread_group(started.tid()), started.pid());
  EXPECT_EQ(read_thread_name(started.tid()), "sleep");
}

TEST(ProcessFactsOfAProgram, AreEmptyWhereThereIsNone) {
  const ProcessFacts facts = read_process_facts(999'999'999);
  EXPECT_EQ(facts.ppid, Pid(0));
  EXPECT_THAT(facts.command, IsEmpty());
  EXPECT_EQ(facts.exe, "");
  EXPECT_EQ(read_thread_group(999'999'999), Pid(0));
  EXPECT_EQ(read_thread_name(999'999'999), "");
  EXPECT_FALSE(catches_signal(999'999'999, SIGTRAP));
  EXPECT_FALSE(read_auxiliary_vector(999'999'999, ProcessMemory(Pid(999'999'999))));
}

// Its name may hold what looks like the end of the name, and a new line.
TEST(ProcessFactsOfAProgram, NameOfAThreadIsNotBelieved) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::FILE* name = std::fopen("/proc/self/comm", "w");
    std::fputs("x) S 1 2\n3", name);
    std::fclose(name);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, WUNTRACED);
  EXPECT_EQ(read_process_facts(Pid::of(pid)).ppid, own_pid());
  EXPECT_EQ(read_thread_group(Tid::of(pid)), Pid::of(pid));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

void expect_what_the_kernel_said(const std::optional<AuxiliaryVector>& facts) {
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->loader_base.value, ::getauxval(AT_BASE));
  EXPECT_EQ(facts->entry.value, ::getauxval(AT_ENTRY));
  EXPECT_EQ(facts->program_headers.value, ::getauxval(AT_PHDR));
  EXPECT_EQ(facts->program_header_count, ::getauxval(AT_PHNUM));
  EXPECT_FALSE(facts->secure);
}

TEST(AuxiliaryVectorOf, ThisProcessIsWhatTheKernelSaid) {
  expect_what_the_kernel_said(read_auxiliary_vector(own_pid(), ProcessMemory(own_pid())));
}

TEST(AuxiliaryVectorOnTheStack, OfThisProcessIsWhatTheKernelSaid) {
  const ProcessMemory memory(own_pid());
  expect_what_the_kernel_said(read_auxiliary_vector_on_stack(own_pid(), memory));
}

TEST(AuxiliaryVectorOnTheStack, IsFoundBehindAnEnvironmentThatShrank) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (std::string name; ::environ[0] != nullptr && ::environ[1] != nullptr;) {
      name = ::environ[0];
      ::unsetenv(name.substr(0, name.find('=')).c_str());
    }
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, WUNTRACED);
  expect_what_the_kernel_said(read_auxiliary_vector_on_stack(Pid::of(pid), ProcessMemory(Pid::of(pid))));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

// Nothing that the program may have written there is believed to be of a certain size.
TEST(AuxiliaryVectorOnTheStack, IsNotFoundInOtherBytes) {
  struct Bytes final : Memory {
    explicit Bytes(std::vector<std::uint64_t> w) : words(std::move(w)) {}
    std::size_t read(RemoteAddr, std::span<std::byte> into) const override {
      const auto bytes = std::as_bytes(std::span(words));
      const std::size_t n = std::min(into.size(), bytes.size());
      std::copy_n(bytes.begin(), n, into.begin());
      return n;
    }
    std::vector<std::uint64_t> words;
  };
  const std::vector<std::uint64_t> none[] = {
      {},     {0},       {~std::uint64_t{0}}, {1},          {1, 8},
      {0, 0}, {0, 0, 0}, {2, 8, 8, 0, 8, 8},  {0, 0, 8, 0}, {0, 0, 8, 0, AT_ENTRY}};
  for (const auto& words : none) EXPECT_FALSE(read_auxiliary_vector_on_stack(own_pid(), Bytes(words))) << words.size();
  const auto found =
      read_auxiliary_vector_on_stack(own_pid(), Bytes({1, 8, 0, 8, 0, 0, AT_ENTRY, 77, AT_NULL, 0, AT_ENTRY, 78}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entry.value, 77u);
}

TEST(CatchesSignal, IsSoWhereThereIsAHandler) {
  ::signal(SIGUSR2, SIG_DFL);  // another test of this process may have left its handler
  EXPECT_FALSE(catches_signal(own_pid(), SIGUSR2));
  ::signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(catches_signal(own_pid(), SIGUSR2));
  ::signal(SIGUSR2, SIG_IGN);
  EXPECT_FALSE(catches_signal(own_pid(), SIGUSR2));
  ::signal(SIGUSR2, SIG_DFL);
}

}  // namespace
}  // namespace fade
