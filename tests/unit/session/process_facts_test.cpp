#include "session/process_facts.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptrace/launch.hpp"
#include "ptrace/tracer.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(StoredEnvironment, OnlyWhatConcernsTheGpuStack) {
  for (const char* name : {"HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "ROCR_VISIBLE_DEVICES", "LD_LIBRARY_PATH",
                           "LD_PRELOAD", "ZLUDA_X", "PYTORCH_HIP_ALLOC_CONF", "RANK", "CUDA_VISIBLE_DEVICES"})
    EXPECT_TRUE(may_be_stored(name)) << name;
  for (const char* name : {"HOME", "PATH", "AWS_SECRET_ACCESS_KEY", "RANKED", "XHIP_A", "HIP", "", "MY_HIP_A", "HF_TOKEN"})
    EXPECT_FALSE(may_be_stored(name)) << name;
}

TEST(StoredEnvironment, SecretsAreReplaced) {
  for (const char* name : {"OLLAMA_API_KEY", "TORCH_TOKEN", "HIP_PASSWORD", "NCCL_SECRET", "ollama_api_key", "Triton_Token"})
    EXPECT_EQ(redacted(name, "hush"), "<redacted>") << name;
  EXPECT_EQ(redacted("HIP_VISIBLE_DEVICES", "0,1"), "0,1");
}

// A program that waits in its first stop.
struct Started {
  Result<Tracer> tracer = Tracer::create();
  Result<LaunchedProgram> program;
  explicit Started(const LaunchedProgram::Command& command) : program(LaunchedProgram::fork_waiting(command)) {
    if (!tracer->seize(program->pid(), true)) std::abort();
    program->release();
    while (tracer->next_of(program->pid()).kind != Stop::Kind::Exec) continue;
  }
  ~Started() {
    ::kill(program->pid(), SIGKILL);
    ::waitpid(program->pid(), nullptr, 0);
  }
  pid_t pid() const { return program->pid(); }
};

TEST(ProcessFactsOfAProgram, AreThoseItWasStartedWith) {
  const Started started({{"/bin/sleep", "", "1 0", ""}, {"HIP_A=b=c", "HOME=/x", "HIP_KEY=k", "NOTHING", "HIP_EMPTY="}, {}});
  const ProcessFacts facts = read_process_facts(started.pid());
  EXPECT_EQ(facts.ppid, ::getpid());
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_GT(facts.start_ticks, 0u);
  EXPECT_TRUE(facts.exe.ends_with("/sleep") || facts.exe.ends_with("coreutils")) << facts.exe;
  EXPECT_THAT(facts.command, ElementsAre("/bin/sleep", "", "1 0", ""));
  EXPECT_THAT(facts.environment, ElementsAre(Pair("HIP_A", "b=c"), Pair("HIP_KEY", "<redacted>"), Pair("HIP_EMPTY", "")));
  EXPECT_EQ(read_thread_group(started.pid()), started.pid());
  EXPECT_EQ(read_thread_name(started.pid()), "sleep");
}

TEST(ProcessFactsOfAProgram, AreEmptyWhereThereIsNone) {
  const ProcessFacts facts = read_process_facts(999'999'999);
  EXPECT_EQ(facts.ppid, 0);
  EXPECT_THAT(facts.command, IsEmpty());
  EXPECT_EQ(facts.exe, "");
  EXPECT_EQ(read_thread_group(999'999'999), 0);
  EXPECT_EQ(read_thread_name(999'999'999), "");
  EXPECT_FALSE(catches_signal(999'999'999, SIGTRAP));
  EXPECT_FALSE(read_auxiliary_vector(999'999'999));
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
  EXPECT_EQ(read_process_facts(pid).ppid, ::getpid());
  EXPECT_EQ(read_thread_group(pid), pid);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(AuxiliaryVectorOf, ThisProcessIsWhatTheKernelSaid) {
  const auto facts = read_auxiliary_vector(::getpid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->loader_base.value, ::getauxval(AT_BASE));
  EXPECT_EQ(facts->entry.value, ::getauxval(AT_ENTRY));
  EXPECT_EQ(facts->program_headers.value, ::getauxval(AT_PHDR));
  EXPECT_EQ(facts->program_header_count, ::getauxval(AT_PHNUM));
  EXPECT_FALSE(facts->secure);
}

TEST(CatchesSignal, IsSoWhereThereIsAHandler) {
  EXPECT_FALSE(catches_signal(::getpid(), SIGUSR2));
  ::signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(catches_signal(::getpid(), SIGUSR2));
  ::signal(SIGUSR2, SIG_IGN);
  EXPECT_FALSE(catches_signal(::getpid(), SIGUSR2));
  ::signal(SIGUSR2, SIG_DFL);
}

}  // namespace
}  // namespace fade
