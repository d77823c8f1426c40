#include "store/call_view.hpp"

#include "probes/types.hpp"

namespace fade::store {

using probes::TypeClass;

std::optional<std::string> CallView::text(probes::Role role) const {
  const probes::Parameter* parameter = probe.with_role(role);
  if (!parameter) return std::nullopt;
  return probes::string_argument(probe, *parameter, record, payload);
}

std::int64_t CallView::result() const {
  const probes::Type& type = probe.result;
  if (type.cls == TypeClass::Void) return 0;
  if (type.size == 0 || type.size >= 8) return static_cast<std::int64_t>(record.result);
  const bool is_signed = type.cls == TypeClass::Signed || type.cls == TypeClass::Enum || type.cls == TypeClass::Char;
  const unsigned shift = 64 - type.size * 8;
  const std::uint64_t top = record.result << shift;
  return is_signed ? static_cast<std::int64_t>(top) >> shift : static_cast<std::int64_t>(top >> shift);
}

std::string CallView::result_name() const {
  if (probe.result.cls != TypeClass::Enum) return {};
  const auto name = probes::types_of(probe).enum_name(probe.result.name, result(), probes::version_of(library_major));
  return name ? std::string(*name) : std::string();
}

}  // namespace fade::store
