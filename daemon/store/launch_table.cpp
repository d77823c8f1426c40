#include "store/launch_table.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostSorts = 100'000;  // of each map

}  // namespace

LaunchTable::LaunchTable(sqlite::Db& db, Failure& failure)
    : last_geometry_(last_row<GeometryRow>(db, "geometry_")),
      last_launch_(last_row<LaunchRow>(db, "launch_")),
      geometry_(db, failure, "INSERT INTO geometry_ VALUES (?,?,?,?,?,?,?,?)"),
      launch_(db, failure, "INSERT INTO launch_ VALUES (?,?,?,?,?)") {}

std::size_t LaunchTable::ShapeHash::operator()(const ShapeKey& k) const {
  std::uint64_t h = k.shared * 0x9E3779B97F4A7C15u;
  for (const std::uint64_t axis : {k.x, k.y, k.z}) h = (h ^ axis) * 0xC2B2AE3D27D4EB4Fu;
  return h ^ (h >> 31);
}

std::size_t LaunchTable::LaunchHash::operator()(const LaunchKey& k) const {
  std::uint64_t h = static_cast<std::uint64_t>(k.kernel.value()) * 0x9E3779B97F4A7C15u;
  h = (h ^ static_cast<std::uint64_t>(k.geometry.value())) * 0xC2B2AE3D27D4EB4Fu;
  h = (h ^ static_cast<std::uint64_t>(k.stream.value())) * 0x165667B19E3779F9u;
  return h ^ (h >> 31) ^ k.captured;
}

GeometryRow LaunchTable::geometry(const probes::LaunchShape& shape) {
  const auto axis = [](std::uint32_t grid, std::uint32_t block) { return std::uint64_t{grid} << 32 | block; };
  const auto& [grid, block, shared] = shape;
  if (geometries_.size() >= kMostSorts) geometries_.clear();
  const ShapeKey key{axis(grid.x, block.x), axis(grid.y, block.y), axis(grid.z, block.z), shared};
  GeometryRow& row = geometries_[key];
  if (row != 0) return row;
  row = ++last_geometry_;
  geometry_(last_geometry_, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
  return last_geometry_;
}

LaunchRow LaunchTable::launch(KernelRow kernel, GeometryRow geometry, StreamRow stream, bool captured) {
  if (launches_.size() >= kMostSorts) launches_.clear();
  LaunchRow& row = launches_[{kernel, geometry, stream, captured}];
  if (row != 0) return row;
  row = ++last_launch_;
  launch_(last_launch_, kernel, geometry, unless(stream, 0), captured);
  return last_launch_;
}

}  // namespace fade::store
