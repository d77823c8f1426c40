#include "probes/types.hpp"

#include <fmt/format.h>

namespace fade::probes {
namespace {

struct BasicType {
  const char* name;
  TypeClass cls;
  std::uint32_t size;
};

// Every spelling of C's types; the parser joins "unsigned" and "long" before it looks here.
constexpr BasicType kBasicTypes[] = {
    {"void", TypeClass::Void, 0},          {"bool", TypeClass::Bool, 1},
    {"_Bool", TypeClass::Bool, 1},         {"char", TypeClass::Char, 1},
    {"signed char", TypeClass::Signed, 1}, {"unsigned char", TypeClass::Unsigned, 1},
    {"short", TypeClass::Signed, 2},       {"unsigned short", TypeClass::Unsigned, 2},
    {"int", TypeClass::Signed, 4},         {"unsigned int", TypeClass::Unsigned, 4},
    {"unsigned", TypeClass::Unsigned, 4},  {"signed", TypeClass::Signed, 4},
    {"long", TypeClass::Signed, 8},        {"unsigned long", TypeClass::Unsigned, 8},
    {"long long", TypeClass::Signed, 8},   {"unsigned long long", TypeClass::Unsigned, 8},
    {"int8_t", TypeClass::Signed, 1},      {"int16_t", TypeClass::Signed, 2},
    {"int32_t", TypeClass::Signed, 4},     {"int64_t", TypeClass::Signed, 8},
    {"uint8_t", TypeClass::Unsigned, 1},   {"uint16_t", TypeClass::Unsigned, 2},
    {"uint32_t", TypeClass::Unsigned, 4},  {"uint64_t", TypeClass::Unsigned, 8},
    {"size_t", TypeClass::Size, 8},        {"ssize_t", TypeClass::Signed, 8},
    {"ptrdiff_t", TypeClass::Signed, 8},   {"intptr_t", TypeClass::Signed, 8},
    {"uintptr_t", TypeClass::Handle, 8},   {"float", TypeClass::Float, 4},
    {"double", TypeClass::Double, 8},      {"dim3", TypeClass::Dim3, 12},
};

std::shared_ptr<const Types> make_basic_types() {
  auto types = std::make_shared<Types>(nullptr);
  for (const BasicType& basic : kBasicTypes) {
    const std::uint32_t alignment = basic.cls == TypeClass::Dim3 ? 4 : std::max(basic.size, 1U);
    types->declare(basic.name, {.type = {basic.cls, basic.size, basic.name}, .alignment = alignment});
  }
  return types;
}

}  // namespace

const TypeDeclaration* Types::find(std::string_view name) const {
  for (const Types* table = this; table; table = table->under_.get())
    if (const auto found = table->own_.find(name); found != table->own_.end()) return &found->second;
  return nullptr;
}

void Types::declare(std::string name, TypeDeclaration declaration) {
  own_.insert_or_assign(std::move(name), std::move(declaration));
}

bool Types::set_success(std::string_view name, std::int64_t value) {
  const TypeDeclaration* declaration = find(name);
  if (!declaration) return false;
  TypeDeclaration copy = *declaration;
  copy.success = value;
  declare(std::string(name), std::move(copy));
  return true;
}

std::vector<std::string> Types::names() const {
  std::vector<std::string> out;
  for (const Types* table = this; table; table = table->under_.get())
    for (const auto& [name, declaration] : table->own_) out.push_back(name);
  return out;
}

std::optional<std::string_view> Types::enum_name(std::string_view type, std::int64_t value, Version version) const {
  const TypeDeclaration* declaration = find(type);
  if (!declaration) return std::nullopt;
  for (const EnumValue& candidate : declaration->values)
    if (candidate.value == value && candidate.from <= version && version <= candidate.to) return candidate.name;
  return std::nullopt;
}

std::string Types::flags_text(std::string_view type, std::uint64_t value, Version version) const {
  if (value == 0) return std::string(enum_name(type, 0, version).value_or("0"));
  std::string out;
  std::uint64_t rest = value;
  const auto add = [&out](std::string_view text) {
    if (!out.empty()) out += '|';
    out += text;
  };
  if (const TypeDeclaration* declaration = find(type)) {
    for (const EnumValue& flag : declaration->values) {
      const auto bits = static_cast<std::uint64_t>(flag.value);
      if (bits == 0 || (rest & bits) != bits || version < flag.from || flag.to < version) continue;
      add(flag.name);
      rest &= ~bits;
    }
  }
  if (rest) add(fmt::format("{:#x}", rest));
  return out;
}

std::shared_ptr<const Types> basic_types() {
  static const std::shared_ptr<const Types> types = make_basic_types();
  return types;
}

const Types& types_of(const Probe& probe) { return probe.types ? *probe.types : *built_in_types(); }

std::optional<std::string_view> enum_name(std::string_view type, std::int64_t value, int major, int minor) {
  return built_in_types()->enum_name(type, value, version_of(major, minor));
}

std::string flags_text(std::string_view type, std::uint64_t value) { return built_in_types()->flags_text(type, value); }

}  // namespace fade::probes
