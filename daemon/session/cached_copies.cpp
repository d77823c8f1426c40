#include "session/cached_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/glob.hpp"
#include "base/log.hpp"
#include "ptrace/tracee.hpp"
#include "session/present_pages.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostKept = 1024;  // copies of one program
constexpr std::uint64_t kRedZone = 128;  // below the stack pointer, in use (System V ABI, 3.2.2)
constexpr std::string_view kGone = "the memory holds something else by now";

// Variables that give other ordinals to devices than the driver's order.
constexpr std::string_view kOrdinals[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                          "GPU_DEVICE_ORDINAL"};

// These make their structures anew for each question.
constexpr std::string_view kNoOwners[] = {"libamdhip64*", "libhiprtc*", "libamd_comgr*", "libhsa-runtime64*"};

bool may_own(const std::string& library) {
  return std::ranges::none_of(kNoOwners,
                              [&](std::string_view pattern) { return glob_match(std::string(pattern), library); });
}

bool is_searched(const elf::Mapping& mapping) { return mapping.readable && mapping.writable && !mapping.shared; }

bool has_other_ordinals(Pid pid) {
  const auto environment = read_process_facts(pid).environment;
  return std::ranges::any_of(environment, [](const auto& variable) {
    return std::ranges::find(kOrdinals, variable.first) != std::end(kOrdinals);
  });
}

// Page by page: a write within a page is whole or not there, even if fade is killed.
bool write_by_pages(const ProcessMemory& memory, RemoteAddr to, std::span<const std::byte> bytes, Tid stopped) {
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), page_of(to).value + kPageSize - to.value);
    if (!memory.write(to, bytes.first(n), stopped)) return false;
    to = to + n;
    bytes = bytes.subspan(n);
  }
  return true;
}

bool write_parts(const KeptCopy& copy, const std::vector<std::byte>& from, const ProcessMemory& memory, Tid stopped) {
  return std::ranges::all_of(copy.parts, [&](const KeptCopy::Part& part) {
    return write_by_pages(memory, copy.at + part.offset, std::span(from).subspan(part.offset, part.size), stopped);
  });
}

std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

struct CachedCopies::Draft {
  FoundCopy found;
  CopyOwner owner;
  int device = -1;
  bool is_answer = false;  // equal to what a call has given
  std::vector<CachedField> fields;
  std::string mapping, problem;
  KeptCopy kept;
  bool is_gone = false;
};

struct CachedCopies::Search {
  CachedSearch row;
  elf::Maps maps;
  std::vector<Draft> drafts;
};

// ---------------------------------------------------------------- the search

void CachedCopies::look(Pid pid, const std::function<bool()>& goes_on) {
  Inferior* inferior = p_.roster.process(pid);
  auto maps = inferior ? elf::read_maps(pid) : Result<elf::Maps>(tl::unexpected(process_gone(pid)));
  if (!maps) return;
  const ProgramMark mark = inferior->mark();
  const std::shared_ptr<Program> program = inferior->program;  // `inferior` may be gone behind a stop
  program->has_new_answers = false;
  std::vector<RemoteRange> ranges;
  for (const elf::Mapping& mapping : maps->all())
    if (is_searched(mapping)) ranges.push_back(mapping.range);
  PresentPages pages(pid);
  CopySearch blocks(program->space->memory(), std::move(ranges), [&](RemoteRange range) { return pages.of(range); });
  blocks.also_find(program->answers);
  Search search{{.process = inferior->id, .at = p_.clock.now()}, std::move(*maps), {}};
  while (blocks.step()) {
    if (!goes_on() || !p_.roster.still_runs(mark)) return;
    if (p_.clock.now() - search.row.at <= wish_.most_ns) continue;
    search.row.limit = "time";
    break;
  }
  search.row.ns = p_.clock.now() - search.row.at;
  search.row.bytes = blocks.bytes();
  search.row.left = blocks.bytes_left() + pages.swapped();
  if (search.row.limit.empty()) search.row.limit = blocks.limit();
  for (const FoundCopy& copy : blocks.found()) {
    const auto kept = std::ranges::find(program->cached, copy.at, &KeptCopy::at);
    if (kept != program->cached.end() && kept->is_changed) continue;
    search.drafts.emplace_back().found = copy;
    if (kept != program->cached.end()) search.drafts.back().kept.id = kept->id;
  }
  inferior = p_.roster.still_runs(mark) ? p_.roster.process(pid) : nullptr;
  if (!inferior) return;
  learn(search, *inferior);
  if (!search.drafts.empty()) {
    const auto held = p_.rendezvous.with_all_held(
        mark, [&](Tid stopped) { look_again(search, *p_.roster.process(pid), stopped); }, search.row.held_ns);
    for (Draft& draft : search.drafts)
      if (!held && draft.problem.empty()) draft.problem = held.error().message;
  }
  if (p_.roster.still_runs(mark)) send(search, *p_.roster.process(pid));
}

std::vector<Pid> CachedCopies::to_be_searched_again() const {
  std::vector<Pid> out;
  for (const auto& [pid, inferior] : p_.roster.processes())
    if (wish_.find && inferior->program->has_new_answers) out.push_back(pid);
  return out;
}

// Facts about the copies, from the memory of the running program.
void CachedCopies::learn(Search& search, Inferior& inferior) const {
  std::vector<LibraryData> data;
  std::vector<std::string> libraries;
  for (const Module& module : inferior.program->modules) libraries.emplace_back(base_name(module.path));
  for (const elf::Mapping& mapping : search.maps.all())
    if (const Module* const module = is_searched(mapping) ? inferior.program->module_at(mapping.range.begin) : nullptr)
      data.push_back({mapping.range, module->path});
  std::vector<CopyPlace> places;
  for (const Draft& draft : search.drafts) places.push_back({draft.found.at, draft.found.form->size});
  auto owners = owners_of(inferior.memory(), data, places);
  for (std::size_t i = 0; i < search.drafts.size(); ++i) {
    Draft& draft = search.drafts[i];
    draft.owner = std::move(owners[i]);
    if (const elf::Mapping* const mapping = search.maps.find(draft.found.at)) draft.mapping = mapping->path;
    draft.device = device_of(draft, inferior);
  }
  for (Draft& draft : search.drafts) {  // another copy of the same device may tell more
    const auto knows = [&](const Draft& one) {
      return one.device >= 0 && one.found.told.slot && one.found.told.slot == draft.found.told.slot;
    };
    if (const auto one = std::ranges::find_if(search.drafts, knows); draft.device < 0 && one != search.drafts.end())
      draft.device = one->device;
    apply_rules(draft, inferior, libraries);
  }
}

// HIP's ordinal, by the best proof there is.
int CachedCopies::device_of(const Draft& draft, const Inferior& inferior) const {
  for (const KnownAnswer& answer : inferior.program->answers) {
    if (answer.form == draft.found.form && answer.bytes == draft.found.bytes) return answer.device;
    const auto told = probes::told_by_copy(*answer.form, answer.bytes);
    if (told && told->slot && told->slot == draft.found.told.slot) return answer.device;
  }
  if (draft.owner.index) return *draft.owner.index;
  return wish_.has_one_gpu && !has_other_ordinals(inferior.pid) ? 0 : -1;
}

// The rules decide as if the library that keeps the copy had just asked. If that library is not known, a rule counts
// only if it leaves out none of the program's libraries: the copy may be of any of them.
void CachedCopies::apply_rules(Draft& draft, const Inferior& inferior, std::span<const std::string> libraries) const {
  const std::string caller(base_name(draft.owner.library));
  const std::array<std::uint64_t, 2> arguments{draft.found.at.value, static_cast<std::uint32_t>(draft.device)};
  const probes::DeviceCall call{draft.found.form->symbol, arguments, draft.device, caller, draft.found.told.slot};
  const std::array<probes::Found, 1> found{{{0, draft.found.bytes}}};
  draft.is_answer = std::ranges::any_of(inferior.program->answers, [&](const KnownAnswer& answer) {
    return answer.form == draft.found.form && answer.bytes == draft.found.bytes;
  });
  KeptCopy& kept = draft.kept;
  kept.at = draft.found.at;
  kept.form = draft.found.form;
  kept.before = kept.after = draft.found.bytes;
  for (probes::Patch& patch : p_.overrides.patches(call, found)) {
    if (patch.bytes.empty() || patch.offset + patch.bytes.size() > kept.after.size()) continue;
    const auto at = kept.after.begin() + patch.offset;
    draft.fields.push_back({.rule = patch.rule,
                            .offset = patch.offset,
                            .field = std::move(patch.field),
                            .was = std::move(patch.was),
                            .became = std::move(patch.became),
                            .old_bytes = {at, at + static_cast<std::ptrdiff_t>(patch.bytes.size())},
                            .new_bytes = patch.bytes});
    const probes::Rule& rule = p_.overrides.rules()[patch.rule.value() - 1];
    const auto other = std::ranges::find_if(libraries, [&](const std::string& library) {
      return caller.empty() && may_own(library) && !rule.callers.match(library);
    });
    if (other != libraries.end())
      draft.problem = fmt::format("it may be of {}, which {} leaves out", *other, rule.spec);
    kept.parts.push_back({patch.offset, static_cast<std::uint32_t>(patch.bytes.size())});
    std::ranges::copy(patch.bytes, at);
  }
}

// ---------------------------------------------------------------- while all threads stand still

void CachedCopies::look_again(Search& search, Inferior& inferior, Tid stopped) {
  std::vector<RemoteAddr> stack_pointers;
  for (const auto& [tid, thread] : inferior.threads)
    if (const auto registers = Tracee(tid).registers()) stack_pointers.push_back(registers->sp());
  const ProcessMemory& memory = inferior.memory();
  std::vector<std::byte> now;
  for (Draft& draft : search.drafts) {
    now.resize(draft.found.bytes.size());
    draft.is_gone = !memory.read_exactly(draft.found.at, now) || now != draft.found.bytes;
    for (const RemoteAddr sp : stack_pointers) {
      const elf::Mapping* const stack = search.maps.find(sp);
      if (!stack || !stack->range.contains(draft.found.at)) continue;
      draft.mapping = "[stack]";
      draft.is_gone |= draft.found.at + draft.found.bytes.size() + kRedZone <= sp;  // of a function that has returned
    }
    if (draft.is_gone || !wish_.change || draft.fields.empty() || !draft.problem.empty()) continue;
    if (change(draft, memory, stopped)) draft.kept.is_changed = true;
    else draft.problem = "its memory cannot be written";
  }
}

// Writes all, or nothing.
bool CachedCopies::change(const Draft& draft, const ProcessMemory& memory, Tid stopped) const {
  if (write_parts(draft.kept, draft.kept.after, memory, stopped)) return true;
  write_parts(draft.kept, draft.kept.before, memory, stopped);
  return false;
}

// ---------------------------------------------------------------- rows

void CachedCopies::send(Search& search, Inferior& inferior) {
  std::erase_if(search.drafts, [](const Draft& draft) { return draft.is_gone; });
  search.row.copies = static_cast<std::uint32_t>(search.drafts.size());
  totals_.searched += search.row.bytes;
  if (!search.row.limit.empty()) totals_.limit = search.row.limit;
  p_.sink.notice(search.row);
  for (Draft& draft : search.drafts) {
    keep(draft, inferior);
    const FoundCopy& found = draft.found;
    p_.sink.notice(CachedCopy{.copy = draft.kept.id,
                              .process = inferior.id,
                              .at = search.row.at,
                              .address = found.at.value,
                              .layout = std::string(found.form->name),
                              .device = draft.device,
                              .name = found.told.name,
                              .arch = found.told.arch,
                              .pci = found.told.slot ? found.told.slot->text() : std::string(),
                              .library = draft.owner.library,
                              .mapping = draft.mapping,
                              .known_by = draft.is_answer ? "call" : "fields",
                              .problem = draft.kept.is_changed ? std::string() : draft.problem});
    for (CachedField& field : draft.fields) {
      field.copy = draft.kept.id;
      p_.sink.notice(std::move(field));
    }
    if (draft.kept.is_changed) done(draft.kept, CachedChange::What::Changed);
  }
}

// A copy of an earlier search, of which more is known now, keeps its row.
void CachedCopies::keep(Draft& draft, Inferior& inferior) {
  auto& all = inferior.program->cached;
  const auto earlier = std::ranges::find(all, draft.kept.at, &KeptCopy::at);
  const bool is_new = earlier == all.end() || earlier->process != inferior.id;
  if (is_new) draft.kept.id = last_ = CachedId::of(last_.value() + 1);
  draft.kept.process = inferior.id;
  draft.kept.differs = !draft.fields.empty();
  totals_.copies += is_new ? 1 : 0;
  totals_.differ += draft.kept.differs && (is_new || !earlier->differs) ? 1 : 0;
  if (earlier != all.end()) *earlier = draft.kept;
  else if (draft.kept.is_changed || all.size() < kMostKept) all.push_back(draft.kept);
}

void CachedCopies::done(const KeptCopy& copy, CachedChange::What what, std::string problem) {
  using What = CachedChange::What;
  totals_.changed += what == What::Changed ? 1 : 0;
  totals_.put_back += what == What::PutBack ? 1 : 0;
  totals_.left += what == What::Left ? 1 : 0;
  p_.sink.notice(CachedChange{copy.id, p_.clock.now(), what, std::move(problem)});
}

// A forked child has the copies of its parent, with fade's values.
CachedId CachedCopies::own_row(KeptCopy& copy, const Inferior& inferior) {
  if (copy.process == inferior.id) return copy.id;
  const CachedId parent = std::exchange(copy.id, last_ = CachedId::of(last_.value() + 1));
  copy.process = inferior.id;
  const auto told = probes::told_by_copy(*copy.form, copy.before);
  p_.sink.notice(CachedCopy{.copy = copy.id,
                            .parent = parent,
                            .process = inferior.id,
                            .at = p_.clock.now(),
                            .address = copy.at.value,
                            .layout = std::string(copy.form->name),
                            .name = told ? told->name : std::string(),
                            .arch = told ? told->arch : std::string(),
                            .pci = told && told->slot ? told->slot->text() : std::string()});
  done(copy, CachedChange::What::Changed);
  return copy.id;
}

// ---------------------------------------------------------------- the way back

void CachedCopies::put_back_all() {
  for (const Pid pid : p_.roster.pids()) {
    Inferior* const inferior = p_.roster.process(pid);
    if (!inferior || std::ranges::none_of(inferior->program->cached, &KeptCopy::is_changed)) continue;
    const std::shared_ptr<Program> program = inferior->program;
    std::int64_t held_ns = 0;
    const auto held = p_.rendezvous.with_all_held(
        inferior->mark(), [&](Tid stopped) { put_back(*p_.roster.process(pid), stopped); }, held_ns);
    if (held || held.error().code == ESRCH) continue;
    for (KeptCopy& copy : program->cached)
      if (std::exchange(copy.is_changed, false)) done(copy, CachedChange::What::Left, held.error().message);
  }
}

void CachedCopies::put_back(Inferior& inferior, Tid stopped) {
  for (KeptCopy& copy : inferior.program->cached) {
    if (!std::exchange(copy.is_changed, false)) continue;
    own_row(copy, inferior);
    put_back(copy, inferior, stopped);
  }
}

// The program may have changed other fields meanwhile. Fade's own must be there, in properties of a device.
void CachedCopies::put_back(KeptCopy& copy, const Inferior& inferior, Tid stopped) {
  const ProcessMemory& memory = inferior.memory();
  std::vector<std::byte> now(copy.after.size());
  const bool is_there =
      memory.read_exactly(copy.at, now) && std::ranges::all_of(copy.parts, [&](const KeptCopy::Part& part) {
        const auto of = [&](const std::vector<std::byte>& all) {
          return std::span(all).subspan(part.offset, part.size);
        };
        return std::ranges::equal(of(now), of(copy.after));
      });
  const bool is_whole = now == copy.after || probes::told_by_copy(*copy.form, now);
  if (!is_there || !is_whole) return done(copy, CachedChange::What::Left, std::string(kGone));
  const bool is_back = write_parts(copy, copy.before, memory, stopped);
  done(copy, is_back ? CachedChange::What::PutBack : CachedChange::What::Left,
       is_back ? "" : "its memory cannot be written");
}

std::vector<std::string> CachedCopies::notes() const {
  std::vector<std::string> out;
  if (totals_.put_back > 0)
    out.push_back(counted(totals_.put_back, "copy of device properties was", "copies of device properties were") +
                  " put back (fade-query cached)");
  if (totals_.left > 0)
    out.push_back(counted(totals_.left, "copy of device properties was", "copies of device properties were") +
                  " NOT put back (fade-query cached says why)");
  return out;
}

}  // namespace fade
