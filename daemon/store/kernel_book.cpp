#include "store/kernel_book.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/demangle.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostEntries = 100'000;   // of each map
constexpr std::size_t kMostMatched = 4'096;     // std::regex recurses once per character

RowId last_id(sqlite::Db& db, std::string_view table) {
  return db.integer(fmt::format("SELECT max(id) FROM {}", table)).value_or(0);
}

Result<std::vector<std::regex>> compiled(const std::vector<std::string>& patterns) {
  std::vector<std::regex> out;
  for (const std::string& pattern : patterns) {
    try {
      out.emplace_back(pattern, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      return fail(fmt::format("'{}' is not a regular expression for kernel names", pattern), error.what());
    }
  }
  return out;
}

bool matches(const std::vector<std::regex>& patterns, std::string_view mangled, std::string_view readable) {
  const auto found = [](std::string_view text, const std::regex& pattern) {
    return std::regex_search(text.begin(), text.begin() + std::min(text.size(), kMostMatched), pattern);
  };
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return found(readable, p) || found(mangled, p); });
}

}  // namespace

Result<KernelFilter> KernelFilter::make(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
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

KernelBook::KernelBook(sqlite::Db& db, Failure& failure, RowId session, KernelFilter filter)
    : session_(session), filter_(std::move(filter)), last_kernel_(last_id(db, "kernel_")),
      last_geometry_(last_id(db, "geometry_")), last_launch_(last_id(db, "launch_")),
      kernel_(db, failure, "INSERT INTO kernel_ (id, session, name, demangled, library, first_call) VALUES (?,?,?,?,?,?)"),
      geometry_(db, failure, "INSERT INTO geometry_ VALUES (?,?,?,?,?,?,?,?)"),
      launch_(db, failure, "INSERT INTO launch_ VALUES (?,?,?,?)") {}

std::size_t KernelBook::ShapeHash::operator()(const ShapeKey& k) const {
  std::uint64_t h = k.shared * 0x9E3779B97F4A7C15u;
  for (const std::uint64_t axis : {k.x, k.y, k.z}) h = (h ^ axis) * 0xC2B2AE3D27D4EB4Fu;
  return h ^ (h >> 31);
}

std::size_t KernelBook::LaunchHash::operator()(const LaunchKey& k) const {
  std::uint64_t h = static_cast<std::uint64_t>(k.kernel) * 0x9E3779B97F4A7C15u;
  h = (h ^ static_cast<std::uint64_t>(k.geometry)) * 0xC2B2AE3D27D4EB4Fu;
  h = (h ^ static_cast<std::uint64_t>(k.stream)) * 0x165667B19E3779F9u;
  return h ^ (h >> 31);
}

void KernelBook::name(ProcessId process, std::uint64_t handle, std::string_view name, std::string_view library) {
  auto& handles = handles_[process];
  if (handles.size() >= kMostEntries) handles.clear();
  handles[handle] = Handle{{std::string(name), std::string(library)}, {}};
}

const KernelBook::Kernel& KernelBook::kernel(ProcessId process, std::uint64_t handle, RowId call) {
  auto& handles = handles_[process];
  auto found = handles.find(handle);
  if (found == handles.end()) {
    if (handles.size() >= kMostEntries) handles.clear();
    found = handles.emplace(handle, Handle{{fmt::format("{:#x}", handle), {}}, {}}).first;
  }
  Handle& known = found->second;
  if (known.kernel.row == 0) known.kernel = row_of(known.named, call);
  return known.kernel;
}

KernelBook::Kernel KernelBook::row_of(const Named& named, RowId call) {
  if (by_name_.size() >= kMostEntries) by_name_.clear();
  const auto [entry, fresh] = by_name_.try_emplace(named.name + '\0' + named.library);
  if (!fresh) return entry->second;
  const std::optional<std::string> readable = demangled(named.name);
  entry->second = {++last_kernel_, filter_.wants(named.name, readable.value_or(named.name))};
  kernel_(last_kernel_, session_, named.name, readable, unless_empty(named.library), call);
  return entry->second;
}

RowId KernelBook::geometry(const probes::LaunchShape& shape) {
  const auto axis = [](std::uint32_t grid, std::uint32_t block) { return std::uint64_t{grid} << 32 | block; };
  const auto& [grid, block, shared] = shape;
  if (geometries_.size() >= kMostEntries) geometries_.clear();
  const ShapeKey key{axis(grid.x, block.x), axis(grid.y, block.y), axis(grid.z, block.z), shared};
  const auto [entry, fresh] = geometries_.try_emplace(key, 0);
  if (!fresh) return entry->second;
  entry->second = ++last_geometry_;
  geometry_(last_geometry_, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
  return last_geometry_;
}

RowId KernelBook::launch(RowId kernel, RowId geometry, RowId stream) {
  if (launches_.size() >= kMostEntries) launches_.clear();
  const auto [entry, fresh] = launches_.try_emplace({kernel, geometry, stream}, 0);
  if (!fresh) return entry->second;
  entry->second = ++last_launch_;
  launch_(last_launch_, kernel, geometry, unless(stream, 0));
  return last_launch_;
}

}  // namespace fade::store
