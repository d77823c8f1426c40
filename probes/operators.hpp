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

#include "probes/operator_arguments.hpp"
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
  // `with_schemas`: the arguments of the operators are wanted, too.
  explicit OperatorNames(bool with_schemas = false) : with_schemas_(with_schemas) {}
  // Takes the schemas from constants of the library; a piece must not begin inside of one.
  void read(std::string_view constants);
  // aten::add.Tensor. A structure without a schema keeps its name: aten::add_Tensor.
  std::string name_of(std::string_view structure) const;
  // The arguments of a function, by all schemas of that operator; nullopt: none is known.
  std::optional<OperatorArguments> arguments_of(const std::string& symbol, std::string_view structure) const;

 private:
  void read_schema(const std::string& structure, std::string_view text);
  std::optional<OperatorArguments> arguments_of_longer(const std::string& symbol, const std::string& end) const;

  bool with_schemas_;
  std::size_t texts_ = 0;
  std::unordered_map<std::string, std::string> dotted_;  // by the structure's name
  // The same, several if the library has several texts.
  std::unordered_multimap<std::string, OperatorSchema> schemas_;
};

// The two families of functions, for the catalogue: their symbols are patterns.
std::vector<Probe> operator_families();
// Tests if a word of -e asks for operators: a family's group, or a name that begins with aten::.
bool asks_for_operators(std::string_view events);
// True for the family of redispatches, and for its functions.
bool is_redispatch(const Probe& probe);
// The operator whose tensors have sizes that its arguments tell.
inline constexpr std::string_view kTensorMaker = "aten::empty.memory_format";
// One function of a family.
Probe operator_probe(const Probe& family, const std::string& symbol, const OperatorSymbol& parsed,
                     const OperatorNames& names);

}  // namespace fade::probes
