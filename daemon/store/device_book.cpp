#include "store/device_book.hpp"

#include <fmt/format.h>

#include <charconv>

namespace fade::store {
namespace {

constexpr unsigned kMostChanges = 100;        // rows of one value of one device
constexpr std::size_t kMostAnswers = 10'000;  // of one device
constexpr int kMostOrdinals = 1'024;

std::uint64_t fnv(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001B3u;
  return hash;
}

template <class Facts>
std::string fact(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  return done.ec == std::errc() && !text.empty() ? std::optional(value) : std::nullopt;
}

template <class Facts>
std::string pci_address(const Facts& facts) {
  if (const std::string text = fact(facts, "pciBusId"); !text.empty()) return text;
  const auto domain = number(fact(facts, "pciDomainID")), bus = number(fact(facts, "pciBusID")),
             device = number(fact(facts, "pciDeviceID"));
  if (!bus || !device) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.0", domain.value_or(0), *bus, *device);
}

}  // namespace

DeviceBook::DeviceBook(sqlite::Db& db, Failure& failure)
    : last_(last_row<DeviceRow>(db, "device_")),
      last_prop_(last_row<DevicePropRow>(db, "device_prop_")),
      device_(db, failure, "INSERT INTO device_ (id, process, ordinal) VALUES (?,?,?)"),
      describe_(db, failure,
                "UPDATE device_ SET name = ?2, arch = ?3, pci = ?4, uuid = ?5, total_memory = ?6 WHERE id = ?1"),
      prop_(db, failure, "INSERT INTO device_prop_ VALUES (?,?,?,?,?,?,?)") {}

DeviceRow DeviceBook::row(ProcessRow process, int ordinal) {
  if (ordinal < -1 || ordinal > kMostOrdinals)
    ordinal = -1;  // not a device of this machine, whatever the program meant
  const Asked asked(process, ordinal);
  if (last_answer_ == 0 || last_asked_ != asked) {
    last_asked_ = asked;
    last_answer_ = known(asked);
  }
  return last_answer_;
}

DeviceRow DeviceBook::find(ProcessRow process, int ordinal) const {
  const auto found = rows_.find({process, ordinal});
  return found == rows_.end() ? 0 : found->second;
}

DeviceRow DeviceBook::known(const Asked& asked) {
  DeviceRow& row = rows_[asked];
  if (row != 0) return row;
  const auto [process, ordinal] = asked;
  row = ++last_;
  devices_[row] = Device{process, ordinal, {}, {}};
  device_(row, process, ordinal);
  return row;
}

void DeviceBook::told(const Told& told, const CallView& call) {
  const DeviceRow device = row(told.process, told.ordinal);
  auto& answers = answers_[device];
  const std::uint64_t question = fnv(static_cast<std::uint64_t>(told.function.value()) + call.record.words[1] * 31, {});
  const std::uint64_t answer = fnv(0xCBF29CE484222325u, call.payload);
  if (answers.size() >= kMostAnswers) answers.clear();
  const auto [known, fresh] = answers.try_emplace(question, answer);
  if (!fresh && known->second == answer) return;
  known->second = answer;
  const auto facts = device_facts(call, PieceKind::Out);
  for (const DeviceFact& f : facts) {
    devices_[device].facts[f.name] = f.value;
    store(device, f, "api:" + call.probe.symbol, told);
  }
  const auto became = device_facts(call, PieceKind::Became);
  for (std::size_t i = 0; i < became.size(); ++i)
    if (i >= facts.size() || facts[i].value != became[i].value || facts[i].name != became[i].name)
      store(device, became[i], "override:" + call.probe.symbol, told);
  if (!facts.empty()) describe(device, devices_[device]);
}

void DeviceBook::store(DeviceRow row, const DeviceFact& fact, const std::string& source, const Told& told) {
  Value& value = values_[row][fact.name + '\0' + source];
  if (value.rows > 0 && (value.text == fact.value || value.rows >= kMostChanges)) return;
  ++value.rows;
  value.text = fact.value;
  prop_(++last_prop_, row, fact.name, fact.value, source, told.call, told.at);
}

void DeviceBook::describe(DeviceRow row, Device& device) {
  const auto& facts = device.facts;
  device.name = fact(facts, "name");
  const std::string arch = fact(facts, "gcnArchName"), pci = pci_address(facts), uuid = fact(facts, "uuid");
  describe_(row, unless_empty(device.name), unless_empty(arch), unless_empty(pci), unless_empty(uuid),
            number(fact(facts, "totalGlobalMem")));
}

std::string DeviceBook::label(DeviceRow row, const std::string& process) const {
  const auto found = devices_.find(row);
  if (found == devices_.end()) return fmt::format("device row {}", row.value());
  if (found->second.ordinal < 0) return process.empty() ? "an unknown device" : "an unknown device of " + process;
  std::string out = fmt::format("device {}", found->second.ordinal);
  if (!found->second.name.empty()) out += " (" + found->second.name + ")";
  return process.empty() ? out : out + " of " + process;
}

ProcessRow DeviceBook::process_of(DeviceRow row) const {
  const auto found = devices_.find(row);
  return found == devices_.end() ? 0 : found->second.process;
}

// Rows and names stay for the end block; data that only serve to notice changes go.
void DeviceBook::end_process(ProcessRow process) {
  last_answer_ = 0;
  for (auto entry = rows_.lower_bound({process, -2}); entry != rows_.end() && entry->first.first == process;
       entry = rows_.erase(entry)) {
    values_.erase(entry->second);
    answers_.erase(entry->second);
    devices_[entry->second].facts.clear();
  }
}

}  // namespace fade::store
