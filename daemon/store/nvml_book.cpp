#include "store/nvml_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "probes/device_properties.hpp"

namespace fade::store {
namespace {

using probes::FieldType;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kMostValues = 10'000;  // remembered, of all processes
constexpr std::size_t kMostHandles = 10'000;
constexpr unsigned kMostNvmlChanges = 100;  // rows of one value

// The layout behind a pointer that a function fills.
struct Teller {
  std::string_view symbol, name;
  std::size_t parameter = 1;
  std::size_t offset = 0;
  FieldType type = FieldType::Unsigned;
};
constexpr Teller kTellers[] = {
    {"nvmlDeviceGetCount", "count", 0},
    {"nvmlDeviceGetCount_v2", "count", 0},
    {"nvmlSystemGetDriverVersion", "driverVersion", 0, 0, FieldType::Text},
    {"nvmlSystemGetNVMLVersion", "nvmlVersion", 0, 0, FieldType::Text},
    {"nvmlSystemGetCudaDriverVersion", "cudaDriverVersion", 0, 0, FieldType::Int},
    {"nvmlSystemGetCudaDriverVersion_v2", "cudaDriverVersion", 0, 0, FieldType::Int},
    {"nvmlDeviceGetName", "name", 1, 0, FieldType::Text},
    {"nvmlDeviceGetUUID", "uuid", 1, 0, FieldType::Text},
    {"nvmlDeviceGetSerial", "serial", 1, 0, FieldType::Text},
    {"nvmlDeviceGetMemoryInfo", "totalMemory", 1, 0, FieldType::Size},
    {"nvmlDeviceGetMemoryInfo_v2", "totalMemory", 1, 8, FieldType::Size},
    {"nvmlDeviceGetMemoryBusWidth", "memoryBusWidth"},
    {"nvmlDeviceGetNumGpuCores", "numGpuCores"},
    {"nvmlDeviceGetCudaComputeCapability", "cuda.major", 1, 0, FieldType::Int},
    {"nvmlDeviceGetCudaComputeCapability", "cuda.minor", 2, 0, FieldType::Int},
};
constexpr std::string_view kByIndex[] = {"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"};
constexpr std::string_view kPciInfo[] = {"nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3"};
constexpr std::size_t kPciNumbers = 16;  // domain, bus and device stand behind 16 characters in all three forms

template <class Names>
bool is_one_of(const Names& names, std::string_view symbol) {
  return std::ranges::find(names, symbol) != std::end(names);
}

std::size_t width_of(FieldType type) { return type == FieldType::Size ? 8 : 4; }

std::optional<std::string> text_at(const CallView& call, const Teller& teller) {
  const auto piece = call.piece(PieceKind::Out, teller.parameter);
  if (!piece) return std::nullopt;
  if (teller.type == FieldType::Text) return probes::text_of(teller.type, 1, piece->bytes);
  const std::size_t size = width_of(teller.type);
  if (piece->bytes.size() < teller.offset + size) return std::nullopt;
  return probes::text_of(teller.type, 1, piece->bytes.subspan(teller.offset, size));
}

std::optional<std::string> pci_address(const CallView& call) {
  const auto piece = call.piece(PieceKind::Out, 1);
  std::array<std::uint32_t, 3> numbers{};
  if (!piece || piece->bytes.size() < kPciNumbers + sizeof numbers) return std::nullopt;
  std::memcpy(numbers.data(), piece->bytes.data() + kPciNumbers, sizeof numbers);
  return fmt::format("{:04x}:{:02x}:{:02x}.0", numbers[0], numbers[1], numbers[2]);
}

// The device that the call is about; 0 where it is about none.
std::uint64_t handle_in(const CallView& call) {
  const auto& parameters = call.probe.parameters;
  if (parameters.empty() || parameters.front().type.name != "nvmlDevice_t") return 0;
  return probes::argument(call.probe, parameters.front(), call.record, call.payload);
}

}  // namespace

NvmlBook::NvmlBook(sqlite::Db& db, Failure& failure)
    : answer_(db, failure,
              "INSERT INTO nvml_answer_ (process, handle, nvml_index, name, value, source, call, ts) VALUES "
              "(?,?,?,?,?,?,?,?)") {}

void NvmlBook::told(const Told& told, const CallView& call) {
  if (call.probe.api != "nvml") return;
  if (is_one_of(kByIndex, call.probe.symbol)) return handle_given(told, call);
  const std::uint64_t handle = handle_in(call);
  if (is_one_of(kPciInfo, call.probe.symbol))
    if (auto address = pci_address(call)) store(told, call, handle, "pci", std::move(*address));
  for (const Teller& teller : kTellers)
    if (teller.symbol == call.probe.symbol)
      if (auto text = text_at(call, teller)) store(told, call, handle, teller.name, std::move(*text));
}

void NvmlBook::handle_given(const Told& told, const CallView& call) {
  const auto piece = call.piece(PieceKind::Out, 1);
  std::uint64_t handle = 0;
  if (!piece || piece->bytes.size() < sizeof handle) return;
  std::memcpy(&handle, piece->bytes.data(), sizeof handle);
  if (indices_.size() >= kMostHandles) indices_.clear();  // a stand-in may make a new handle each time
  const auto index =
      static_cast<std::int64_t>(probes::argument(call.probe, call.probe.parameters[0], call.record, call.payload));
  indices_[{told.process, handle}] = index;
  store(told, call, handle, "index", std::to_string(index));
}

std::optional<std::int64_t> NvmlBook::index_of(ProcessRow process, std::uint64_t handle) const {
  const auto found = indices_.find({process, handle});
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

void NvmlBook::store(const Told& told, const CallView& call, std::uint64_t handle, std::string_view name,
                     std::string text) {
  const auto index = index_of(told.process, handle);
  if (values_.size() >= kMostValues) values_.clear();
  // Handles of one index are one device.
  const std::uint64_t device = index ? static_cast<std::uint64_t>(*index) + 1 : handle;
  Value& value = values_[{told.process, device, std::string(name) + '\0' + call.probe.symbol}];
  if (value.rows > 0 && (value.text == text || value.rows >= kMostNvmlChanges)) return;
  ++value.rows;
  value.text = text;
  answer_(told.process, unless(static_cast<std::int64_t>(handle), 0), index, name, text, call.probe.symbol, told.call,
          told.at);
}

void NvmlBook::end_process(ProcessRow process) {
  std::erase_if(indices_, [&](const auto& item) { return item.first.first == process; });
  std::erase_if(values_, [&](const auto& item) { return std::get<0>(item.first) == process; });
}

}  // namespace fade::store
