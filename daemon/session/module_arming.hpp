// Arms the wanted functions of loaded modules, and the functions of libc through which a program speaks about signals.
// Counts the armed and the refused functions. Tracing thread only.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "elf/dynamic_image.hpp"
#include "session/engines.hpp"
#include "session/export_table.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/module_wishes.hpp"
#include "session/named_code.hpp"

namespace fade {

class ModuleArming {
 public:
  ModuleArming(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const Engines& engines,
               ModuleWishes& wishes)
      : sink_(sink), clock_(clock), functions_(functions), engines_(engines), wishes_(wishes) {}

  // The guards of libc (TrapGuard). Nothing is done if the module is not libc. `stopped`: a thread, or kNobody, here
  // and below.
  void arm_libc(Inferior& inferior, Tid stopped, const elf::DynamicImage& image);
  // The wanted functions of a module. Returns how many are watched now, and were not before.
  std::uint32_t arm_all(Inferior& inferior, Tid stopped, const elf::DynamicImage& image, const ModuleFacts& module);
  // An IFUNC resolver returned where its function is.
  void resolved(Inferior& inferior, const Thread& thread, const Entry& resolver, RemoteAddr implementation);
  // A call returned a table of functions.
  void table_given(Inferior& inferior, const Thread& thread, const Entry& giver, const TableGiven& table);

  std::uint64_t armed() const { return armed_; }
  std::string refusals() const;  // how many functions were refused, in a sentence; empty: none

 private:
  bool guard(const Inferior& inferior, Tid stopped, RemoteAddr address, std::uint32_t entry, const std::string& name,
             Guard guard);
  std::uint32_t watch(Inferior& inferior, Tid stopped, std::span<const WatchedFunction> functions);
  std::uint32_t watch(Inferior& inferior, Tid stopped, RemoteAddr function, std::uint32_t entry);
  std::unordered_set<RemoteAddr> branches_behind_entries(const AddressSpace& space, const elf::DynamicImage& image,
                                                         const std::vector<NamedCode>& wanted,
                                                         const Memory& text) const;
  std::vector<WatchedFunction> code_of_wanted(const AddressSpace& space, const elf::DynamicImage& image,
                                              const std::vector<elf::DynamicSymbol>& functions,
                                              const std::vector<NamedCode>& wanted, bool may_jump, bool has_run) const;
  void tell_operators(const Inferior& inferior, const ModuleFacts& module, const std::vector<NamedCode>& wanted);
  void refuse(const Inferior& inferior, const std::string& what, const std::string& why, std::uint64_t functions = 1);
  void note(const Inferior& inferior, std::string kind, std::string detail) const;

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  const Engines& engines_;
  ModuleWishes& wishes_;
  std::set<std::string> unread_tables_;
  std::uint64_t armed_ = 0, refused_ = 0;
  std::string first_refusal_;
};

}  // namespace fade
