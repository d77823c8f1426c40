#include "session/blas/lt_objects.hpp"

#include <algorithm>
#include <cstring>

#include "probes/arguments.hpp"

namespace fade {
namespace {

// Of hipblasLtMatrixLayoutAttribute_t and hipblasLtMatmulDescAttributes_t.
enum class LayoutAttribute : std::uint64_t { BatchCount, Stride, Type, Order, Rows, Columns, Ld };
enum class ProductAttribute : std::uint64_t { TransA = 0, TransB = 1, Epilogue = 2, PointerMode = 13 };
constexpr std::uint64_t kNoEpilogue = 1;

std::uint64_t word_named(const Entry& entry, std::string_view name, const OpenCall& call) {
  for (const probes::Parameter& parameter : entry.probe->parameters)
    if (parameter.name == name) return argument(*entry.probe, parameter, call);
  return 0;
}

// The first bytes that a pointer leads to, as a number.
std::uint64_t pointed(const Entry& entry, std::string_view name, PieceKind kind, const OpenCall& call) {
  std::uint64_t out = 0;
  const auto& parameters = entry.probe->parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name != name) continue;
    const auto piece = probes::find_piece(call.payload, kind, i);
    if (piece) std::memcpy(&out, piece->bytes.data(), std::min(piece->bytes.size(), sizeof out));
  }
  return out;
}

}  // namespace

const LtObjects::Layout* LtObjects::layout(std::uint64_t handle) const {
  const auto found = layouts_.find(handle);
  return found == layouts_.end() ? nullptr : &found->second;
}
const LtObjects::Description* LtObjects::description(std::uint64_t handle) const {
  const auto found = descriptions_.find(handle);
  return found == descriptions_.end() ? nullptr : &found->second;
}

void LtObjects::learn(const Entry& entry, const OpenCall& call) {
  const std::string_view name = entry.probe->symbol;
  const auto word = [&](std::string_view parameter) { return word_named(entry, parameter, call); };
  if (name.ends_with("MatrixLayoutCreate")) {
    if (layouts_.size() >= kMost) layouts_.clear();
    layouts_[pointed(entry, "matLayout", PieceKind::Out, call)] = {
        .type = word("type"), .rows = word("rows"), .columns = word("cols"), .ld = word("ld")};
  } else if (name.ends_with("MatmulDescCreate")) {
    if (descriptions_.size() >= kMost) descriptions_.clear();
    descriptions_[pointed(entry, "matmulDesc", PieceKind::Out, call)] = {
        .compute = word("computeType"), .scale = word("scaleType"), .special = {}};
  } else if (name.ends_with("MatrixLayoutSetAttribute")) {
    set_layout(word("matLayout"), word("attr"), pointed(entry, "buf", PieceKind::In, call));
  } else if (name.ends_with("MatmulDescSetAttribute")) {
    set_description(word("matmulDesc"), word("attr"), pointed(entry, "buf", PieceKind::In, call));
  }
}

void LtObjects::set_layout(std::uint64_t handle, std::uint64_t attribute, std::uint64_t value) {
  const auto found = layouts_.find(handle);
  if (found == layouts_.end()) return;
  Layout& layout = found->second;
  switch (static_cast<LayoutAttribute>(attribute)) {
    case LayoutAttribute::BatchCount: layout.batch = static_cast<std::uint32_t>(value); break;
    case LayoutAttribute::Stride: layout.stride = value; break;
    case LayoutAttribute::Type: layout.type = static_cast<std::uint32_t>(value); break;
    case LayoutAttribute::Order: layout.is_by_columns = static_cast<std::uint32_t>(value) == 0; break;
    case LayoutAttribute::Rows: layout.rows = value; break;
    case LayoutAttribute::Columns: layout.columns = value; break;
    case LayoutAttribute::Ld: layout.ld = value; break;
  }
}

void LtObjects::set_description(std::uint64_t handle, std::uint64_t attribute, std::uint64_t value) {
  const auto found = descriptions_.find(handle);
  if (found == descriptions_.end()) return;
  Description& description = found->second;
  const auto number = static_cast<std::uint32_t>(value);
  const auto what = static_cast<ProductAttribute>(attribute);
  if (what == ProductAttribute::TransA) description.op_a = number;
  else if (what == ProductAttribute::TransB) description.op_b = number;
  else if (what == ProductAttribute::Epilogue) description.special = number == kNoEpilogue ? "" : "it has an epilogue";
  else if (what == ProductAttribute::PointerMode)
    description.special = number == 0 ? "" : "alpha and beta are on the GPU";
  else if (value != 0) description.special = "its description has scales, a bias or other extras";
}

}  // namespace fade
