#include "session/import_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/glob.hpp"
#include "session/library_names.hpp"
#include "session/process_facts.hpp"
#include "session/target_file.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostFilesRemembered = 4096;  // remembered
constexpr std::size_t kMostNotTaken = 8;
constexpr std::size_t kMostFolders = 64;
constexpr const char* kRocmRoots[] = {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"};

using State = ImportsBound::State;
using Variables = std::vector<std::pair<std::string, std::string>>;

std::string value_of(const Variables& variables, std::string_view name) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  return found == variables.end() ? std::string() : found->second;
}

// The folders from which a user with these variables expects libraries.
std::vector<std::string> expected_folders(const std::string& library_path, const Variables& variables) {
  auto out = elf::folders_of(library_path, {});
  for (const char* root : kRocmRoots)
    if (const std::string value = value_of(variables, root); !value.empty()) out.push_back(value + "/lib");
  out.push_back("/opt/rocm/lib");
  if (out.size() > kMostFolders) out.resize(kMostFolders);
  return out;
}

std::vector<std::string> files_not_taken(pid_t pid, const std::array<std::string, 2>& names, const TargetFile& taken,
                                         const std::vector<std::string>& folders) {
  std::vector<TargetFile> seen{taken};
  std::vector<std::string> out;
  for (const std::string& folder : folders)
    for (const std::string& name : names) {
      const auto file = name.empty() ? std::nullopt : look_at_file(pid, folder + "/" + name);
      if (!file || std::ranges::find(seen, *file) != seen.end() || out.size() == kMostNotTaken) continue;
      seen.push_back(*file);
      out.push_back(folder + "/" + file->real_name);
    }
  return out;
}

// Where the words of a module's slots lead to. Looks the last module up first: neighbours are mostly bound to one.
class Targets {
 public:
  explicit Targets(const Program& program) : program_(program) {}

  const Module* at(std::uint64_t address) {
    if (!last_ || !last_->span.contains({address})) last_ = program_.module_at({address});
    return last_;
  }

 private:
  const Program& program_;
  const Module* last_ = nullptr;
};

bool is_own(const Module& module, std::uint64_t word) { return module.span.contains({word}); }

// As the file has it: the loader has not come to this module yet.
bool is_unrelocated(const Module& module, std::uint64_t word) {
  return word != 0 && module.imports->bias != 0 && module.span.contains({module.imports->bias + word});
}

// The binding of a stub. A program that is not position independent may give its own PLT as the address of a function
// that it imports. nullopt: the address is not in its PLT.
std::optional<std::uint64_t> behind_stub(const Module& target, const std::string& name) {
  if (!target.imports || target.imports->words.empty()) return std::nullopt;
  std::optional<std::uint64_t> out;
  const auto& imports = target.imports->table->all();
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (imports[i].name == name && (!out || is_own(target, *out))) out = target.imports->words[i];
  return out;
}

struct Bound {
  State state = State::Bound;
  ModuleId target = 0;
};

Bound bound_to(const Module& module, const std::string& name, std::uint64_t word, Targets& targets) {
  if (word == 0) return {State::Absent, 0};
  if (is_own(module, word)) return {State::NotYet, 0};
  const Module* target = targets.at(word);
  if (!target) return {};
  if (const auto behind = behind_stub(*target, name)) {
    if (*behind == 0 || is_own(*target, *behind)) return {State::NotYet, 0};
    target = targets.at(*behind);
  }
  return {State::Bound, target ? target->id : 0};
}

}  // namespace

const ImportWatch::FileFacts& ImportWatch::facts_of(const Memory& memory, const Module& module,
                                                    const elf::DynamicImage& image, const std::string& build_id) {
  if (files_.size() >= kMostFilesRemembered) files_.clear();
  const std::string& name = module.entry.name.empty() ? module.path : module.entry.name;
  const auto [at, is_new] = files_.try_emplace(fmt::format("{}\n{}\n{}", name, build_id, image.span().size()));
  if (!is_new) return at->second;
  at->second.links =
      std::make_shared<const elf::Asker>(elf::Asker{name, image.needed(), image.rpath(), image.runpath()});
  auto table = elf::ImportTable::read(memory, image, [](std::string_view symbol) { return !api_of(symbol).empty(); });
  if (!table.all().empty()) at->second.table = std::make_shared<const elf::ImportTable>(std::move(table));
  return at->second;
}

void ImportWatch::loaded(const Inferior& inferior, Module& module, const elf::DynamicImage& image,
                         const std::string& soname, const std::string& build_id) {
  const FileFacts& facts = facts_of(image.memory(), module, image, build_id);
  module.links = facts.links;
  if (facts.table)
    module.imports = std::make_shared<ModuleImports>(ModuleImports{.table = facts.table, .bias = image.bias()});
  if (facts.table || !family_of(soname, module.entry.name).name.empty()) tell_origin(inferior, module, soname);
}

void ImportWatch::tell_origin(const Inferior& inferior, Module& module, const std::string& soname) {
  if (!module.links || std::exchange(module.origin_reported, true)) return;
  const LoaderView& view = loader_view(inferior);
  const std::string& opened = module.entry.name;
  const LibraryFamily family = family_of(soname, opened);
  ModuleOrigin out{.module = module.id,
                   .space = module.entry.space,
                   .family = std::string(family.name),
                   .kind = std::string(family.kind),
                   .rpath = module.links->rpath,
                   .runpath = module.links->runpath};
  if (!opened.empty()) tell_rule(*inferior.program, module, view, out);
  const auto file = family.name.empty() ? std::nullopt : look_at_file(inferior.pid, opened);
  if (file) out.version = version_in(file->real_name);
  if (file && (family.kind == "rocm" || family.kind == "cuda"))
    out.not_taken =
        files_not_taken(inferior.pid, {std::string(base_name(opened)), soname}, *file, view.expected_folders);
  if (family.kind == "rocm") out.rocm = rocm_release(family.name, module.path, out.version);
  sink_.notice(std::move(out));
}

void ImportWatch::tell_rule(const Program& program, const Module& module, const LoaderView& view, ModuleOrigin& out) {
  std::vector<const elf::Asker*> before;
  std::vector<ModuleId> ids;
  for (const Module& other : program.modules) {
    if (other.id == module.id || !other.links || other.entry.space != module.entry.space) continue;
    before.push_back(other.links.get());
    ids.push_back(other.id);
  }
  const elf::Origin origin = elf::origin_of(module.entry.name, before, view.variables, module.entry.space != 0);
  out.rule = elf::word_for(origin.rule);
  const auto asker = std::ranges::find(before, origin.asker);
  if (asker != before.end()) out.asker = ids[static_cast<std::size_t>(asker - before.begin())];
}

// The environment of the program's begin: the loader does not look at it again.
const LoaderView& ImportWatch::loader_view(const Inferior& inferior) {
  auto& view = inferior.program->loader_view;
  if (view) return *view;
  const Variables variables = read_process_facts(inferior.pid).environment;
  LoaderView made{
      {value_of(variables, "LD_LIBRARY_PATH"), value_of(variables, "LD_PRELOAD"), value_of(variables, "LD_AUDIT")}, {}};
  made.expected_folders = expected_folders(made.variables.library_path, variables);
  return *(view = std::make_shared<const LoaderView>(std::move(made)));
}

void ImportWatch::look(const Inferior& inferior, bool all) {
  for (Module& module : inferior.program->modules)
    if (module.imports && (all || !module.imports->is_settled)) read(inferior, module, all);
}

void ImportWatch::look_at_caller(const Inferior& inferior) {
  const RemoteAddr caller = std::exchange(inferior.program->new_caller, RemoteAddr{});
  if (!caller) return;
  for (Module& module : inferior.program->modules)
    if (module.span.contains(caller) && module.imports && !module.imports->is_settled)
      return read(inferior, module, false);
}

void ImportWatch::read(const Inferior& inferior, Module& module, bool all) {
  ModuleImports& imports = *module.imports;
  auto words = imports.table->words(inferior.memory(), imports.bias);
  if (!words || *words == imports.words) return;
  const bool has_any = std::ranges::any_of(*words, [](std::uint64_t word) { return word != 0; });
  if (std::ranges::any_of(*words, [&](std::uint64_t word) { return is_unrelocated(module, word); }) ||
      (!has_any && !all))
    return;
  imports.words = std::move(*words);
  imports.is_settled =
      std::ranges::none_of(imports.words, [&](std::uint64_t word) { return word == 0 || is_own(module, word); });
  tell_bindings(inferior, module);
}

void ImportWatch::tell_bindings(const Inferior& inferior, const Module& module) {
  Targets targets(*inferior.program);
  std::map<std::tuple<std::string_view, State, ModuleId>, std::vector<std::string>> groups;
  const auto& imports = module.imports->table->all();
  for (std::size_t i = 0; i < imports.size(); ++i) {
    const Bound bound = bound_to(module, imports[i].name, module.imports->words[i], targets);
    groups[{api_of(imports[i].name), bound.state, bound.target}].push_back(imports[i].name);
  }
  ImportsBound out{.module = module.id, .at = clock_.now()};
  for (auto& [key, names] : groups) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    out.groups.push_back({std::string(std::get<0>(key)), std::get<1>(key), std::get<2>(key), std::move(names)});
  }
  for (Module& target : inferior.program->modules)
    if (std::ranges::find(out.groups, target.id, &ImportsBound::Group::target) != out.groups.end())
      tell_origin(inferior, target, {});
  sink_.notice(std::move(out));
}

}  // namespace fade
