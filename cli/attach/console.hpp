// What fade-attach shows while it records: messages and, on a terminal, the live line. Never waits: what a full pipe or
// a stopped terminal does not take is lost. Called on the tracing thread only.
#pragma once
#include <string>

#include "base/fd.hpp"
#include "cli/attach/end_block.hpp"
#include "cli/attach/live_line.hpp"

namespace fade::cli::attach {

class Console {
 public:
  struct Manner {
    bool messages_to_stderr = true;  // not to the file of --log
    bool live = true;                // a live line, if stderr is a terminal
    bool utf8 = false;
    std::string hint;  // of the live line
  };
  Console(int fd, Manner manner);  // fd: stderr
  ~Console();                      // takes the live line away; messages may wait again
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void attached(const Watched& watched);
  void numbers(const LiveNumbers& now);
  void stop_refused(const std::string& how_to_end);

 private:
  bool may_show() const;
  void clear();
  void put(const std::string& text);

  const int fd_;  // not owned
  const Manner manner_;
  Fd again_;  // the same terminal or pipe, without waiting
  LiveLine line_;
  std::size_t shown_ = 0;  // columns of the live line that stands there
};

}  // namespace fade::cli::attach
