// The arguments of PyTorch's operators: their places by the types in a function's symbol, and their names by the
// operator's schema. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"

namespace fade::probes {

// The words on the stack that a function of this symbol takes as arguments, or more. nullopt: it takes a type whose
// size is not known.
std::optional<std::uint8_t> words_on_stack(const std::string& symbol);

struct OperatorSchema {
  std::vector<std::string> names;  // of the arguments
  bool result_in_memory = false;   // the caller gives the place of the result as a hidden first argument
  bool operator==(const OperatorSchema&) const = default;
};
// Parses "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", which other text may follow. nullopt: it is no
// schema, or the place of the result is not known.
std::optional<OperatorSchema> parse_operator_schema(std::string_view text);

// Tensors, lists of numbers, numbers and flags among the arguments of a function. The list ends before the first
// argument whose place depends on the release of PyTorch.
struct OperatorArguments {
  std::vector<Parameter> parameters;
  std::uint8_t stack_words = 0;
};
// nullopt: the schema is of another function.
std::optional<OperatorArguments> operator_arguments(const std::string& symbol, const OperatorSchema& schema);

}  // namespace fade::probes
