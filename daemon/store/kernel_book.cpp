#include "store/kernel_book.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostEntries = 100'000;     // of each map
constexpr std::size_t kMostNameBytes = 64 << 20;  // a program says how many names there are, and how long

Result<std::vector<Regex>> compiled(const std::vector<std::string>& patterns) {
  std::vector<Regex> out;
  for (const std::string& pattern : patterns) {
    auto regex = Regex::compile(pattern);
    if (!regex) return fail(fmt::format("'{}' is not a regular expression for kernel names", pattern), regex.error());
    out.push_back(std::move(*regex));
  }
  return out;
}

bool matches(const std::vector<Regex>& patterns, std::string_view mangled, std::string_view readable) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Regex& p) { return p.found_in(readable) || p.found_in(mangled); });
}

}  // namespace

Result<KernelFilter> KernelFilter::make(const std::vector<std::string>& include,
                                        const std::vector<std::string>& exclude) {
  auto in = compiled(include), out = compiled(exclude);
  if (!in) return tl::unexpected(std::move(in.error()));
  if (!out) return tl::unexpected(std::move(out.error()));
  KernelFilter filter;
  filter.include_ = std::move(*in);
  filter.exclude_ = std::move(*out);
  return filter;
}

bool KernelFilter::wants(std::string_view mangled, std::string_view readable) const {
  return (include_.empty() || matches(include_, mangled, readable)) && !matches(exclude_, mangled, readable);
}

KernelBook::KernelBook(sqlite::Db& db, Failure& failure, SessionRow session, KernelFilter filter, CodeBook& codes)
    : session_(session),
      filter_(std::move(filter)),
      codes_(codes),
      last_kernel_(last_row<KernelRow>(db, "kernel_")),
      kernel_(db, failure,
              "INSERT INTO kernel_ (id, session, name, demangled, library, first_call) VALUES (?,?,?,?,?,?)") {}

void KernelBook::name(ProcessId process, std::uint64_t handle, std::string_view name, std::string_view library,
                      std::uint64_t module) {
  recent(handle) = {};
  ++renamed_;
  make_room(process, name.size());
  auto& handles = handles_[process];
  if (name.empty()) {
    const auto known = handles.find(handle);  // a name that the program registered itself stays
    if (known != handles.end() && !known->second.named.library.empty()) handles.erase(known);
    return;
  }
  handles[handle] = Handle{{std::string(name), std::string(library), module}, {}};
  if (module != 0) of_modules_[process][module].push_back(handle);
}

// Names that are gone with their modules are taken off when the bound is met.
void KernelBook::make_room(ProcessId process, std::size_t bytes) {
  if (handles_[process].size() >= kMostEntries) end_process(process);
  name_bytes_ += bytes;
  if (name_bytes_ < kMostNameBytes) return;
  const auto held = [&] {
    std::size_t sum = bytes;
    for (const auto& [owner, handles] : handles_)
      for (const auto& [handle, known] : handles) sum += known.named.name.size();
    return sum;
  };
  name_bytes_ = held();
  if (name_bytes_ < kMostNameBytes / 2) return;
  end_process(process);
  name_bytes_ = held();
}

void KernelBook::same(ProcessId process, std::uint64_t handle, std::uint64_t known) {
  recent(handle) = {};
  ++renamed_;
  auto& handles = handles_[process];
  const auto source = handles.find(known);
  if (source == handles.end()) {
    handles.erase(handle);
    return;
  }
  const Handle copy = source->second;
  name_bytes_ += copy.named.name.size();
  handles[handle] = copy;
}

void KernelBook::unload(ProcessId process, std::uint64_t module) {
  const auto modules = of_modules_.find(process);
  if (modules == of_modules_.end()) return;
  const auto of_module = modules->second.find(module);
  if (of_module == modules->second.end()) return;
  auto& handles = handles_[process];
  for (const std::uint64_t handle : of_module->second) {
    const auto found = handles.find(handle);
    if (found != handles.end() && found->second.named.module == module) handles.erase(found);
  }
  modules->second.erase(of_module);
  recent_ = {};
  ++renamed_;
}

void KernelBook::end_process(ProcessId process) {
  recent_ = {};
  ++renamed_;
  handles_.erase(process);
  of_modules_.erase(process);
}

const KernelBook::Kernel& KernelBook::kernel(ProcessId process, std::uint64_t handle, CallRow call) {
  Recent& last = recent(handle);
  if (!last.kernel || last.process != process || last.handle != handle) {
    const Kernel& kernel = known(process, handle, call);
    last = {process, handle, &kernel};
  }
  return *last.kernel;
}

const KernelBook::Kernel& KernelBook::known(ProcessId process, std::uint64_t handle, CallRow call) {
  auto& handles = handles_[process];
  auto found = handles.find(handle);
  if (found == handles.end()) {
    if (handles.size() >= kMostEntries) {
      handles.clear();
      recent_ = {};
      ++renamed_;
    }
    found = handles.emplace(handle, Handle{{fmt::format("{:#x}", handle), {}, 0}, {}}).first;
  }
  Handle& known = found->second;
  if (known.kernel.row != 0) return known.kernel;
  known.kernel = row_of(known.named, call);
  codes_.used({known.kernel.row, process, known.named.module, known.named.name, known.named.library});
  return known.kernel;
}

KernelBook::Kernel KernelBook::row_of(const Named& named, CallRow call) {
  if (by_name_.size() >= kMostEntries || by_name_bytes_ >= kMostNameBytes) {
    by_name_.clear();
    by_name_bytes_ = 0;
  }
  const auto [entry, fresh] = by_name_.try_emplace(named.name + '\0' + named.library);
  if (!fresh) return entry->second;
  by_name_bytes_ += entry->first.size();
  const std::optional<std::string> readable = demangled(named.name);
  entry->second = {++last_kernel_, filter_.wants(named.name, readable.value_or(named.name))};
  kernel_(last_kernel_, session_, named.name, readable, unless_empty(named.library), call);
  return entry->second;
}

}  // namespace fade::store
