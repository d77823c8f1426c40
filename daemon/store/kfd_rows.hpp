// The driver's topology as rows of a session.
#pragma once
#include "base/kfd.hpp"
#include "store/write.hpp"

namespace fade::store {

Result<void> write_topology(sqlite::Db& db, SessionRow session, const KfdTopology& topology);

}  // namespace fade::store
