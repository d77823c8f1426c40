#include "probes/operator_arguments.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "base/mangled_name.hpp"
#include "probes/tensors.hpp"

namespace fade::probes {
namespace {

// Words of an argument, by the begin of its type. On the stack: it is never in registers, because it is too large.
struct Passing {
  std::string_view type;
  std::uint8_t words;
  bool on_stack = false;
  bool is_mixed = false;  // a half of it is in an SSE register
};
// The first row that fits counts. Types that are not trivially copied are passed by address.
constexpr Passing kPassing[] = {
    {"long", 1},
    {"int", 1},
    {"bool", 1},
    {"double", 0},  // eight fit into SSE registers; more are refused
    {"c10::OptionalArrayRef<", 3, true},
    {"c10::optional<c10::ArrayRef<", 3, true},
    {"std::optional<c10::ArrayRef<", 3, true},
    {"c10::optional<c10::basic_string_view<", 3, true},
    {"std::optional<c10::basic_string_view<", 3, true},
    {"std::optional<std::basic_string_view<", 3, true},
    {"c10::optional<double>", 2, false, true},
    {"std::optional<double>", 2, false, true},
    {"c10::optional<long>", 2},
    {"std::optional<long>", 2},
    {"c10::optional<", 1},  // of an enumeration, a device; or by address
    {"std::optional<", 1},
    {"c10::ArrayRef<", 2},
    {"c10::basic_string_view<", 2},
    {"std::basic_string_view<", 2},
    {"at::Dimname", 2},
    {"c10::Stream", 2},
    {"std::array<bool, ", 2},
    {"c10::SymInt", 1},
    {"c10::Storage", 1},
    {"at::Storage", 1},
    {"at::Generator", 1},
    {"c10::Device", 1},
    {"c10::ScalarType", 1},
    {"c10::Layout", 1},
    {"c10::MemoryFormat", 1},
    {"c10::DispatchKeySet", 1},
};
constexpr std::size_t kSseArguments = 8, kArgumentRegisters = 6, kMostPassedWords = 14;
constexpr std::size_t kLongestSchema = 4'000;

const Passing* passing_of(std::string_view type) {
  static constexpr Passing kAddress{"", 1};
  if (type.ends_with('&') || type.ends_with('*')) return &kAddress;
  const auto row = std::ranges::find_if(kPassing, [&](const Passing& one) { return type.starts_with(one.type); });
  return row == std::end(kPassing) ? nullptr : &*row;
}

// The types between the outer brackets of a demangled function.
std::vector<std::string_view> parameters_of(std::string_view function) {
  constexpr std::string_view kOpening = "<([", kClosing = ">)]";
  std::vector<std::string_view> out;
  const std::size_t open = function.find('(');
  if (open == function.npos || !function.ends_with(')')) return out;
  std::string_view rest = function.substr(open + 1, function.size() - open - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size()) depth += (kOpening.find(rest[i]) != kOpening.npos) - (kClosing.find(rest[i]) != kClosing.npos);
    if (i < rest.size() && (rest[i] != ',' || depth > 0)) continue;
    if (i > begin) out.push_back(rest.substr(begin, i - begin));
    begin = i + 2;  // ", "
  }
  return out;
}

// The demangled symbol; empty if it may take too much memory, or is none.
std::string demangled(const std::string& symbol) {
  if (!is_affordable(symbol)) return {};
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                    std::free);
  return text ? text.get() : std::string();
}

// What is shown of an argument of that type: the parameter's own type, and what lies behind it.
struct Shape {
  std::string_view type;
  TypeClass own;
  std::uint32_t size;
  TypeClass behind = TypeClass::Void;
  std::string_view form = {};
};
constexpr Shape kShapes[] = {
    {"at::Tensor const&", TypeClass::Pointer, 8, TypeClass::Tensor, kOneTensor},
    {"at::Tensor&", TypeClass::Pointer, 8, TypeClass::Tensor, kOneTensor},
    {"c10::optional<at::Tensor> const&", TypeClass::Pointer, 8, TypeClass::Tensor, kFlaggedTensor},
    {"std::optional<at::Tensor> const&", TypeClass::Pointer, 8, TypeClass::Tensor, kOptionalTensor},
    {"c10::ArrayRef<at::Tensor>", TypeClass::Pointer, 16, TypeClass::Tensor, kTensorList},
    {"c10::IListRef<at::Tensor> const&", TypeClass::Pointer, 8, TypeClass::Tensor, kTaggedTensorList},
    {"c10::ArrayRef<long>", TypeClass::Pointer, 16, TypeClass::Integers, "int64_t"},
    {"c10::ArrayRef<c10::SymInt>", TypeClass::Pointer, 16, TypeClass::Integers, "int64_t"},
    {"c10::SymInt", TypeClass::Pointer, 8, TypeClass::Signed, "int64_t"},
    {"long", TypeClass::Signed, 8},
    {"bool", TypeClass::Bool, 1},
};

Parameter parameter_of(const Shape& shape, const std::string& name, const Location& at) {
  Parameter out;
  out.name = name;
  out.type = {shape.own, shape.size, std::string(shape.type)};
  const std::uint32_t size = shape.behind == TypeClass::Signed ? 8 : 0;
  out.pointee = {shape.behind, size, std::string(shape.form)};
  out.at = at;
  return out;
}

// Hands out registers and words on the stack, in the order of the arguments.
class Places {
 public:
  explicit Places(bool result_in_memory) : next_(result_in_memory ? 1 : 0) {}

  // nullopt: the place differs between releases of PyTorch.
  std::optional<Location> place(const Passing& passing) {
    if (passing.on_stack || passing.is_mixed || (passing.words == 0 && ++sse_ > kSseArguments)) return std::nullopt;
    if (passing.words == 0) return Location{Location::Where::Sse, static_cast<std::uint8_t>(sse_ - 1), 1};
    const bool fits = next_ + passing.words <= kArgumentRegisters;
    std::size_t& next = fits ? next_ : stack_;
    const Location out{fits ? Location::Where::Integer : Location::Where::Stack, static_cast<std::uint8_t>(next),
                       passing.words};
    next += passing.words;
    return out;
  }
  std::size_t stack() const { return stack_; }

 private:
  std::size_t next_, sse_ = 0, stack_ = 0;
};

// The position behind the bracket that closes the one at the begin; npos: none does.
std::size_t behind_bracket(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < std::min(text.size(), kLongestSchema); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == '\0') return text.npos;
    if (depth == 0) return i + 1;
  }
  return text.npos;
}

// "Tensor? bias=None" -> "bias"
std::string name_of_argument(std::string_view text) {
  text = text.substr(0, text.find('='));
  return std::string(text.substr(text.rfind(' ') + 1));
}

// A reference is an operator's own argument: "Tensor(a!)". nullopt: unknown.
std::optional<bool> is_result_in_memory(std::string_view result) {
  if (result.starts_with("Tensor(") && result.substr(0, result.find(')')).ends_with('!')) return false;
  for (const std::string_view in_register : {"()", "int", "bool", "float", "ScalarType", "QScheme", "Device"})
    if (result.starts_with(in_register)) return false;
  for (const std::string_view in_memory : {"Tensor", "(", "Scalar", "SymInt"})
    if (result.starts_with(in_memory)) return true;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint8_t> words_on_stack(const std::string& symbol) {
  const std::string text = demangled(symbol);
  if (text.empty()) return std::nullopt;
  std::size_t free = kArgumentRegisters - 1, sse = 0, words = 0;  // one register has the address of the result
  for (const std::string_view type : parameters_of(text)) {
    const Passing* const row = passing_of(type);
    if (!row) return std::nullopt;
    sse += row->words == 0;
    if (row->on_stack || row->words > free) words += row->words;
    else free -= row->words;
  }
  if (sse > kSseArguments || words > kMostPassedWords) return std::nullopt;
  return static_cast<std::uint8_t>(words);
}

std::optional<OperatorSchema> parse_operator_schema(std::string_view text) {
  constexpr std::string_view kArrow = " -> ";
  const std::size_t end = behind_bracket(text);
  if (end == text.npos || !text.substr(end).starts_with(kArrow)) return std::nullopt;
  const auto in_memory = is_result_in_memory(text.substr(end + kArrow.size()));
  if (!in_memory) return std::nullopt;
  OperatorSchema out{.names = {}, .result_in_memory = *in_memory};
  for (const std::string_view argument : parameters_of(text.substr(0, end)))
    if (argument != "*") out.names.push_back(name_of_argument(argument));
  return out;
}

std::optional<OperatorArguments> operator_arguments(const std::string& symbol, const OperatorSchema& schema) {
  const std::string text = demangled(symbol);
  const std::vector<std::string_view> types = parameters_of(text);
  if (text.empty() || types.size() != schema.names.size()) return std::nullopt;
  OperatorArguments out;
  Places places(schema.result_in_memory);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Passing* const passing = passing_of(types[i]);
    const auto at = passing ? places.place(*passing) : std::nullopt;
    if (!at || places.stack() > kMostPassedWords) break;
    const auto shape = std::ranges::find(kShapes, types[i], &Shape::type);
    if (shape == std::end(kShapes)) continue;
    out.parameters.push_back(parameter_of(*shape, schema.names[i], *at));
    if (at->where == Location::Where::Stack) out.stack_words = static_cast<std::uint8_t>(places.stack());
  }
  return out;
}

}  // namespace fade::probes
