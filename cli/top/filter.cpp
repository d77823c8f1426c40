#include "cli/top/filter.hpp"

#include <array>

namespace fade::cli::top {

Result<Filter> Filter::compile(const std::string& text) {
  Filter filter;
  if (text.empty()) return filter;
  auto made = std::make_unique<regex_t>();
  if (const int code = ::regcomp(made.get(), text.c_str(), REG_EXTENDED | REG_ICASE | REG_NOSUB); code != 0) {
    std::array<char, 200> why{};
    ::regerror(code, made.get(), why.data(), why.size());
    return fail("'" + text + "' is not a regular expression", why.data(), "--filter 'hipMem(cpy|set)'");
  }
  filter.text_ = text;
  filter.regex_.reset(made.release());
  return filter;
}

bool Filter::takes(const std::string& name) const {
  return !regex_ || ::regexec(regex_.get(), name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace fade::cli::top
