// The meaning of type names in prototypes: sizes, names of enum values by library version, layouts of structs. One
// table per .probes file, over the built-in one; immutable once its file is read. Knows no functions.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"

namespace fade::probes {

// HIP version as major * 100 + minor, so that 5.7 < 6.0. An unknown minor is the last one of its major; an unknown
// major (0) is the newest of all.
using Version = int;
constexpr Version kNewest = 1'000'000;
constexpr Version version_of(int major, int minor = -1) {
  if (major <= 0) return kNewest;
  return major * 100 + (minor < 0 ? 99 : minor);
}

struct EnumValue {
  std::string name;
  std::int64_t value = 0;
  Version from = 0;  // first and last version in which the name had this value
  Version to = kNewest;
};

struct Field {
  std::string name;
  Type type;
  std::uint32_t offset = 0;
  std::uint32_t count = 1;  // elements of an array
  Role role = Role::None;
};

struct TypeDeclaration {
  Type type;
  std::uint32_t alignment = 1;
  std::vector<EnumValue> values;        // enums and flags
  std::vector<Field> fields;            // structs with a known layout, possibly only in part
  std::optional<std::int64_t> success;  // result value that means success
};

class Types {
 public:
  // `under` has the types that are not declared here; null only for the built-in table.
  explicit Types(std::shared_ptr<const Types> under) : under_(std::move(under)) {}

  const TypeDeclaration* find(std::string_view name) const;
  bool declared_here(std::string_view name) const { return own_.find(name) != own_.end(); }
  void declare(std::string name, TypeDeclaration declaration);
  // Sets the result value that means success. Copies the declaration into this table if it is only in `under`.
  bool set_success(std::string_view name, std::int64_t value);
  std::vector<std::string> names() const;

  // The first name with this value in this version.
  std::optional<std::string_view> enum_name(std::string_view type, std::int64_t value, Version version) const;
  // "A|B|0x40": names of bits, then the bits without a name. If no bit is set: the name of 0, or "0".
  std::string flags_text(std::string_view type, std::uint64_t value, Version version = kNewest) const;

 private:
  std::shared_ptr<const Types> under_;
  std::map<std::string, TypeDeclaration, std::less<>> own_;
};

// bool, int, size_t, dim3 ... as the compiler knows them.
std::shared_ptr<const Types> basic_types();
// The basic types, and the types of the embedded .enums and .probes files.
std::shared_ptr<const Types> built_in_types();

const Types& types_of(const Probe& probe);

std::optional<std::string_view> enum_name(std::string_view type, std::int64_t value, int major, int minor = -1);
std::string flags_text(std::string_view type, std::uint64_t value);

}  // namespace fade::probes
