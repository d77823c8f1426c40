#include "probes/operators.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "probes/operator_arguments.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kSpace = "_ZN2at4_ops", kCall = "4callE", kRedispatch = "10redispatchE";
constexpr std::string_view kPrefix = "aten::", kRedispatchPrefix = "redispatch aten::";
constexpr std::string_view kGroup = "ops", kRedispatchGroup = "ops-redispatch";
constexpr std::size_t kMostDottedNames = 100'000;  // of a library: PyTorch has 3,000
constexpr std::size_t kMostTexts = 300'000;        // that may be schemas: each is read up to its bracket
constexpr std::size_t kMostSchemas = 30'000, kMostOfAnOperator = 8;
constexpr std::size_t kLongestName = 200;  // of an operator; a library decides how long its strings are

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// In front of a schema: the end of another text, or of a namespace.
bool is_begin(char c) { return c == '\0' || c == ':'; }

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
    if (begin == 0 || !is_begin(constants[begin - 1])) continue;
    std::string structure(constants.substr(begin, at - begin));
    const bool is_dotted = dot > begin && dot + 1 != at;
    if (is_dotted) structure[dot - begin] = '_';
    read_schema(structure, constants.substr(at));
    if (is_dotted && dotted_.size() < kMostDottedNames)
      dotted_.emplace(std::move(structure), constants.substr(begin, at - begin));
  }
}

// Later texts of an operator are those of old releases, for saved models; their arguments are the same or others.
void OperatorNames::read_schema(const std::string& structure, std::string_view text) {
  if (!with_schemas_ || structure.empty() || ++texts_ > kMostTexts || schemas_.size() >= kMostSchemas) return;
  if (schemas_.count(structure) >= kMostOfAnOperator) return;
  if (auto schema = parse_operator_schema(text)) schemas_.emplace(structure, std::move(*schema));
}

std::optional<OperatorArguments> OperatorNames::arguments_of(const std::string& symbol,
                                                             std::string_view structure) const {
  const auto [begin, end] = schemas_.equal_range(std::string(structure));
  for (auto one = begin; one != end; ++one)
    if (auto found = operator_arguments(symbol, one->second)) return found;
  return begin == end ? arguments_of_longer(symbol, "_" + std::string(structure)) : std::nullopt;
}

// Linkers keep a text that is the end of another one only there: erf.out in special_erf.out. Several such texts must
// agree.
std::optional<OperatorArguments> OperatorNames::arguments_of_longer(const std::string& symbol,
                                                                    const std::string& end) const {
  const OperatorSchema* only = nullptr;
  for (const auto& [structure, schema] : schemas_) {
    if (!structure.ends_with(end) || (only && *only == schema)) continue;
    if (only) return std::nullopt;
    only = &schema;
  }
  return only ? operator_arguments(symbol, *only) : std::nullopt;
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
  if (parsed.is_redispatch) return out;
  if (auto arguments = names.arguments_of(symbol, parsed.name)) {
    out.parameters = std::move(arguments->parameters);
    out.stack_words = arguments->stack_words;
  }
  return out;
}

}  // namespace fade::probes
