#include "base/regex.hpp"

#include <regex>

namespace fade {

struct Regex::Compiled {
  std::regex regex;
};

tl::expected<Regex, std::string> Regex::compile(const std::string& text) {
  try {
    return Regex(
        std::make_shared<const Compiled>(Compiled{std::regex(text, std::regex::ECMAScript | std::regex::optimize)}));
  } catch (const std::regex_error& error) {  // the only way std::regex tells
    return tl::unexpected<std::string>(error.what());
  }
}

bool Regex::found_in(std::string_view text) const {
  text = text.substr(0, kMostMatched);
  return std::regex_search(text.begin(), text.end(), compiled_->regex);
}

}  // namespace fade
