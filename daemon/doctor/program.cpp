#include <fmt/format.h>
#include <sys/stat.h>

#include "base/glob.hpp"
#include "doctor/checks.hpp"
#include "doctor/places.hpp"
#include "supervisor/program_kind.hpp"

namespace fade::doctor {
namespace {

bool is_set_id(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && (file.st_mode & (S_ISUID | S_ISGID)) != 0;
}

std::string words_for(const Examined& x, const std::string& file) {
  return file == x.program ? file : fmt::format("{}, run by {}", x.program, file);
}

// A copy of HIP that the loader does not look at is the usual case.
std::string way_to(const std::string& name, const std::vector<Copy>& copies) {
  for (const Copy& copy : copies)
    if (copy.soname == name || base_name(copy.path) == name)
      return fmt::format("LD_LIBRARY_PATH={} fade run -- ...", copy.path.substr(0, copy.path.rfind('/')));
  return "LD_LIBRARY_PATH must name its folder, or: sudo ldconfig FOLDER";
}

}  // namespace

Answers program_file(const Examined& x) {
  if (!x.refused.empty()) return {problem(x.refused, "give its path: fade doctor -- ./COMMAND")};
  const std::string file = executed(x), words = words_for(x, file);
  if (is_set_id(x.root + file))
    return {warning(words + ": a set-uid program runs unwatched, and without its privileges if fade is not root",
                    "sudo fade run ...")};
  switch (program_kind(x.root + file)) {
    case ProgramKind::Dynamic: return {ok(words)};
    case ProgramKind::Static: return {problem(words + ": a static program cannot load HIP", "link it dynamically")};
    case ProgramKind::Bits32:
      return {problem(words + ": a 32-bit program; fade watches 64-bit ones", "build it for x86-64")};
    case ProgramKind::Other: return {problem(words + ": no program for 64-bit x86", "name the program that runs it")};
    case ProgramKind::Unreadable: break;
  }
  return {warning(words + ": the file may not be read, so fade finds no functions in it", "chmod +r on the file")};
}

Answers program_libraries(const Examined& x) {
  if (!x.refused.empty()) return {};
  const elf::LibrarySearch search = library_search(x);
  const auto all = search.libraries_of(search.real_path(executed(x)));
  Answers out;
  for (const elf::FoundLibrary& one : all)
    if (one.path.empty())
      out.push_back(problem(fmt::format("{} is not found; {} needs it", one.name, base_name(one.asker)),
                            way_to(one.name, hip_copies_on(x, search))));
  if (out.empty()) out.push_back(ok(fmt::format("{} are loaded with it, and all are found", all.size())));
  return out;
}

}  // namespace fade::doctor
