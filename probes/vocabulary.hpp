// The words after @ in .probes files and in listings: kinds of calls, roles of parameters and effects on memory.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"

namespace fade::probes {

std::optional<Role> role_named(std::string_view word);
std::optional<Kind> kind_named(std::string_view word);
std::string_view word_for(Role role);  // empty for None
std::string_view word_for(Kind kind);
std::vector<std::string> role_words();
std::vector<std::string> kind_words();

// The words inside @memory( ).
std::optional<MemoryAct> memory_act_named(std::string_view word);
std::optional<MemoryKind> memory_kind_named(std::string_view word);
std::optional<MemorySpace> memory_space_named(std::string_view word);
std::vector<std::string> memory_act_words();
std::vector<std::string> memory_kind_words();
std::vector<std::string> memory_space_words();
// The sort of value that names memory of this kind unless the note says otherwise.
MemorySpace usual_space(MemoryKind kind);
// The note that gives this action, "@memory(allocate, managed)"; empty if the function has none.
std::string memory_note(const MemoryAction& action);

}  // namespace fade::probes
