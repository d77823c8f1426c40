// Recordings as files: finding the newest one, telling whether a file is one, opening it, and putting right what a
// killed fade left behind.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "cli/query/database.hpp"

namespace fade::query {

enum class State {
  Closed,    // in order
  Running,   // someone has it open and it is not closed
  Unclosed,  // fade was killed, or could not write
};

struct Recording {
  std::string path;
  Database database;
  State state = State::Closed;
  std::optional<Pid> holder;           // a process that has the file open, where the kernel tells
  std::vector<std::int64_t> sessions;  // ids, ascending
  bool is_merged = false;              // of several files: all sessions are meant where none is chosen
};

// Fails with three lines: missing, no permission, a directory, empty, not SQLite, not ours, from a newer fade.
Result<Recording> open_recording(const std::string& path);
// A recording of a database that this process has merged (several.hpp). Messages call it `name`.
Result<Recording> as_recording(Database database, const std::string& name);
// Another connection to the same file, for another thread. Does not open the file by itself, which would give up the
// locks of the first connection.
Result<Recording> connect_again(const Recording& recording);
// Reads again which sessions the file has, and whether it goes on.
Result<void> look_again(Recording& recording);
// True while a process has the file open as a database. This process must not have.
bool is_held(const std::string& path);
std::string state_text(const Recording& recording);  // a sentence; empty where it was closed in order

struct FoundFile {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;
};
// True for a file whose header is that of a recording, whatever its name. Reads 100 bytes of a plain file, no other.
bool is_recording(const std::string& path);
// All recordings of a directory, newest first; and fade-*.db, which may still be empty while its log has everything.
std::vector<FoundFile> recordings_in(const std::string& directory);

}  // namespace fade::query
