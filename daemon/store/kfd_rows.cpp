#include "store/kfd_rows.hpp"

namespace fade::store {
namespace {

std::optional<std::int64_t> whole(const std::optional<std::uint64_t>& number) {
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

}  // namespace

Result<void> write_topology(sqlite::Db& db, SessionRow session, const KfdTopology& topology) {
  auto txn = sqlite::Txn::begin(db);
  if (!txn) return tl::unexpected(std::move(txn.error()));
  Failure failure;
  Write all(db, failure, "INSERT INTO kfd_topology_ (session, root, problem) VALUES (?,?,?)");
  Write one(db, failure,
            "INSERT INTO kfd_node_ (session, node, gpu, name, problem, arch, pci, uuid, gpu_id, cpu_cores, simd_count, "
            "simd_per_cu, compute_units, "
            "wave_size, vendor_id, device_id, revision, memory, memory_bits, memory_mhz, max_mhz, xccs, render_minor) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  all(session, topology.root, unless_empty(topology.problem));
  for (const KfdNode& n : topology.nodes)
    one(session, n.node, n.gpu ? 1 : 0, unless_empty(n.name), unless_empty(n.problem), unless_empty(n.arch),
        unless_empty(n.pci), unless_empty(n.uuid), whole(n.gpu_id), whole(n.cpu_cores), whole(n.simd_count),
        whole(n.simd_per_cu), whole(n.compute_units()), whole(n.wave_size), whole(n.vendor_id), whole(n.device_id),
        whole(n.revision), whole(n.memory_bytes), whole(n.memory_bits), whole(n.memory_mhz), whole(n.max_mhz),
        whole(n.xccs), whole(n.render_minor));
  if (failure) return tl::unexpected(std::move(*failure.error));
  return txn->commit();
}

}  // namespace fade::store
