// The daemon's folder: the data that must survive it, and the recordings, one folder per user that only this user may
// look into.
//   STATE/sessions/ID.json   STATE/watches.json   STATE/next_id   STATE/<uid>/PROGRAM-PID-ID.db
// One daemon at a time. Every step goes through open directories, so that no link planted on the way leads elsewhere.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade::service {

class StateDir {
 public:
  // Makes it if it is missing. Refuses a link, a folder of another user, one that other users may write, and one that
  // another daemon uses.
  static Result<StateDir> open(const std::string& path);

  const std::string& path() const { return path_; }

  // Where recordings of `uid` go. As root it is given to the user; otherwise the user may read it.
  Result<std::string> recordings_of(uid_t uid, gid_t gid);
  // Lets the owner read a new recording (and SQLite's files beside it), if it is ours.
  void open_recording(uid_t uid, std::string_view name) const;
  std::uint64_t recording_bytes(uid_t uid, std::string_view name) const;
  // Returns the worker's last report and removes its file. Empty: there is none. Untrusted: the user may write there.
  std::string take_last_word(uid_t uid, std::string_view name) const;
  bool remove_recording(uid_t uid, std::string_view name) const;  // with its companions; true: it was there

  Result<std::uint64_t> next_id();  // never the same twice

  // Small files, whole or not at all.
  Result<void> save(const std::string& name, std::string_view text) const;
  std::string load(const std::string& name) const;  // empty if there is none
  void remove(const std::string& name) const;
  std::vector<std::uint64_t> saved_sessions() const;
  static std::string session_name(std::uint64_t id);

 private:
  StateDir(std::string path, Fd folder, Fd sessions)
      : path_(std::move(path)), folder_(std::move(folder)), sessions_(std::move(sessions)) {}
  Fd user_folder(uid_t uid) const;

  std::string path_;
  Fd folder_, sessions_;
};

// Part of a file name made of a program's own name for itself.
std::string plain_name(std::string_view text);

}  // namespace fade::service
