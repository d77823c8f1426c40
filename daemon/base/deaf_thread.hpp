// A thread that gets no signals: these are for the tracing thread.
#pragma once
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.hpp"

namespace fade {

// Runs `work` in a thread with all signals blocked (pthread_sigmask(3)). Error: the system allows no further thread.
// `does`: words for that message, "writes the database".
template <class Work>
Result<std::thread> start_deaf_thread(Work work, const std::string& does) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  int refused = 0;
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    refused = error.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused == 0) return thread;
  return fail("cannot start the thread that " + does, std::strerror(refused),
              "ulimit -u and ulimit -v say what is allowed here");
}

}  // namespace fade
