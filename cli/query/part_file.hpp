// A new file that gets its name only when it is whole: until then its content stands beside it in FILE.part. So a full
// disk or a kill leaves no half file that looks whole. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ and SIGXCPU remove
// FILE.part, and FILE while it is empty. One at a time.
#pragma once
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade::query {

class PartFile {
 public:
  // `file`: opened for writing under `name`. Pipes, devices and links are written as they are.
  static Result<PartFile> beside(const Fd& file, const std::string& name);
  PartFile(PartFile&& other) noexcept;
  ~PartFile();  // removes what was not finished

  int fd() const { return part_ ? part_.get() : direct_; }
  const std::string& part_name() const { return part_name_; }  // empty where the file is written directly
  Result<void> finish();                                       // gives it its name

 private:
  PartFile(int direct, std::string name) : direct_(direct), name_(std::move(name)) {}

  int direct_;
  Fd part_;  // none where the file is written directly
  std::string name_, part_name_;
};

}  // namespace fade::query
