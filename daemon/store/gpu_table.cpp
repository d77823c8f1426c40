#include "store/gpu_table.hpp"

#include <charconv>
#include <vector>

#include "base/result.hpp"
#include "store/write.hpp"

namespace fade::store {
namespace {

enum Column {
  kName,
  kIds,
  kChip,
  kArch,
  kVersion,
  kUnits,
  kWgps,
  kCount,
  kBoost,
  kSeen,
  kMemory,
  kBits,
  kType,
  kClock,
  kBandwidth,
  kL2,
  kL3,
  kWave,
  kColumns = 20
};
using Number = std::optional<std::int64_t>;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = std::min(text.find(at), text.size());
    out.push_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

// "?", "-" and "shared" are no numbers.
Number number(std::string_view text, int base = 10) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() ? Number(value) : std::nullopt;
}

std::optional<std::string_view> known(std::string_view text) {
  return text.find('?') == text.npos ? std::optional(text) : std::nullopt;
}

// "73bf:c1;73ff:c3/cb;1506": ids with their revisions, or with any revision.
void write_ids(Write& write, std::string_view text, std::int64_t gpu) {
  for (const std::string_view one : split(text, ';')) {
    const auto parts = split(one, ':');
    const Number device = number(parts[0], 16);
    FADE_CHECK(device.has_value());
    if (parts.size() == 1) write(*device, Number{}, gpu);
    else
      for (const std::string_view revision : split(parts[1], '/')) write(*device, number(revision, 16), gpu);
  }
}

}  // namespace

Result<void> write_gpus(sqlite::Db& db, std::string_view table) {
  Failure failure;
  Write gpu(db, failure,
            "INSERT INTO gpu_ (id, name, chip, arch, compute_units, memory_mib, shared_memory, memory_bits, boost_mhz, "
            "l2_kib, l3_kib, wave_size) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  Write id(db, failure, "INSERT INTO gpu_pci_ (device_id, revision, gpu) VALUES (?,?,?)");
  auto lines = split(table, '\n');
  std::int64_t row = 0;
  for (const std::string_view line : std::span(lines).subspan(1)) {
    if (line.empty()) continue;
    const auto cells = split(line, '\t');
    FADE_CHECK(cells.size() == kColumns);
    gpu(++row, cells[kName], known(cells[kChip]), known(cells[kArch]), number(cells[kUnits]), number(cells[kMemory]),
        cells[kMemory] == "shared" ? 1 : 0, number(cells[kBits]), number(cells[kBoost]), number(cells[kL2]),
        number(cells[kL3]), number(cells[kWave]));
    write_ids(id, cells[kIds], row);
  }
  if (failure) return tl::unexpected(std::move(*failure.error));
  return {};
}

}  // namespace fade::store
