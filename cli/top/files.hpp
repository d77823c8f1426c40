// Files that keys of fade top write, in the current directory. None of them replaces a file.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade::cli::top {

// Writes `text` to fade-top-DATE-TIME.txt and returns its name. Only the user can read it.
Result<std::string> save(const std::string& text);

// fade-query page as a child, beside the view.
class PageWriter {
 public:
  PageWriter() = default;
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;
  ~PageWriter();  // waits for the page that is being written

  std::string start(const std::string& database);  // returns a message
  std::optional<std::string> poll();               // a message, once it is written or has failed

 private:
  std::string outcome(int wait_status);

  pid_t child_ = 0;
  std::string name_;
  Fd messages_;
};

}  // namespace fade::cli::top
