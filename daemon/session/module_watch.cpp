#include "session/module_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/page_cache.hpp"
#include "elf/maps.hpp"
#include "proc/living_thread.hpp"
#include "session/cuda_runtime.hpp"
#include "session/library_names.hpp"
#include "session/program_stacks.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

// Not the answer of /proc if the loader was started by hand, with the program as its argument.
std::string program_path(const Inferior& inferior, const elf::Maps& maps, RemoteAddr begin) {
  const elf::Mapping* mapping = maps.find(begin);
  if (mapping && mapping->has_file()) return mapping->path;
  return inferior.proc().link(living_thread(inferior.pid, inferior.proc()), "exe");
}

Result<elf::DynamicImage> image_of(const Inferior& inferior, const elf::LinkMapEntry& entry, const Memory& memory) {
  auto image = elf::DynamicImage::open(memory, {entry.l_addr});
  if (image || !entry.name.empty()) return image;
  // The program itself where it is not position independent: its header is not at its bias.
  const auto facts = read_auxiliary_vector(inferior.pid, memory, inferior.proc());
  return facts ? elf::DynamicImage::open_program(memory, facts->program_headers, facts->program_header_count) : image;
}

}  // namespace

ModuleWatch::ModuleWatch(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const Engines& engines,
                         Wishes wishes)
    : sink_(sink),
      clock_(clock),
      functions_(functions),
      engines_(engines),
      wishes_(std::move(wishes)),
      arming_(sink, clock, functions, engines, wishes_) {}

void ModuleWatch::note(const Inferior& inferior, std::string kind, std::string detail) const {
  sink_.notice(Lifecycle{clock_.now(), inferior.id, 0, std::move(kind), 0, std::move(detail)});
}

Result<void> ModuleWatch::begin(Inferior& inferior, Tid stopped, const AuxiliaryVector& facts) {
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

Result<void> ModuleWatch::watch_loader(Program& program, Tid stopped, const elf::Loader& loader) {
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
  if (const auto libc = elf::DynamicImage::open(space.memory(), foothold.libc))
    arming_.arm_libc(inferior, stopped.tid, *libc);
  return watch_loader(*inferior.program, stopped.tid, foothold.loader);
}

void ModuleWatch::arm_loaded(Inferior& inferior, Tid stopped) {
  Program& program = *inferior.program;
  const PageCache memory(program.space->memory());
  const auto loaded = program.link_map->reread(memory);
  program.is_list_doubtful = !loaded || loaded->damaged;
  if (!loaded) return note(inferior, "note", loaded.error().text());
  changed(program);
  add_all(inferior, stopped, loaded->added, memory, true);
  look_for_cuda_runtime(inferior);
  for (Module& module : program.modules) module.reserved = true;  // enter() did
  imports_.look(inferior, false);
}

bool ModuleWatch::loader_stopped(Inferior& inferior, const Thread& thread) {
  Program& program = *inferior.program;
  if (!program.link_map) return true;
  const PageCache memory(program.space->memory());
  const auto change = program.link_map->update(memory);
  program.is_list_doubtful |= !change || change->damaged;
  if (!change) {
    note(inferior, "note", change.error().text());
    return true;
  }
  if (!change->removed.empty() || !change->added.empty()) changed(program);
  for (const auto& entry : change->removed) remove(inferior, thread, entry);
  add_all(inferior, thread.tid, change->added, memory, false);
  if (change->state == elf::LoaderState::Consistent) engines_.loaded(inferior, thread.tid);
  if (!change->added.empty()) look_for_cuda_runtime(inferior);
  reserve_slots(program, thread);
  if (change->state != elf::LoaderState::Adding) imports_.look(inferior, false);  // also when it is about to unload
  if (change->damaged) note(inferior, "note", "the dynamic loader's list of modules is damaged: some may be missing");
  return change->state != elf::LoaderState::Deleting || engines_.may_unload(inferior);
}

// libc first: if fade dies in between, no program may have a breakpoint and still be able to block SIGTRAP.
void ModuleWatch::add_all(Inferior& inferior, Tid stopped, const std::vector<elf::LinkMapEntry>& entries,
                          const Memory& memory, bool have_run) {
  std::vector<Result<elf::DynamicImage>> images;
  for (const auto& entry : entries) {
    images.push_back(image_of(inferior, entry, memory));
    if (images.back()) arming_.arm_libc(inferior, stopped, *images.back());
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (images[i]) add(inferior, stopped, entries[i], *images[i], have_run);
}

void ModuleWatch::add(Inferior& inferior, Tid stopped, const elf::LinkMapEntry& entry, const elf::DynamicImage& image,
                      bool has_run) {
  ModuleFacts found = look(inferior, entry, image);
  found.has_run = has_run;
  Module module{.id = ++last_module_,
                .entry = entry,
                .span = image.span(),
                .path = found.path,
                .role = found.role,
                .watched = found.wanted};
  inferior.program->modules.push_back(module);
  const std::uint32_t sites = found.wanted ? arming_.arm_all(inferior, stopped, image, found) : 0;
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
                   .file = wishes_.files() ? files_.of(inferior.pid, module.span.begin, inferior.proc()) : nullptr});
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
  const auto maps = elf::read_maps(inferior.pid, inferior.proc());
  for (Module& module : modules)
    if (!std::exchange(module.kernels_looked_for, true) && maps &&
        has_cuda_runtime_inside(inferior.pid, *maps, module, inferior.proc()))
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

ModuleFacts ModuleWatch::look(const Inferior& inferior, const elf::LinkMapEntry& entry,
                              const elf::DynamicImage& image) {
  ModuleFacts found{.path = entry.name, .soname = image.soname(), .role = role_of(image), .build_id = image.build_id()};
  if (entry.name.empty())
    found.path = program_path(inferior, files_.maps(inferior.pid, inferior.proc()), image.span().begin);
  found.wanted = wishes_.wants(found);
  if (!found.wanted) return found;
  // The link map has the name the loader used; the version stands in the name behind the symbolic links.
  if (const elf::Mapping* mapping = files_.maps(inferior.pid, inferior.proc()).find(image.span().begin);
      mapping && mapping->has_file()) {
    found.version = version_in(mapping->path);
    found.path = mapping->path;
  }
  if (found.role.starts_with("hip")) found.major = library_major(image, found.soname);
  return found;
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
  std::vector<std::string> out = wishes_.unfulfilled();
  if (auto refusals = arming_.refusals(); !refusals.empty()) out.insert(out.begin(), std::move(refusals));
  return out;
}

}  // namespace fade
