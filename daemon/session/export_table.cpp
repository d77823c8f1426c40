#include "session/export_table.hpp"

#include <fmt/format.h>

#include <cstring>

#include "elf/dynamic_image.hpp"

namespace fade {
namespace {

using probes::Role;

constexpr std::uint64_t kMostWords = 256;

// Tables of CUDA's driver by the first four bytes of their number.
struct Known {
  std::uint32_t begin;
  std::string_view name;
};
constexpr Known kKnown[] = {{0x6bd5fb6c, "CUDART_INTERFACE"}};

std::uint32_t begin_of(const std::string& id) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4 && i < id.size(); ++i) out = out << 8 | static_cast<unsigned char>(id[i]);
  return out;
}

std::string name_of(const std::string& id) {
  for (const auto& [begin, name] : kKnown)
    if (begin_of(id) == begin) return std::string(name);
  return fmt::format("export_table_{:08x}", begin_of(id));
}

}  // namespace

std::optional<TableGiven> table_given(const probes::Probe& probe, const CallRecord& record, probes::Payload payload) {
  const auto at = probes::out_value(probe, Role::Table, record, payload);
  const probes::Parameter* id = probe.with_role(Role::TableId);
  if (!at || *at == 0 || !id) return std::nullopt;
  const auto piece = probes::find_piece(payload, PieceKind::In, probes::index_of(probe, *id));
  if (!piece) return std::nullopt;
  return TableGiven{{*at}, std::string(reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size())};
}

Result<std::vector<TableFunction>> read_table(const Memory& memory, const Module& module, const TableGiven& table) {
  std::vector<std::uint64_t> words(kMostWords);
  words.resize(memory.read(table.at, std::as_writable_bytes(std::span(words))) / 8);
  const std::uint64_t bytes = words.empty() ? 0 : words.front();
  if (bytes < 16 || bytes % 8 != 0 || bytes / 8 > words.size())
    return fail(fmt::format("the calls of {} are not seen: it does not begin with its size", name_of(table.id)));
  const auto image = elf::DynamicImage::open(memory, module.span.begin);
  if (!image) return tl::unexpected(image.error());
  std::vector<TableFunction> out;
  for (std::size_t i = 1; i < bytes / 8; ++i)
    if (image->in_code({words[i]})) out.push_back({i, {words[i]}});
  return out;
}

probes::ProbePtr table_probe(const probes::Probe& giver, const TableGiven& table, std::size_t index) {
  probes::Probe out{.symbol = fmt::format("{}[{}]", name_of(table.id), index), .api = giver.api, .group = giver.group};
  out.result = {probes::TypeClass::Handle, 8, "uintptr_t"};
  out.known_signature = false;
  out.origin = giver.origin;
  out.types = giver.types;
  return std::make_shared<const probes::Probe>(std::move(out));
}

}  // namespace fade
