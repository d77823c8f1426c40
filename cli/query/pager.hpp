// A page that is taller than the terminal goes to a pager (FADE_PAGER, PAGER, or less -FRX); a shorter one is written
// as it is. Text is held back until it is known which of the two it is.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "cli/table/bytes.hpp"

namespace fade::query {

// The command to run, for a shell; empty: no pager (the variable says "cat" or nothing, or less is not installed).
std::string pager_command(const char* (*environment)(const char*));

class Pager : public table::Bytes {
 public:
  // `terminal`: descriptor to write to, of so many `rows`. The pager writes to standard output.
  Pager(std::string command, int terminal, unsigned rows)
      : command_(std::move(command)), terminal_(terminal, "standard output"), rows_(rows) {}
  ~Pager() override;
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  // EPIPE: the reader has quit.
  Result<void> write(std::string_view text) override;
  Result<void> flush() override { return {}; }  // finish() writes what is held back
  // Writes the rest, and waits until the reader has quit. A reader who quits early is no failure.
  Result<void> finish();

 private:
  Result<void> start();
  Result<void> pass_on(std::string_view text);
  Result<void> write_held();

  std::string command_;
  table::FdBytes terminal_;
  unsigned rows_;
  std::string held_;
  unsigned lines_ = 0;
  Fd pipe_;
  pid_t child_ = -1;
  bool tried_ = false;
};

}  // namespace fade::query
