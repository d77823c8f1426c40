#include "store/shared_handles.hpp"

#include <algorithm>

namespace fade::store {

using probes::TypeClass;

std::optional<SharedHandles::Handle> SharedHandles::of(const CallView& view) {
  Handle handle{};
  for (const probes::Parameter& parameter : view.probe.parameters) {
    if (parameter.type.cls == TypeClass::Struct && parameter.type.size == handle.size()) {
      if (probes::argument_bytes(parameter, view.record, view.payload, handle) == handle.size()) return handle;
    } else if (parameter.pointee.cls == TypeClass::Struct && parameter.pointee.size == handle.size()) {
      const auto piece = view.piece(parameter.read_at_return() ? PieceKind::Out : PieceKind::In,
                                    probes::index_of(view.probe, parameter));
      if (!piece || piece->bytes.size() < handle.size()) return std::nullopt;
      std::copy_n(piece->bytes.begin(), handle.size(), handle.begin());
      return handle;
    }
  }
  return std::nullopt;
}

void SharedHandles::add(const Handle& handle, const Offer& offer) {
  if (!offers_.insert_or_assign(handle, offer).second) return;
  order_.push_back(handle);
  if (order_.size() <= kMost) return;
  offers_.erase(order_.front());
  order_.pop_front();
}

const SharedHandles::Offer* SharedHandles::find(const Handle& handle) const {
  const auto found = offers_.find(handle);
  return found == offers_.end() ? nullptr : &found->second;
}

}  // namespace fade::store
