// By which rule the dynamic loader took a library from where it did (ld.so(8)). Told from the name under which the loader
// opened it: the loader puts the folder of its search path, as written there, before the name that was asked for. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fade::elf {

// A module that was loaded before and may have asked.
struct Asker {
  std::string path;  // of the module itself: its folder is $ORIGIN
  std::vector<std::string> needed;
  std::string rpath, runpath;
};

// As the program's environment was when it began.
struct LoaderVariables {
  std::string library_path, preload, audit;
};

enum class FoundBy : std::uint8_t { Preload, Audit, Path, Rpath, LibraryPath, Runpath, System, Dlopen };
std::string_view word_for(FoundBy rule);  // "RPATH", "LD_LIBRARY_PATH" ...

struct Origin {
  FoundBy rule = FoundBy::Dlopen;  // Dlopen: nobody needs it by name, and no rule explains its folder
  const Asker* asker = nullptr;    // who has it in DT_NEEDED, or for Rpath and Runpath whose path it was
};

// `opened`: the loader's name for it. `before`: in load order, the program first. `other_space`: dlmopen's or an auditor's.
Origin origin_of(std::string_view opened, std::span<const Asker* const> before, const LoaderVariables& variables, bool other_space);

// The folders of a list such as LD_LIBRARY_PATH or DT_RUNPATH, with $ORIGIN put in; an empty one is ".".
std::vector<std::string> folders_of(std::string_view list, std::string_view origin);

}  // namespace fade::elf
