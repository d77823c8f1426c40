// The rule by which the dynamic loader found a library (ld.so(8)). The name under which the loader opened the library
// shows the rule: the loader puts a folder of its search path, as written there, before the requested name. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fade::elf {

// A module that was loaded before and may have requested the library.
struct Asker {
  std::string path;  // of the module itself: its folder is $ORIGIN
  std::vector<std::string> needed;
  std::string rpath, runpath;
};

// The variables at the start of the program.
struct LoaderVariables {
  std::string library_path, preload, audit;
};

enum class FoundBy : std::uint8_t { Preload, Audit, Path, Rpath, LibraryPath, Runpath, System, Dlopen };
std::string_view word_for(FoundBy rule);  // "RPATH", "LD_LIBRARY_PATH" ...

struct Origin {
  FoundBy rule = FoundBy::Dlopen;  // Dlopen: no module has it in DT_NEEDED, and no rule explains its folder
  const Asker* asker = nullptr;    // the module that has it in DT_NEEDED; for Rpath and Runpath the owner of the path
};

// `opened`: the loader's name of the library. `before`: in load order, the program first. `other_space`: a namespace of
// dlmopen or of an auditor.
Origin origin_of(std::string_view opened, std::span<const Asker* const> before, const LoaderVariables& variables,
                 bool other_space);

// The folders of a list such as LD_LIBRARY_PATH or DT_RUNPATH, with $ORIGIN replaced; an empty folder is ".".
std::vector<std::string> folders_of(std::string_view list, std::string_view origin);

}  // namespace fade::elf
