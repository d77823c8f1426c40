#include "probes/abi.hpp"

#include <algorithm>
#include <array>

#include "probes/types.hpp"

namespace fade::probes {
namespace {

constexpr unsigned kIntegerRegisters = 6;
constexpr unsigned kSseRegisters = 8;
constexpr unsigned kMostStackWords = 255;
constexpr int kDeepestStruct = 8;

enum class Class : std::uint8_t { None, Sse, Integer, Memory, Mixed };

bool is_float(const Type& type) { return type.cls == TypeClass::Float || type.cls == TypeClass::Double; }

// Merges the classes of a struct's leaves into its (at most two) eightbytes: INTEGER wins over SSE.
void classify_fields(const Type& type, std::uint32_t base, const Types& types, int depth,
                     std::array<Class, 2>& halves) {
  const TypeDeclaration* declaration = type.cls == TypeClass::Struct ? types.find(type.name) : nullptr;
  if (depth > 0 && declaration && !declaration->fields.empty()) {
    for (const Field& field : declaration->fields)
      for (std::uint32_t i = 0; i < field.count; ++i)
        classify_fields(field.type, base + field.offset + i * field.type.size, types, depth - 1, halves);
    return;
  }
  const Class leaf = is_float(type) ? Class::Sse : Class::Integer;
  for (std::uint32_t half = base / 8; half < 2 && half * 8 < base + type.size; ++half)
    halves[half] = std::max(halves[half], leaf);
}

Class class_of(const Type& type, const Types& types) {
  if (is_float(type)) return Class::Sse;
  if (type.cls != TypeClass::Struct) return Class::Integer;
  if (type.size > 16) return Class::Memory;
  std::array<Class, 2> halves{Class::None, Class::None};
  classify_fields(type, 0, types, kDeepestStruct, halves);
  std::replace(halves.begin(), halves.end(), Class::None, Class::Integer);  // bytes that no field describes
  if (type.size <= 8 || halves[0] == halves[1]) return halves[0];
  return Class::Mixed;
}

// Hands out registers and stack words in the order of the parameters.
class RegisterAssignment {
 public:
  Location place(Class cls, unsigned words) {
    if (cls == Class::Integer && integers_ + words <= kIntegerRegisters)
      return take(Location::Where::Integer, integers_, words);
    if (cls == Class::Sse && sse_ + words <= kSseRegisters) return take(Location::Where::Sse, sse_, words);
    return take(Location::Where::Stack, stack_, words);
  }
  unsigned stack() const { return stack_; }
  unsigned sse() const { return sse_; }

 private:
  static Location take(Location::Where where, unsigned& next, unsigned words) {
    const Location at{where, static_cast<std::uint8_t>(next), static_cast<std::uint8_t>(words)};
    next += words;
    return at;
  }

  unsigned integers_ = 0, sse_ = 0, stack_ = 0;
};

}  // namespace

Result<void> assign_locations(Probe& probe, const Types& types) {
  RegisterAssignment assignment;
  // A result in memory: the caller passes its address as a hidden first argument.
  if (class_of(probe.result, types) == Class::Memory) assignment.place(Class::Integer, 1);
  for (Parameter& parameter : probe.parameters) {
    const Class cls = class_of(parameter.type, types);
    const std::uint32_t words = std::max((parameter.type.size + 7) / 8, 1U);
    if (cls == Class::Mixed)
      return fail("parameter " + parameter.name + " cannot be passed by value here",
                  "struct " + parameter.type.name + " goes half into an integer and half into an SSE register");
    if (words + assignment.stack() > kMostStackWords)
      return fail("parameter " + parameter.name + " is too large",
                  "arguments on the stack may have 2040 bytes together");
    parameter.at = assignment.place(cls, words);
  }
  probe.stack_words = static_cast<std::uint8_t>(assignment.stack());
  probe.sse_words = static_cast<std::uint8_t>(assignment.sse());
  return {};
}

}  // namespace fade::probes
