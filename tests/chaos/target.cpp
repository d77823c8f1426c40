// chaos MODES THREADS [LIBRARY]: calls HIP in THREADS threads and checks everything that it can about itself, until
// SIGUSR1 comes; then says what it did and ends with 0, or with 1 where anything was not right. A letter for each mode:
//   f  forks: fork, vfork and exec, posix_spawn      x  exceptions thrown through calls of HIP
//   p  waits in poll, nanosleep, futex and read      b  every other thread blocks all signals
//   B  has a SIGTRAP handler and uses it             l  opens and closes LIBRARY, another copy of the runtime
//   c  threads are born and die                      g  signals meet the callers, whose handler calls HIP
//   m  the first thread calls too                    L  the first thread ends before the others
//   k  children without signal handlers (clone3 with CLONE_CLEAR_SIGHAND), every other one kept from the tracer
//   e  executes itself every few ten milliseconds, by its first thread or another one; not with m and L
// "chaos child FD" is what it executes.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "workers.hpp"

using namespace chaos;

namespace {

std::vector<pthread_t> callers, all;  // outlive the first thread

void calls_in_handler(int) {
  ++tally->signals;
  const Counted counted(Synchronize);
  hipDeviceSynchronize();
}

void* sends_signals(void*) {
  for (std::size_t i = 0; !enough; ++i) {
    pthread_kill(callers[i % callers.size()], SIGUSR2);
    usleep(300);
  }
  return nullptr;
}

void handle(int signal, void (*handler)(int), void (*long_handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  if (handler) action.sa_handler = handler;
  if (long_handler) action.sa_sigaction = long_handler;
  action.sa_flags = SA_RESTART | (long_handler ? SA_SIGINFO : 0);
  MUST(!sigaction(signal, &action, nullptr));
}

struct Work {
  void* (*work)(void*);
  void* arg;
};
std::atomic<int> begun{0};
std::atomic<bool> may_go{false};

void* begin(void* work_) {
  const Work work = *static_cast<Work*>(work_);
  ++begun;
  may_go.wait(false);
  return work.work(work.arg);
}

// Threads that are still beginning have other signal masks than later: all begin before any goes on.
pthread_t start(void* (*work)(void*), void* arg = nullptr) {
  pthread_t t;
  Work given{work, arg};
  const int before = begun;
  MUST(!pthread_create(&t, nullptr, begin, &given));
  while (begun == before) sched_yield();
  return t;
}

void tell() {
  printf("{\"wrong\": %d", wrong.load());
  for (int i = 0; executes && i < kFunctions; ++i)
    printf(", \"begun %s\": %llu", kNames[i], static_cast<unsigned long long>(tally->begun[i].load()));
  for (int i = 0; i < kFunctions; ++i)
    printf(", \"%s\": %llu", kNames[i], static_cast<unsigned long long>(tally->calls[i].load()));
  const std::pair<const char*, std::atomic<std::uint64_t>*> rest[] = {
      {"children", &tally->children},       {"thrown", &tally->thrown},   {"caught", &tally->caught},
      {"raised", &tally->raised},           {"trapped", &tally->trapped}, {"waits", &tally->waits},
      {"interrupted", &tally->interrupted}, {"signals", &tally->signals}, {"opened", &tally->opened},
      {"threads", &tally->threads}};
  for (const auto& [name, value] : rest) printf(", \"%s\": %llu", name, static_cast<unsigned long long>(value->load()));
  printf("}\n");
  fflush(stdout);
}

void* waits_for_the_end(void*) {
  sigset_t end;
  int signal;
  sigemptyset(&end);
  sigaddset(&end, SIGUSR1);
  while (!tally->ends && sigwait(&end, &signal)) continue;
  tally->ends = enough = true;
  for (pthread_t t : all) pthread_join(t, nullptr);
  while (executes && waitpid(-1, nullptr, 0) > 0) continue;  // children of programs that it was before
  RIGHT(executes || (tally->thrown == tally->caught && tally->raised == tally->trapped));
  RIGHT(tally->interrupted == 0);
  if (tally->wrong) wrong = 1;
  tell();
  _exit(wrong);
}

}  // namespace

int main(int argc, char** argv) {
  MUST(argc > 2);
  if (!strcmp(argv[1], "child")) {
    map_tally(atoi(argv[2]));
    executes = getenv("FADE_CHAOS_EXECUTES") != nullptr;
    return child(2);
  }
  const auto is_on = [modes = argv[1]](char mode) { return strchr(modes, mode) != nullptr; };
  own_arguments = argv;
  executes = is_on('e');
  const char* const inherited = executes ? getenv("FADE_CHAOS_TALLY") : nullptr;
  if (executes) MUST(!setenv("FADE_CHAOS_EXECUTES", "1", 1));
  map_tally(inherited ? atoi(inherited) : make_tally());
  signal(SIGTERM, SIG_IGN);
  sigset_t ends, user;
  sigemptyset(&ends);
  sigaddset(&ends, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  handle(SIGUSR2, calls_in_handler, nullptr);
  is_crowd = atoi(argv[2]) > 8;
  if (is_crowd) rounds_of_an_allocation = 20;
  if (is_on('B')) handle(SIGTRAP, nullptr, trapped);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(atoi(argv[2])); ++i)
    callers.push_back(start(is_on('b') && i % 2 == 0 ? calls_with_all_blocked : calls, reinterpret_cast<void*>(i + 1)));
  all = callers;
  sigemptyset(&user);
  sigaddset(&user, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &user, nullptr);
  const std::pair<char, void* (*)(void*)> kinds[] = {{'f', forks},
                                                     {'x', exceptions},
                                                     {'p', waits},
                                                     {'B', raises_traps},
                                                     {'l', opens_and_closes},
                                                     {'c', threads_come_and_go},
                                                     {'g', sends_signals},
                                                     {'k', children_without_handlers},
                                                     {'e', executes_itself}};
  for (const auto& [mode, work] : kinds)
    if (is_on(mode)) all.push_back(start(work, mode == 'l' ? argv[3] : nullptr));
  if (is_on('m')) all.push_back(pthread_self());
  start(waits_for_the_end);
  may_go = true;
  may_go.notify_all();
  if (!inherited) printf("ready %d\n", getpid());
  fflush(stdout);
  if (executes && is_for_the_first_thread()) execute_self();
  if (is_on('m')) calls(reinterpret_cast<void*>(99));
  while (!is_on('L') && !is_on('m')) pause();
  pthread_exit(nullptr);
}
