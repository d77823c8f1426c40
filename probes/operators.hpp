// PyTorch's operators, by the symbols of their functions in libtorch_cpu: at::_ops::NAME::call, which every caller of
// an operator uses, and at::_ops::NAME::redispatch, which a kernel of one dispatch key uses to reach that of the next
// key. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "probes/probe.hpp"

namespace fade::probes {

struct OperatorSymbol {
  std::string_view name;  // of the structure: NAME_OVERLOAD
  bool is_redispatch = false;
};

// nullopt: the symbol is of no operator.
std::optional<OperatorSymbol> parse_operator(std::string_view symbol);

// The names that PyTorch's schemas give to operators. A structure is called add_Tensor, its schema begins with
// "add.Tensor(". Which _ is the dot, only the schema tells.
class OperatorNames {
 public:
  // Takes the schemas from constants of the library; a piece must not begin inside of one.
  void read(std::string_view constants);
  // aten::add.Tensor. A structure without a schema keeps its name: aten::add_Tensor.
  std::string name_of(std::string_view structure) const;

 private:
  std::unordered_map<std::string, std::string> dotted_;  // by the structure's name
};

// The words on the stack that a function of this symbol takes as arguments, or more. nullopt: it takes a type whose
// size is not known.
std::optional<std::uint8_t> words_on_stack(const std::string& symbol);

// The two families of functions, for the catalogue: their symbols are patterns.
std::vector<Probe> operator_families();
// Tests if a word of -e asks for operators: a family's group, or a name that begins with aten::.
bool asks_for_operators(std::string_view events);
// True for the family of redispatches, and for its functions.
bool is_redispatch(const Probe& probe);
// One function of a family.
Probe operator_probe(const Probe& family, const std::string& symbol, const OperatorSymbol& parsed,
                     const OperatorNames& names);

}  // namespace fade::probes
