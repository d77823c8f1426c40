// Sends one file to ClickHouse, once or along with a recording that goes on, and tries again while the server is away.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "cli/push/server.hpp"
#include "cli/query/push_recording.hpp"

namespace fade::query {

struct PushWish {
  std::string job;
  std::chrono::nanoseconds patience{};  // how long a server may be away
  std::chrono::nanoseconds every{};     // time between two looks at a recording that goes on
  std::string again;                    // options of a later push, as a shell takes them: how to reach the server
};

struct PushedFile {
  std::int64_t sessions = 0, already_there = 0, rows = 0;
};

// Keeps a second pusher on this machine from the same file: both would send the same rows. Kept until its end. The
// lock is no lock of SQLite's and no lock of the program that records.
class PushLock {
 public:
  static Result<PushLock> of(const std::string& path);

 private:
  explicit PushLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

class PushFile {
 public:
  PushFile(push::Server& server, std::string path, PushWish wish, const std::atomic<bool>& stop)
      : server_(server), path_(std::move(path)), wish_(std::move(wish)), stop_(stop) {}

  // All sessions of the file.
  Result<PushedFile> send();
  // The newest session, until its recording is closed; then the rest.
  Result<PushedFile> follow();
  // A sentence about what the server lacks, and how to send it.
  std::string what_is_left() const;

 private:
  template <class Attempt>
  Result<void> patiently(const Attempt& attempt);
  Result<Recording> open() const;
  Result<void> begin(Recording& recording, std::int64_t session);
  Result<void> check_server();
  Result<bool> is_there(Recording& recording);
  Result<void> send_all(Recording& recording);
  Result<bool> look(bool first);
  Result<void> round(Recording& recording, bool first);
  bool wait_for_more() const;                       // false: stopped
  bool sleep(std::chrono::nanoseconds time) const;  // false: stopped

  push::Server& server_;
  const std::string path_;
  const PushWish wish_;
  const std::atomic<bool>& stop_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now(), last_snapshot_ = begun_;
  std::unique_ptr<PushRecording> to_;
  bool is_checked_ = false;
  bool is_away_ = false;  // the server, and the user was told
};

}  // namespace fade::query
