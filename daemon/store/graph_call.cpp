#include "store/graph_call.hpp"

#include <cstring>

namespace fade::store {

std::uint64_t GraphCall::given(std::string_view type, std::size_t nth) const {
  for (const probes::Parameter& parameter : view.probe.parameters)
    if (parameter.type.name == type && parameter.pointee.cls == probes::TypeClass::Void && nth-- == 0)
      return probes::argument(view.probe, parameter, view.record, view.payload);
  return 0;
}

std::uint64_t GraphCall::made(std::string_view type) const {
  for (const probes::Parameter& parameter : view.probe.parameters) {
    if (parameter.pointee.name != type || !parameter.read_at_return()) continue;
    const auto piece = view.piece(PieceKind::Out, probes::index_of(view.probe, parameter));
    std::uint64_t handle = 0;
    if (!piece || piece->bytes.size() < sizeof handle) return 0;
    std::memcpy(&handle, piece->bytes.data(), sizeof handle);
    return handle;
  }
  return 0;
}

}  // namespace fade::store
