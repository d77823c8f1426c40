// The words after @ in .probes files and in listings: kinds of calls and roles of parameters.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"

namespace fade::probes {

std::optional<Role> role_named(std::string_view word);
std::optional<Kind> kind_named(std::string_view word);
std::string_view word_for(Role role);  // empty for None
std::string_view word_for(Kind kind);
std::vector<std::string> role_words();
std::vector<std::string> kind_words();

}  // namespace fade::probes
