// One Probe is one line of a .probes file, without an address. Immutable once loaded, shared between threads by
// shared_ptr<const Probe>.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/location.hpp"
#include "probes/memory_action.hpp"
#include "probes/role_index.hpp"
#include "probes/roles.hpp"

namespace fade::probes {

class Types;  // types.hpp: names of enums, layouts of structs

// The form and size of a shown value.
enum class TypeClass : std::uint8_t {
  Void,
  Bool,
  Char,
  Signed,
  Unsigned,
  Size,
  Float,
  Double,
  Pointer,   // an address whose memory is not read
  Handle,    // opaque pointer or integer that names an object: hipStream_t
  CString,   // const char *: text is read at entry, that of a result and of an out-parameter at return
  Enum,      // names by library major version
  Flags,     // or-ed bits with names
  Dim3,      // three 32-bit numbers
  Struct,    // by value, shown field by field if the layout is known, else as bytes
  Tensor,    // behind pointers alone: one tensor of PyTorch or a list of them (tensors.hpp)
  Integers,  // the same: a list of 64-bit integers
};

struct Type {
  TypeClass cls = TypeClass::Void;
  std::uint32_t size = 0;  // bytes
  std::string name;  // as in the prototype: "hipMemcpyKind", "hipStream_t"; looked up in the enum and struct tables
};

enum class Direction : std::uint8_t { In, Out, InOut };

struct Parameter {
  std::string name;
  Type type;     // of the parameter itself; for pointers that are read, TypeClass::Pointer
  Type pointee;  // the type behind the pointer if it is read, else Void
  Direction direction = Direction::In;
  Role role = Role::None;
  Location at;
  // Elements of pointee that are read: 1, or a fixed number. If length_param >= 0, that parameter has the number.
  std::uint32_t count = 1;
  int length_param = -1;
  // Patterns of the shown value: a call with another value is not recorded. Empty: each call is.
  std::vector<std::string> only;

  bool read_at_entry() const { return pointee.cls != TypeClass::Void && direction != Direction::Out; }
  bool read_at_return() const { return pointee.cls != TypeClass::Void && direction != Direction::In; }
  // Read by a reader of its own, because its place and size are known to PyTorch alone.
  bool is_of_operator() const { return pointee.cls == TypeClass::Tensor || pointee.cls == TypeClass::Integers; }
  bool gives_text() const { return pointee.cls == TypeClass::CString && direction == Direction::Out && count == 1; }
};

// The effect of a call on the stored side tables.
enum class Kind : std::uint8_t {
  Other,
  Launch,
  Copy,
  Set,
  Alloc,
  Free,
  HostAlloc,
  HostFree,
  StreamCreate,
  StreamDestroy,
  Sync,
  Event,
  SetDevice,
  GetDevice,
  DeviceQuery,
  ModuleLoad,
  GetFunction,
  Error,
  Register,
  Graph,
  RangePush,
  RangePop,
  RangeStart,
  RangeStop,
  Mark,
};

struct Probe {          // one line of a .probes file: a field is a part of it, or follows from its parts
  std::string symbol;   // as in .dynsym, mangled if C++
  std::string api;      // hip, hiprtc, cuda, user
  std::string group;    // memory, copy, launch ... for -e/--events
  std::string library;  // glob on the library's file name or soname; empty: any library recognised as `api`
  Kind kind = Kind::Other;
  MemoryAction memory;      // of its @memory note; memory_action() adds the functions without a note
  bool hot = false;         // off unless selected by name or by its group
  bool optional = false;    // off unless its name, group or api is selected: of a library above HIP
  bool entry_only = false;  // result and duration are not needed: recorded at its entry, without a return site
  Type result;
  std::int64_t success = 0;  // result value that means success
  bool has_success = false;  // false: every result is fine (void, pointers, counts)
  // results that are neither success nor an error (hipErrorNotReady of queries)
  std::vector<std::int64_t> not_failures;
  bool known_signature = true;      // false: only registers are shown
  bool grid_in_work_items = false;  // the launch's grid counts work-items: divide by the block for blocks
  bool is_family = false;           // stands for all functions whose names begin like its symbol
  std::uint8_t stack_words = 0;     // argument words on the stack that must be read at entry
  // Further words on the stack, which are only passed on to the function. nullopt: their number is not known.
  std::optional<std::uint8_t> passed_words = 0;
  std::uint8_t sse_words = 0;  // xmm registers that carry arguments
  std::vector<Parameter> parameters;
  std::string origin;                  // FILE:LINE
  std::shared_ptr<const Types> types;  // the meaning of its type names; null: the built-in types
  LazyRoleIndex role_index;

  bool returns_sse() const { return result.cls == TypeClass::Float || result.cls == TypeClass::Double; }
  bool failed(std::uint64_t result_word) const;  // narrows the word to the result's size
  MemoryAction memory_action() const;            // of the note, else of the kind
  const Parameter* with_role(Role role) const;   // nullptr if no parameter has it
  std::span<const RolePlace> places(Role role) const { return role_index.of(*this).places(role); }
  const RoleWord& word(Role role) const { return role_index.of(*this).word(role); }
};

using ProbePtr = std::shared_ptr<const Probe>;

}  // namespace fade::probes
