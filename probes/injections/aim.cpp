#include "probes/injections/aim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/suggest.hpp"
#include "probes/arguments.hpp"
#include "probes/device_properties.hpp"
#include "probes/injections/numbers.hpp"
#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kParts = "xyz";
constexpr std::string_view kResultName = "result";

using Op = ArgumentTest::Op;
constexpr std::pair<std::string_view, Op> kOps[] = {
    {"=", Op::Equal},      {"==", Op::Equal},  {"!=", Op::NotEqual},    {"<", Op::Less},
    {"<=", Op::LessEqual}, {">", Op::Greater}, {">=", Op::GreaterEqual}};

ValuePlace part_of(std::size_t parameter, int part) {
  return {static_cast<std::uint8_t>(parameter), part, {TypeClass::Unsigned, 4, "unsigned int"}};
}

bool is_value(const Parameter& parameter) {
  const bool is_in_sse = parameter.at.where == Location::Where::Sse;
  return is_in_sse ? is_float(parameter.type) : is_number(parameter.type) || is_float(parameter.type);
}

// Of a parameter that has a name of that kind, but no value that can be written.
std::string why_not(const Probe& probe, std::string_view name) {
  const auto found = std::ranges::find(probe.parameters, name, &Parameter::name);
  if (found == probe.parameters.end()) return {};
  if (found->type.cls == TypeClass::CString)
    return ": it is a text in the program's memory, and fade writes none there that other threads may read";
  return is_value(*found) || found->type.cls == TypeClass::Dim3 ? std::string() : ": it is no number";
}

std::optional<ValuePlace> in_parameter(const Probe& probe, std::size_t index, std::string_view rest) {
  const Parameter& parameter = probe.parameters[index];
  if (parameter.type.cls == TypeClass::Dim3) {
    const std::size_t part = rest.size() == 2 ? kParts.find(rest[1]) : std::string_view::npos;
    return part == std::string_view::npos ? std::nullopt : std::optional(part_of(index, static_cast<int>(part)));
  }
  if (!rest.empty() || !is_value(parameter)) return std::nullopt;
  return ValuePlace{static_cast<std::uint8_t>(index), -1, parameter.type};
}

// Headers name the same thing differently: size, sizeBytes, bytes. The words of .probes files are the same everywhere.
const Parameter* with_role(const Probe& probe, std::string_view word) {
  const auto role = word == "size" ? std::optional(Role::Bytes) : role_named(word);
  return role && *role != Role::None ? probe.with_role(*role) : nullptr;
}

template <class T>
bool compares(Op op, T a, T b) {
  switch (op) {
    case Op::Equal: return a == b;
    case Op::NotEqual: return a != b;
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    case Op::GreaterEqual: return a >= b;
  }
  return false;
}

}  // namespace

bool ArgumentTest::holds(std::uint64_t argument) const {
  if (is_float(place.type)) return compares(op, float_value(place.type, argument), float_value(place.type, value));
  const std::uint64_t a = extended(place.type, argument), b = extended(place.type, value);
  const bool has_sign = place.type.cls == TypeClass::Signed || place.type.cls == TypeClass::Enum;
  return has_sign ? compares(op, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)) : compares(op, a, b);
}

std::optional<ValuePlace> place_named(const Probe& probe, std::string_view name) {
  if (name == kResultName && is_number(probe.result)) return ValuePlace{ValuePlace::kResult, -1, probe.result};
  const std::string_view first = name.substr(0, name.find('.'));
  for (std::size_t i = 0; i < probe.parameters.size() && i < ValuePlace::kResult; ++i)
    if (probe.parameters[i].name == first) return in_parameter(probe, i, name.substr(first.size()));
  const Parameter* const parameter = with_role(probe, first);
  return parameter ? in_parameter(probe, index_of(probe, *parameter), name.substr(first.size())) : std::nullopt;
}

std::vector<std::string> place_names(const Probe& probe) {
  std::vector<std::string> out;
  for (const Parameter& parameter : probe.parameters) {
    if (parameter.type.cls == TypeClass::Dim3)
      for (const char part : kParts) out.push_back(fmt::format("{}.{}", parameter.name, part));
    else if (is_value(parameter)) out.push_back(parameter.name);
  }
  if (is_number(probe.result)) out.emplace_back(kResultName);
  return out;
}

std::optional<std::uint64_t> value_at(const Probe& probe, const ValuePlace& place, const CallRecord& record,
                                      std::span<const std::byte> payload) {
  if (place.parameter == ValuePlace::kResult) return record.result;
  std::array<std::byte, 16> bytes{};
  const std::size_t from = place.part < 0 ? 0 : 4 * static_cast<std::size_t>(place.part);
  const std::size_t got = argument_bytes(probe.parameters[place.parameter], record, payload, bytes);
  if (got < from + place.type.size) return std::nullopt;
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data() + from, std::min<std::size_t>(place.type.size, sizeof out));
  return extended(place.type, out);
}

Result<ArgumentTest> test_of(const Probe& probe, const ValuePlace& place, const RulePart& part) {
  const auto op = std::ranges::find(kOps, part.op, [](const auto& known) { return known.first; });
  if (op == std::end(kOps))
    return fail("", fmt::format("'{}' is no comparison", escaped(part.op)), "use = != < <= > or >=");
  const auto value = parse_argument(place.type, part.value, types_of(probe));
  if (!value) return tl::unexpected(value.error());
  return ArgumentTest{place, op->second, *value};
}

Result<Replacement> replacement_of(const Probe& probe, std::string_view name, std::string_view value) {
  const auto place = place_named(probe, name);
  if (!place) {
    const auto names = place_names(probe);
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    return fail("",
                fmt::format("{} has no '{}' that can be replaced{}{}", probe.symbol, escaped(name),
                            did_you_mean(name, names), why_not(probe, name)),
                all.empty() ? "nothing of it can be replaced" : "there are " + all);
  }
  const auto word = parse_argument(place->type, value, types_of(probe));
  if (!word) return tl::unexpected(word.error());
  return Replacement{*place, *word, std::string(name), shown_value(place->type, *word, types_of(probe))};
}

}  // namespace fade::probes
