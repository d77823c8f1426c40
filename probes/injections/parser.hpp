// One rule from its text: the functions that it names, its filters and its effect.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "probes/injections/rule.hpp"
#include "probes/injections/text.hpp"

namespace fade::probes {

struct ParsedInjection {
  Injection rule;  // without its id
  std::vector<std::pair<ProbePtr, Aim>> aims;
};

// `known`: the functions that a rule may name. An error says the place of the wrong part.
Result<ParsedInjection> parse_injection(const InjectionText& text, std::span<const ProbePtr> known);

// The names of functions and groups in the text of a rule, as -e has them.
std::string functions_named(std::string_view text);

}  // namespace fade::probes
