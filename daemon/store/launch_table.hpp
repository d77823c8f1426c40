// The sorts of launches of a recording as rows: geometries, and kernels with geometry and stream.
#pragma once
#include <cstddef>
#include <cstdint>

#include "probes/call_facts.hpp"
#include "store/recent_map.hpp"
#include "store/write.hpp"

namespace fade::store {

class LaunchTable {
 public:
  LaunchTable(sqlite::Db& db, Failure& failure);

  // Each gives the row's id, and makes the row at the first such launch. stream 0: not known.
  GeometryRow geometry(const probes::LaunchShape& shape);
  LaunchRow launch(KernelRow kernel, GeometryRow geometry, StreamRow stream, bool captured);

 private:
  struct ShapeKey {
    std::uint64_t x = 0, y = 0, z = 0, shared = 0;  // grid and block of each axis in one word
    bool operator==(const ShapeKey&) const = default;
  };
  struct ShapeHash {
    std::size_t operator()(const ShapeKey& k) const;
  };
  struct LaunchKey {
    KernelRow kernel = 0;
    GeometryRow geometry = 0;
    StreamRow stream = 0;
    bool captured = false;
    bool operator==(const LaunchKey&) const = default;
  };
  struct LaunchHash {
    std::size_t operator()(const LaunchKey& k) const;
  };

  RecentMap<ShapeKey, GeometryRow, ShapeHash> geometries_;
  RecentMap<LaunchKey, LaunchRow, LaunchHash> launches_;
  GeometryRow last_geometry_;
  LaunchRow last_launch_;
  Write geometry_, launch_;
};

}  // namespace fade::store
