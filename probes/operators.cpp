#include "probes/operators.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "base/mangled_name.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kSpace = "_ZN2at4_ops", kCall = "4callE", kRedispatch = "10redispatchE";
constexpr std::string_view kPrefix = "aten::", kRedispatchPrefix = "redispatch aten::";
constexpr std::string_view kGroup = "ops", kRedispatchGroup = "ops-redispatch";
constexpr std::size_t kMostDottedNames = 100'000;  // of a library: PyTorch has 3,000
constexpr std::size_t kLongestName = 200;          // of an operator; a library decides how long its strings are

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// In front of a schema: the end of another text, or of a namespace.
bool is_begin(char c) { return c == '\0' || c == ':'; }

// Words of an argument, by the begin of its type. On the stack: it is never in registers, because it is too large.
struct Passing {
  std::string_view type;
  std::uint8_t words;
  bool on_stack = false;
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
    {"c10::optional<double>", 2},
    {"std::optional<double>", 2},
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

const Passing* passing_of(std::string_view type) {
  static constexpr Passing kAddress{"", 1};
  if (type.ends_with('&') || type.ends_with('*')) return &kAddress;
  const auto row = std::ranges::find_if(kPassing, [&](const Passing& one) { return type.starts_with(one.type); });
  return row == std::end(kPassing) ? nullptr : &*row;
}

// The types between the outer brackets of a demangled function.
std::vector<std::string_view> parameters_of(std::string_view function) {
  std::vector<std::string_view> out;
  const std::size_t open = function.find('(');
  if (open == function.npos || !function.ends_with(')')) return out;
  std::string_view rest = function.substr(open + 1, function.size() - open - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size()) depth += (rest[i] == '<' || rest[i] == '(') - (rest[i] == '>' || rest[i] == ')');
    if (i < rest.size() && (rest[i] != ',' || depth > 0)) continue;
    if (i > begin) out.push_back(rest.substr(begin, i - begin));
    begin = i + 2;  // ", "
  }
  return out;
}

Probe family(std::string_view prefix, std::string_view group) {
  Probe out{
      .symbol = std::string(prefix) + "*", .api = "torch", .group = std::string(group), .library = "libtorch_cpu.so*"};
  out.optional = true;
  out.known_signature = false;
  out.is_family = true;
  return out;
}

}  // namespace

std::optional<OperatorSymbol> parse_operator(std::string_view symbol) {
  if (!symbol.starts_with(kSpace)) return std::nullopt;
  symbol.remove_prefix(kSpace.size());
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), length);
  symbol.remove_prefix(static_cast<std::size_t>(end - symbol.data()));
  if (error != std::errc() || length == 0 || length > symbol.size() || length > kLongestName) return std::nullopt;
  const OperatorSymbol out{symbol.substr(0, length), symbol.substr(length).starts_with(kRedispatch)};
  if (!out.is_redispatch && !symbol.substr(length).starts_with(kCall)) return std::nullopt;
  return out;
}

void OperatorNames::read(std::string_view constants) {
  for (std::size_t at = constants.find('('); at != constants.npos; at = constants.find('(', at + 1)) {
    std::size_t begin = at, dot = 0;
    while (begin > 0 && at - begin < kLongestName) {
      const char c = constants[begin - 1];
      if (c == '.' && dot == 0) dot = begin - 1;
      else if (!is_of_name(c)) break;
      --begin;
    }
    if (dot <= begin || dot + 1 == at || begin == 0 || !is_begin(constants[begin - 1])) continue;
    if (dotted_.size() == kMostDottedNames) return;
    std::string name(constants.substr(begin, at - begin)), structure = name;
    structure[dot - begin] = '_';
    dotted_.emplace(std::move(structure), std::move(name));
  }
}

std::string OperatorNames::name_of(std::string_view structure) const {
  const auto found = dotted_.find(std::string(structure));
  if (found != dotted_.end()) return std::string(kPrefix) + found->second;
  // Linkers keep a text that is the end of another one only there: softmax.int in _sparse_softmax.int.
  const std::string end = "_" + std::string(structure);
  for (const auto& [longer, name] : dotted_)
    if (longer.ends_with(end) && name.find('.') >= name.size() - structure.size())
      return std::string(kPrefix) + name.substr(name.size() - structure.size());
  return std::string(kPrefix) + std::string(structure);
}

std::optional<std::uint8_t> words_on_stack(const std::string& symbol) {
  if (!is_affordable(symbol)) return std::nullopt;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                    std::free);
  if (!text) return std::nullopt;
  std::size_t free = kArgumentRegisters - 1, sse = 0, words = 0;  // one register has the address of the result
  for (const std::string_view type : parameters_of(text.get())) {
    const Passing* const row = passing_of(type);
    if (!row) return std::nullopt;
    sse += row->words == 0;
    if (row->on_stack || row->words > free) words += row->words;
    else free -= row->words;
  }
  if (sse > kSseArguments || words > kMostPassedWords) return std::nullopt;
  return static_cast<std::uint8_t>(words);
}

std::vector<Probe> operator_families() {
  return {family(kPrefix, kGroup), family(kRedispatchPrefix, kRedispatchGroup)};
}

bool asks_for_operators(std::string_view events) {
  if (events.starts_with("trace=")) events.remove_prefix(6);
  while (!events.empty()) {
    const std::string_view whole = events.substr(0, events.find(','));
    std::string_view word = whole.substr(0, whole.find('@'));
    if (word.starts_with('-')) word.remove_prefix(1);
    if (word == kGroup || word == kRedispatchGroup || word.starts_with(kPrefix)) return true;
    events.remove_prefix(std::min(whole.size() + 1, events.size()));
  }
  return false;
}

bool is_redispatch(const Probe& probe) { return probe.group == kRedispatchGroup; }

Probe operator_probe(const Probe& family, const std::string& symbol, const OperatorSymbol& parsed,
                     const OperatorNames& names) {
  Probe out = family;
  out.is_family = false;
  out.symbol = (parsed.is_redispatch ? "redispatch " : "") + names.name_of(parsed.name);
  out.result = {TypeClass::Void, 0, "void"};
  out.known_signature = true;
  out.passed_words = words_on_stack(symbol);
  return out;
}

}  // namespace fade::probes
