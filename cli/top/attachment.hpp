// fade-attach beside fade top, with sums only, into a recording in a folder of its own. A keeper, forked from this
// process, is between both: it lives in a session of its own, so that no signal of the terminal reaches it. When this
// process is gone, however it ended, a pipe closes; the keeper then has fade-attach detach, and removes the folder.
#pragma once
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade::cli::top {

class Attachment {
 public:
  // Forks: call it while the process has one thread and no recording open.
  static Result<Attachment> start(Pid target);
  Attachment(Attachment&& other) noexcept = default;
  Attachment& operator=(Attachment&&) = delete;
  ~Attachment();  // fade-attach has detached, and the folder is gone

  std::string database() const { return folder_ + "/top.db"; }
  std::optional<int> status();    // of fade-attach, once it has ended
  const std::string& messages();  // its standard error so far

 private:
  Attachment() = default;

  std::string folder_;
  Fd life_;      // the keeper sees it close
  Fd status_;    // fade-attach's exit status comes through it
  Fd messages_;  // its standard error
  std::optional<int> ended_with_;
  std::string said_;
  pid_t keeper_ = 0;
};

}  // namespace fade::cli::top
