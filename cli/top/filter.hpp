// Which names are shown: a POSIX extended regular expression, found anywhere in the name, without regard to case.
#pragma once
#include <regex.h>

#include <memory>
#include <string>

#include "base/result.hpp"

namespace fade::cli::top {

class Filter {
 public:
  Filter() = default;  // everything
  static Result<Filter> compile(const std::string& text);

  bool takes(const std::string& name) const;
  const std::string& text() const { return text_; }

 private:
  struct Free {
    void operator()(regex_t* regex) const {
      ::regfree(regex);
      delete regex;
    }
  };
  std::string text_;
  std::unique_ptr<regex_t, Free> regex_;  // empty: everything
};

}  // namespace fade::cli::top
