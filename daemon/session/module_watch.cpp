#include "session/module_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/glob.hpp"
#include "base/log.hpp"
#include "base/page_cache.hpp"
#include "elf/dwarf_prototype.hpp"
#include "elf/elf_file.hpp"
#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "session/cuda_runtime.hpp"
#include "session/named_code.hpp"
#include "session/program_stacks.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

// The exports by which a GPU library is recognised, whatever its file is called.
struct Recognition {
  const char* role;
  std::array<const char*, 2> exports;
  const char* needs;  // and be linked with; null: nothing
};
constexpr Recognition kRecognised[] = {
    {"hip", {"hipGetDeviceCount", "hipMalloc"}, nullptr},
    {"hiprtc", {"hiprtcCompileProgram", "hiprtcCreateProgram"}, nullptr},
    {"zluda", {"cuInit", "cuDeviceGetCount"}, "libamdhip64*"},  // CUDA's driver API on HIP
    {"cuda", {"cuInit", "cuDeviceGetCount"}, nullptr},          // NVIDIA's driver, or a library in front of another
    {"cudart", {"cudaMalloc", "__cudaRegisterFatBinary"}, nullptr},  // CUDA's runtime, above either of them
    {"nvml", {"nvmlInit_v2", "nvmlDeviceGetCount_v2"}, nullptr},
    {"roctx", {"roctxRangePushA", "roctxRangePop"}, nullptr},
    {"nvtx", {"nvtxRangePushA", "nvtxRangePop"}, nullptr},
};

// Libraries by which programs mark their own work. They say nothing about the GPU.
bool is_of_markers(const std::string& role) { return role == "roctx" || role == "nvtx"; }

bool is_linked_with(const elf::DynamicImage& image, const char* pattern) {
  return std::ranges::any_of(image.needed(), [&](const std::string& name) { return glob_match(pattern, name); });
}

std::string role_of(const elf::DynamicImage& image) {
  for (const auto& [role, exports, needs] : kRecognised)
    if (image.lookup(exports[0]) && image.lookup(exports[1]) && (!needs || is_linked_with(image, needs))) return role;
  return {};
}

// "libamdhip64.so.6" -> 6, also for wheels: their file name has no number but their soname has. Without both numbers
// the exports show it: the R0600 form came with 6, hipLaunchKernelExC with 7.
int library_major(const elf::DynamicImage& image, const std::string& soname) {
  const auto at = soname.find(".so.");
  int major = 0;
  if (at != std::string::npos) std::from_chars(soname.data() + at + 4, soname.data() + soname.size(), major);
  if (major > 0) return major;
  if (image.lookup("hipLaunchKernelExC")) return 7;
  return image.lookup("hipGetDevicePropertiesR0600") ? 6 : 5;
}

std::string version_in(const std::string& path) {
  const auto at = path.rfind(".so.");
  return at == std::string::npos ? std::string() : path.substr(at + 4);
}

// Not the answer of /proc if the loader was started by hand, with the program as its argument.
std::string program_path(pid_t pid, const elf::Maps& maps, RemoteAddr begin) {
  const elf::Mapping* mapping = maps.find(begin);
  return mapping && mapping->has_file() ? mapping->path : read_process_facts(pid).exe;
}

// Bytes from one function to the next, which are sorted by address.
std::uint64_t up_to_next(const std::vector<elf::DynamicSymbol>& functions, std::uint64_t offset) {
  const auto next = std::ranges::upper_bound(functions, offset, {}, &elf::DynamicSymbol::offset);
  return (next == functions.end() ? offset + kSlotSize : next->offset) - offset;
}

bool matches(const SymbolRequest& request, const std::string& path, const std::string& soname) {
  return glob_match(request.library, std::string(base_name(path))) || glob_match(request.library, soname) ||
         request.library == path;
}

Result<elf::DynamicImage> image_of(const Inferior& inferior, const elf::LinkMapEntry& entry, const Memory& memory) {
  auto image = elf::DynamicImage::open(memory, {entry.l_addr});
  if (image || !entry.name.empty()) return image;
  // The program itself where it is not position independent: its header is not at its bias.
  const auto facts = read_auxiliary_vector(inferior.pid, memory);
  return facts ? elf::DynamicImage::open_program(memory, facts->program_headers, facts->program_header_count) : image;
}

}  // namespace

struct ModuleWatch::Found {
  std::string path, soname, role, version, build_id;
  int major = 0;
  bool wanted = false;  // something in it is to be armed
};

ModuleWatch::ModuleWatch(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const Engines& engines,
                         Wishes wishes)
    : sink_(sink),
      clock_(clock),
      functions_(functions),
      engines_(engines),
      wishes_(std::move(wishes)),
      fulfilled_(wishes_.symbols.size()) {
  for (const auto& probe : wishes_.probes) by_symbol_.emplace(probe->symbol, probe);
}

void ModuleWatch::note(const Inferior& inferior, std::string kind, std::string detail, std::int64_t value) {
  sink_.notice(Lifecycle{clock_.now(), inferior.id, 0, std::move(kind), value, std::move(detail)});
}

Result<void> ModuleWatch::begin(Inferior& inferior, pid_t stopped, const AuxiliaryVector& facts) {
  Program& program = *inferior.program;
  const Memory& memory = program.space->memory();
  const auto loader = elf::find_loader(memory, facts.loader_base);
  if (!loader) return tl::unexpected(loader.error());
  const auto image = elf::DynamicImage::open(memory, facts.loader_base);
  if (!image) return tl::unexpected(image.error());
  const auto gadget = find_first_gadget(memory, facts.loader_base);
  if (!gadget) return tl::unexpected(gadget.error());
  if (auto net = program.space->install_net(stopped, {*gadget, {}}, image->span()); !net) return net;
  return watch_loader(program, stopped, *loader);
}

Result<void> ModuleWatch::watch_loader(Program& program, pid_t stopped, const elf::Loader& loader) {
  const auto site = program.space->arm(loader.debug_state, stopped, Guard::Loader);
  if (!site) return tl::unexpected(site.error());
  use_as_entry(**site, functions_.loader());
  program.link_map.emplace(loader.r_debug);
  return {};
}

Result<void> ModuleWatch::lay_net(Inferior& inferior, const Thread& stopped, const Foothold& foothold) {
  AddressSpace& space = inferior.space();
  const auto left = space.take_over(stopped.tid);
  if (!left) return tl::unexpected(left.error());
  if (*left) {
    inferior.had_leftovers = true;
    note(inferior, "repaired",
         fmt::format("{} {} breakpoints, {} of them in force",
                     inferior.is_untraced ? "it was made with" : "a fade that was killed had left", (*left)->sites,
                     (*left)->put_back));
  } else if (auto net = space.install_net(stopped.tid, foothold.gadgets, foothold.loader_span); !net) {
    return net;
  }
  space.trap_signal().set_restorer(foothold.gadgets.sigreturn, stopped.tid);
  return {};
}

Result<void> ModuleWatch::enter(Inferior& inferior, const Thread& stopped, const Foothold& foothold) {
  AddressSpace& space = inferior.space();
  for (const RemoteRange& module : foothold.modules)
    if (const auto done = space.reserve(module, stopped.tid); !done) log::debug("{}", done.error().text());
  if (const auto libc = elf::DynamicImage::open(space.memory(), foothold.libc)) arm_libc(inferior, stopped.tid, *libc);
  return watch_loader(*inferior.program, stopped.tid, foothold.loader);
}

void ModuleWatch::arm_loaded(Inferior& inferior, pid_t stopped) {
  Program& program = *inferior.program;
  const PageCache memory(program.space->memory());
  const auto loaded = program.link_map->reread(memory);
  program.is_list_doubtful = !loaded || loaded->damaged;
  if (!loaded) return note(inferior, "note", loaded.error().text());
  is_arriving_ = true;
  changed(program);
  add_all(inferior, stopped, loaded->added, memory);
  is_arriving_ = false;
  look_for_cuda_runtime(inferior);
  for (Module& module : program.modules) module.reserved = true;  // enter() did
  imports_.look(inferior, false);
}

void ModuleWatch::loader_stopped(Inferior& inferior, const Thread& thread) {
  Program& program = *inferior.program;
  if (!program.link_map) return;
  const PageCache memory(program.space->memory());
  const auto change = program.link_map->update(memory);
  program.is_list_doubtful |= !change || change->damaged;
  if (!change) return note(inferior, "note", change.error().text());
  if (!change->removed.empty() || !change->added.empty()) changed(program);
  for (const auto& entry : change->removed) remove(inferior, thread, entry);
  add_all(inferior, thread.tid, change->added, memory);
  if (!change->added.empty()) look_for_cuda_runtime(inferior);
  reserve_slots(program, thread);
  if (change->state != elf::LoaderState::Adding) imports_.look(inferior, false);  // also when it is about to unload
  if (change->damaged) note(inferior, "note", "the dynamic loader's list of modules is damaged: some may be missing");
}

// libc first: if fade dies in between, no program may have a breakpoint and still be able to block SIGTRAP.
void ModuleWatch::add_all(Inferior& inferior, pid_t stopped, const std::vector<elf::LinkMapEntry>& entries,
                          const Memory& memory) {
  std::vector<Result<elf::DynamicImage>> images;
  for (const auto& entry : entries) {
    images.push_back(image_of(inferior, entry, memory));
    if (images.back()) arm_libc(inferior, stopped, *images.back());
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (images[i]) add(inferior, stopped, entries[i], *images[i]);
}

void ModuleWatch::add(Inferior& inferior, pid_t stopped, const elf::LinkMapEntry& entry,
                      const elf::DynamicImage& image) {
  const Found found = look(inferior, entry, image);
  Module module{.id = ++last_module_,
                .entry = entry,
                .span = image.span(),
                .path = found.path,
                .role = found.role,
                .watched = found.wanted};
  inferior.program->modules.push_back(module);
  const std::uint32_t sites = found.wanted ? arm_all(inferior, stopped, image, found) : 0;
  sink_.notice(
      ModuleLoaded{.module = module.id,
                   .process = inferior.id,
                   .at = clock_.now(),
                   .path = found.path,
                   .soname = found.soname,
                   .build_id = found.build_id,
                   .role = found.role,
                   .version = found.version,
                   .base = image.span().begin.value,
                   .size = image.span().size(),
                   .sites = sites,
                   .file = wishes_.files ? files_.of(living_thread(inferior.pid), module.span.begin) : nullptr});
  imports_.loaded(inferior, inferior.program->modules.back(), image, found.soname, found.build_id);
  if (found.role.empty() || is_of_markers(found.role)) return;
  std::string name = found.path + (found.version.empty() ? "" : " (" + found.version + ")");
  if (std::ranges::find(libraries_, name) == libraries_.end()) libraries_.push_back(std::move(name));
}

// From when CUDA's driver API is there: only then files are worth a look.
void ModuleWatch::look_for_cuda_runtime(const Inferior& inferior) {
  auto& modules = inferior.program->modules;
  if (std::ranges::all_of(modules, &Module::kernels_looked_for) ||
      !std::ranges::any_of(modules, [](const Module& m) { return m.role == "zluda" || m.role == "cuda"; }))
    return;
  const auto maps = elf::read_maps(inferior.pid);
  for (Module& module : modules)
    if (!std::exchange(module.kernels_looked_for, true) && maps && has_cuda_runtime_inside(inferior.pid, *maps, module))
      note(inferior, "static-cudart", module.path);
}

// The known facts about the program's memory are out of date.
void ModuleWatch::changed(Program& program) {
  files_.look_again();
  if (program.stacks) program.stacks->code().changed();
}

// Calls may come from any module: a slot area near each, while the program still lets us map one.
void ModuleWatch::reserve_slots(Program& program, const Thread& thread) {
  if (!std::ranges::any_of(program.modules, [](const Module& m) { return m.watched; })) return;
  for (Module& module : program.modules) {
    if (std::exchange(module.reserved, true)) continue;
    if (const auto done = program.space->reserve(module.span, thread.tid); !done)
      log::debug("{}: {}", module.path, done.error().text());
  }
}

ModuleWatch::Found ModuleWatch::look(Inferior& inferior, const elf::LinkMapEntry& entry,
                                     const elf::DynamicImage& image) {
  Found found{.path = entry.name, .soname = image.soname(), .role = role_of(image), .build_id = image.build_id()};
  if (entry.name.empty()) found.path = program_path(inferior.pid, files_.maps(inferior.pid), image.span().begin);
  found.wanted = !found.role.empty() || std::ranges::any_of(wishes_.symbols, [&](const SymbolRequest& request) {
    return matches(request, found.path, found.soname);
  }) || std::ranges::any_of(wishes_.probes, [&](const probes::ProbePtr& probe) {
    return !probe->library.empty() && matches({probe->library, {}}, found.path, found.soname);
  });
  if (!found.wanted) return found;
  // The link map has the name the loader used; the version stands in the name behind the symbolic links.
  if (const elf::Mapping* mapping = files_.maps(inferior.pid).find(image.span().begin);
      mapping && mapping->has_file()) {
    found.version = version_in(mapping->path);
    found.path = mapping->path;
  }
  if (found.role.starts_with("hip")) found.major = library_major(image, found.soname);
  return found;
}

// Where the program speaks about signals (TrapGuard).
void ModuleWatch::arm_libc(Inferior& inferior, pid_t stopped, const elf::DynamicImage& image) {
  if (!image.lookup("__libc_start_main")) return;
  inferior.program->libc = {image.bias()};
  const std::tuple<const char*, std::uint32_t, Guard> wanted[] = {
      {"sigaction", functions_.set_action(), Guard::Sigaction},
      {"pthread_sigmask", functions_.set_mask(), Guard::Sigmask}};
  bool is_guarded = true;
  for (const auto& [name, entry, kind] : wanted) {
    const auto symbol = image.lookup(name);
    is_guarded &= symbol && guard(inferior, stopped, image.address(*symbol), entry, name, kind);
  }
  AddressSpace& space = inferior.space();
  if (is_guarded) space.set_guarded(true, stopped);
  const auto system_call = image.lookup("syscall");
  const auto place = system_call ? behind_system_call(space.memory(), image.address(*system_call)) : std::nullopt;
  if (place && !space.arm(*place, stopped, Guard::Clone)) log::debug("libc's syscall(2) stays as it is");
}

bool ModuleWatch::guard(const Inferior& inferior, pid_t stopped, RemoteAddr address, std::uint32_t entry,
                        const std::string& name, Guard guard) {
  const auto site = inferior.space().arm(address, stopped, guard);
  if (!site) refuse(inferior, name, site.error().message);
  if (!site || SiteUse::of(**site).entry != 0) return false;
  use_as_entry(**site, entry);
  return true;
}

// Returns how many are watched now, and were not before.
std::uint32_t ModuleWatch::watch(Inferior& inferior, pid_t stopped, std::span<const WatchedFunction> functions) {
  std::uint32_t watched = 0;
  const auto done = engines_.watch(inferior, functions, stopped);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (!done[i]) refuse(inferior, functions_[functions[i].entry].probe->symbol, done[i].error().message);
    watched += done[i].value_or(false);
  }
  return watched;
}

std::uint32_t ModuleWatch::watch(Inferior& inferior, pid_t stopped, RemoteAddr function, std::uint32_t entry) {
  const WatchedFunction one{entry, FunctionEntry::read(inferior.memory(), function, 0)};
  return watch(inferior, stopped, std::span(&one, 1));
}

// Whether no thread can have executed anything of a module that the loader has just told of: the only one stands in the
// loader, or the loader has yet to make it usable.
bool ModuleWatch::is_untouched(const Inferior& inferior, const elf::DynamicImage& image) const {
  if (is_arriving_ || inferior.program->is_list_doubtful) return false;
  return image.is_unrelocated().value_or(false) ||
         (inferior.program.use_count() == 1 && read_thread_ids(inferior.pid).size() == 1);
}

// The targets of the library's branches that a jump would overwrite. Not known for a library with very much text.
std::unordered_set<RemoteAddr> ModuleWatch::branches_behind_entries(const AddressSpace& space,
                                                                    const elf::DynamicImage& image,
                                                                    const std::vector<elf::DynamicSymbol>& functions,
                                                                    const Memory& text) const {
  constexpr std::uint64_t kPiece = 1 << 20, kLongest = 16, kMostText = 64 << 20;
  std::unordered_set<RemoteAddr> covered, out;
  for (const auto& function : functions)
    if (!function.ifunc && by_symbol_.contains(function.name))
      for (const RemoteAddr start :
           under_jump(FunctionEntry::read(text, image.address(function), kSlotSize), space.sites()))
        covered.insert(start);
  std::vector<std::uint8_t> piece(kPiece + kLongest);
  std::uint64_t seen = 0;
  for (const elf::Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    if ((seen += segment.range.size()) > kMostText || seen < segment.range.size()) return covered;
    for (RemoteAddr at = segment.range.begin; at < segment.range.end; at = at + kPiece) {
      const std::size_t wanted = std::min<std::uint64_t>(piece.size(), segment.range.end - at);
      const std::size_t got = space.memory().read(at, std::as_writable_bytes(std::span(piece).first(wanted)));
      if (got < wanted) return covered;  // not seen: all may be
      out.merge(branched_to(std::span(piece).first(got), at, covered));
    }
  }
  return out;
}

// The index of the function is left open.
std::vector<WatchedFunction> ModuleWatch::code_of_wanted(const AddressSpace& space, const elf::DynamicImage& image,
                                                         const std::vector<elf::DynamicSymbol>& functions,
                                                         const std::vector<NamedCode>& wanted, bool may_jump) const {
  const PageCache text(space.memory());
  const auto branches =
      may_jump ? branches_behind_entries(space, image, functions, text) : std::unordered_set<RemoteAddr>();
  const auto is_branched_to = [&](RemoteAddr function) {  // wherever in it the jump would be
    for (std::uint64_t i = 1; i < kEndbr64.size() + kJumpSize; ++i)
      if (branches.contains(function + i)) return true;
    return false;
  };
  std::vector<WatchedFunction> out;
  for (const NamedCode& code : wanted) {
    const RemoteAddr address{image.bias() + code.offset};
    const std::uint64_t untouched =
        may_jump && !code.ifunc && !is_branched_to(address) ? up_to_next(functions, code.offset) : 0;
    out.push_back({0, FunctionEntry::read(text, address, untouched)});
    out.back().code.stack_words = code.probe->stack_words;
  }
  return out;
}

void ModuleWatch::refuse(const Inferior& inferior, const std::string& what, const std::string& why,
                         std::uint64_t functions) {
  note(inferior, "refused", fmt::format("{}: {}", what, why));
  if (refused_ == 0) first_refusal_ = fmt::format("{}: {}", what, why);
  refused_ += functions;
}

// The wanted probe of a function of that name in this library; null: none.
probes::ProbePtr ModuleWatch::probe_for(const std::string& name, const Found& found) const {
  const auto [begin, end] = by_symbol_.equal_range(name);
  for (auto it = begin; it != end; ++it) {
    const std::string& library = it->second->library;
    if (library.empty() ? !found.role.empty() : matches({library, {}}, found.path, found.soname)) return it->second;
  }
  return nullptr;
}

std::uint32_t ModuleWatch::arm_all(Inferior& inferior, pid_t stopped, const elf::DynamicImage& image,
                                   const Found& found) {
  std::uint32_t sites = 0, chosen_before = 0;
  const auto functions = image.all_functions();
  const std::vector<NamedCode> wanted =
      code_of(functions, [&](const std::string& name) { return probe_for(name, found); });
  const bool may_jump = !found.role.empty() && is_untouched(inferior, image);
  auto watched = code_of_wanted(inferior.space(), image, functions, wanted, may_jump);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const NamedCode& code = wanted[i];
    watched[i].entry = code.ifunc ? functions_.resolver(code.probe, found.path, found.major)
                                  : functions_.function(code.probe, found.path, found.major, code.other_names);
    chosen_before += code.ifunc && is_arriving_;
  }
  sites += watch(inferior, stopped, watched);
  if (chosen_before > 0)
    refuse(inferior, fmt::format("{} functions of {}", chosen_before, found.path),
           "they are IFUNCs; what callers have been bound to before fade came is not seen", chosen_before);
  std::map<std::string, RemoteAddr> addresses;
  for (const auto& probe : requested(inferior, image, found, addresses))
    sites += watch(inferior, stopped, addresses[probe->symbol], functions_.function(probe, found.path, found.major));
  armed_ += sites;
  return sites;
}

// Functions asked for by name only: their signature comes from the library's own debug information.
std::vector<probes::ProbePtr> ModuleWatch::requested(const Inferior& inferior, const elf::DynamicImage& image,
                                                     const Found& found, std::map<std::string, RemoteAddr>& addresses) {
  std::vector<probes::ProbePtr> out;
  std::optional<elf::ElfFile> file;
  for (std::size_t i = 0; i < wishes_.symbols.size(); ++i) {
    const SymbolRequest& request = wishes_.symbols[i];
    if (!matches(request, found.path, found.soname)) continue;
    if (!file) {
      const auto maps = elf::read_maps(inferior.pid);
      const elf::Mapping* mapping = maps ? maps->find(image.span().begin) : nullptr;
      auto fd = mapping ? elf::open_mapped_file(inferior.pid, *mapping) : fail("nothing is mapped there");
      if (!fd) {
        note(inferior, "refused", fd.error().text());
        return out;
      }
      auto opened = elf::ElfFile::open(std::move(*fd), found.path);
      if (!opened) {
        note(inferior, "refused", opened.error().text());
        return out;
      }
      file = std::move(*opened);
    }
    auto found_function = elf::function_probe(*file, request.function);
    if (!found_function) {
      note(inferior, "refused", found_function.error().text());
      continue;
    }
    if (!found_function->note.empty()) note(inferior, "note", found_function->note);
    fulfilled_[i] = true;
    addresses[found_function->probe.symbol] = {image.bias() + found_function->address};
    out.push_back(std::make_shared<const probes::Probe>(std::move(found_function->probe)));
  }
  return out;
}

void ModuleWatch::resolved(Inferior& inferior, const Thread& thread, const Entry& resolver, RemoteAddr implementation) {
  const auto function = functions_.function(resolver.probe, resolver.library, resolver.library_major);
  armed_ += watch(inferior, thread.tid, implementation, function);
}

void ModuleWatch::table_given(Inferior& inferior, const Thread& thread, const Entry& giver, const TableGiven& table) {
  const Module* module = inferior.program->module_at(table.at);
  if (!module || module->path != giver.library) return;
  const auto functions = read_table(inferior.memory(), *module, table);
  if (!functions) {
    if (unread_tables_.insert(table.id).second) note(inferior, "note", functions.error().message);
    return;
  }
  for (const TableFunction& function : *functions) {
    const auto entry =
        functions_.function(table_probe(*giver.probe, table, function.index), giver.library, giver.library_major);
    armed_ += watch(inferior, thread.tid, function.address, entry);
  }
}

void ModuleWatch::remove(Inferior& inferior, const Thread& thread, const elf::LinkMapEntry& entry) {
  auto& modules = inferior.program->modules;
  const auto it = std::ranges::find_if(
      modules, [&](const Module& m) { return m.entry.at == entry.at && m.entry.l_addr == entry.l_addr; });
  if (it == modules.end()) return;
  engines_.forget(inferior, it->span, thread.tid);
  inferior.program->code.clear();
  std::erase_if(inferior.program->call_sites, [&](const auto& item) { return it->span.contains(item.first); });
  std::erase_if(inferior.program->named_kernels, [&](const auto& item) { return it->span.contains({item.first}); });
  sink_.notice(ModuleUnloaded{it->id, clock_.now()});
  modules.erase(it);
}

std::vector<std::string> ModuleWatch::notes() const {
  std::vector<std::string> out;
  if (refused_ > 0) out.push_back(fmt::format("{} functions could not be watched, first {}", refused_, first_refusal_));
  for (std::size_t i = 0; i < wishes_.symbols.size(); ++i)
    if (!fulfilled_[i])
      out.push_back(fmt::format("--probe {}:{}: no library with that function was loaded", wishes_.symbols[i].library,
                                wishes_.symbols[i].function));
  return out;
}

}  // namespace fade
