#include "elf/dwarf_prototype.hpp"

#include <dwarf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/glob.hpp"
#include "elf/dwarf_die.hpp"
#include "elf/dwarf_file.hpp"
#include "elf/dwarf_passing.hpp"
#include "elf/dwarf_types.hpp"
#include "probes/abi.hpp"

namespace fade::elf {
namespace {

using probes::Parameter;
using probes::Probe;
using probes::TypeClass;

constexpr std::size_t kMaxPrototype = 64;
constexpr int kMaxChildren = 1'000'000;  // children of a function, including variables and blocks

probes::Type address_type(std::string name) { return {TypeClass::Pointer, 8, std::move(name)}; }

// A copy that is separate from its inlined copies refers to the abstract one, which has all the parameters.
Dwarf_Die with_parameters(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  return ::dwarf_formref_die(::dwarf_attr(&function, DW_AT_abstract_origin, &attribute), &origin) ? origin : function;
}

Result<void> read_result(Dwarf_Die function, DwarfTypes& types, Probe& out) {
  if (!passed_by_address(function)) {
    const auto type = types.type_of(function);
    if (!type) return tl::unexpected(with_context("its result is not understood", type.error()));
    out.result = *type;
    return {};
  }
  // The caller passes the object's address before the parameters and gets the address back.
  out.result = address_type("result");
  Parameter place;
  place.name = "result";
  place.type = out.result;
  out.parameters.push_back(std::move(place));
  return {};
}

Result<void> read_parameter(Dwarf_Die die, DwarfTypes& types, Probe& out) {
  if (passed_as_nothing(die)) return {};
  Parameter parameter;
  parameter.name = name_of(die);
  if (parameter.name.empty()) parameter.name = fmt::format("arg{}", out.parameters.size() + 1);
  if (passed_by_address(die)) {
    parameter.type = address_type("by address");
  } else {
    const auto type = types.type_of(die);
    const auto doing = fmt::format("its parameter {} is not understood", parameter.name);
    if (!type) return tl::unexpected(with_context(doing, type.error()));
    if (type->cls == TypeClass::Void) return fail(fmt::format("its parameter {} has no type", parameter.name));
    parameter.type = *type;
  }
  out.parameters.push_back(std::move(parameter));
  return {};
}

Result<void> read_signature(Dwarf_Die function, Probe& out) {
  auto types = std::make_shared<probes::Types>(probes::basic_types());
  DwarfTypes reader(*types);
  if (auto done = read_result(function, reader, out); !done) return done;
  Result<void> read;
  for_each_child(with_parameters(function), kMaxChildren, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
    if (out.parameters.size() == kMaxPrototype) read = fail("it has too many parameters");
    else read = read_parameter(child, reader, out);
    return read.has_value();
  });
  if (!read) return read;
  if (auto done = probes::assign_locations(out, *types); !done) return done;
  out.types = std::move(types);
  return {};
}

void forget_signature(Probe& probe) {
  probe.parameters.clear();
  probe.result = {TypeClass::Unsigned, 8, ""};
  probe.known_signature = false;
  probe.stack_words = probe.sse_words = 0;
}

// "f.constprop.0", "f.isra.0", "f.part.0": copies by the compiler whose parameters differ from the description.
bool is_altered_copy(const std::string& symbol) {
  for (const char* mark : {".constprop.", ".isra.", ".part.", ".cold"})
    if (symbol.find(mark) != std::string::npos) return true;
  return false;
}

tl::unexpected<Error> no_such_function(const ElfFile& file, const std::string& function) {
  const auto near = file.symbols().near(function, 3);
  return fail(fmt::format("there is no function {} in {}", function, file.name()),
              file.symbols().all().empty() ? "the file has no symbols" : "",
              near.empty() ? "" : fmt::format("did you mean {}?", fmt::join(near, " or ")));
}

}  // namespace

Result<FunctionProbe> function_probe(ElfFile& file, const std::string& function, const std::string& debug_root) {
  file.attach_debug_file(debug_root);
  const auto dwarf = DwarfFile::open(file, debug_root);
  const FileSymbol* symbol = file.symbols().find(function);
  if (symbol && !symbol->function)
    return fail(fmt::format("cannot watch {} in {}", function, file.name()), "it is data, not a function");
  FunctionProbe out;
  std::optional<Dwarf_Die> die;
  if (symbol) {
    out.address = symbol->address;
    out.probe.symbol = symbol->name;
    if (dwarf && !symbol->ifunc) die = dwarf->function_at(symbol->address, function);
  } else {
    Dwarf_Addr address = 0;
    if (dwarf) die = dwarf->only_function_called(function);
    if (!die || ::dwarf_lowpc(&*die, &address) != 0) return no_such_function(file, function);
    out.address = address;
    out.probe.symbol = linkage_name(*die);
    if (out.probe.symbol.empty()) out.probe.symbol = function;
  }
  out.probe.api = out.probe.group = "user";
  out.probe.library = base_name(file.name());
  out.probe.origin = file.name();
  const std::string& name = out.probe.symbol;
  if (!dwarf) out.note = dwarf.error().sentence();
  else if (!die) out.note = fmt::format("the debug information of {} does not describe {}", file.name(), function);
  else if (is_altered_copy(name)) out.note = fmt::format("the compiler changed the parameters of {}", name);
  else if (const auto read = read_signature(*die, out.probe); !read) out.note = read.error().sentence();
  if (!out.note.empty()) forget_signature(out.probe);
  return out;
}

}  // namespace fade::elf
