#include "probes/signature.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fade::probes {
namespace {

using nlohmann::json;

constexpr std::size_t kMostStored = 255;
constexpr std::uint32_t kLargestType = 1 << 20;  // bytes

json of_type(const Type& type) { return {static_cast<int>(type.cls), type.size, type.name}; }

json of_parameter(const Parameter& p) {
  const json at = {static_cast<int>(p.at.where), p.at.first, p.at.words};
  return {{"name", p.name},
          {"type", of_type(p.type)},
          {"pointee", of_type(p.pointee)},
          {"direction", static_cast<int>(p.direction)},
          {"at", at},
          {"count", p.count},
          {"length", p.length_param}};
}

// A number in the text. Throws if the text is not a number or is too large.
template <class T>
T number(const json& from, std::int64_t most, std::int64_t least = 0) {
  const auto value = from.get<std::int64_t>();
  if (value < least || value > most) throw std::out_of_range("out of range");
  return static_cast<T>(value);
}

Type to_type(const json& from) {
  return {number<TypeClass>(from.at(0), static_cast<int>(TypeClass::Integers)),
          number<std::uint32_t>(from.at(1), kLargestType), from.at(2).get<std::string>()};
}

Parameter to_parameter(const json& from) {
  Parameter out;
  out.name = from.at("name").get<std::string>();
  out.type = to_type(from.at("type"));
  out.pointee = to_type(from.at("pointee"));
  out.direction = number<Direction>(from.at("direction"), static_cast<int>(Direction::InOut));
  const json& at = from.at("at");
  out.at = {number<Location::Where>(at.at(0), static_cast<int>(Location::Where::Stack)),
            number<std::uint8_t>(at.at(1), 255), number<std::uint8_t>(at.at(2), 255)};
  out.count = number<std::uint32_t>(from.at("count"), kLargestType);
  out.length_param = number<int>(from.at("length"), kMostStored, -1);
  return out;
}

Signature to_signature(const json& from) {
  Signature out;
  out.library_major = number<int>(from.at("major"), 1000);
  out.probe.known_signature = from.at("known").get<bool>();
  const json& parameters = from.at("parameters");
  if (parameters.size() > kMostStored) throw std::out_of_range("too many");
  for (const json& parameter : parameters) out.probe.parameters.push_back(to_parameter(parameter));
  return out;
}

}  // namespace

std::string signature_text(const Probe& probe, int library_major) {
  json parameters = json::array();
  for (const Parameter& parameter : probe.parameters) parameters.push_back(of_parameter(parameter));
  const json out = {{"major", library_major}, {"known", probe.known_signature}, {"parameters", std::move(parameters)}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Signature> signature_from(std::string_view text) {
  try {
    return to_signature(json::parse(text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace fade::probes
