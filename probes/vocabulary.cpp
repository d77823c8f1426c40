#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

template <class T>
struct Word {
  T meaning;
  std::string_view word;
};

constexpr Word<Role> kRoles[] = {
    {Role::Bytes, "bytes"},
    {Role::Width, "width"},
    {Role::Height, "height"},
    {Role::Depth, "depth"},
    {Role::Address, "address"},
    {Role::Destination, "dst"},
    {Role::Source, "src"},
    {Role::CopyKind, "copy_kind"},
    {Role::Stream, "stream"},
    {Role::Kernel, "kernel"},
    {Role::KernelName, "kernel_name"},
    {Role::Module, "module"},
    {Role::Grid, "grid"},
    {Role::Block, "block"},
    {Role::GridX, "grid_x"},
    {Role::GridY, "grid_y"},
    {Role::GridZ, "grid_z"},
    {Role::BlockX, "block_x"},
    {Role::BlockY, "block_y"},
    {Role::BlockZ, "block_z"},
    {Role::SharedBytes, "shared"},
    {Role::Device, "device"},
    {Role::Count, "count"},
    {Role::Flags, "flags"},
    {Role::Value, "value"},
    {Role::Attribute, "attribute"},
    {Role::Table, "table"},
    {Role::TableId, "table_id"},
    {Role::RangeName, "range_name"},
    {Role::RangeId, "range_id"},
    {Role::RangeDomain, "range_domain"},
    {Role::ChannelBits, "channel_bits"},
    {Role::Format, "format"},
    {Role::Channels, "channels"},
    {Role::Levels, "levels"},
    {Role::Object, "object"},
    {Role::Pitch, "pitch"},
};

constexpr Word<Kind> kKinds[] = {
    {Kind::Other, "other"},
    {Kind::Launch, "launch"},
    {Kind::Copy, "copy"},
    {Kind::Set, "set"},
    {Kind::Alloc, "alloc"},
    {Kind::Free, "free"},
    {Kind::HostAlloc, "host_alloc"},
    {Kind::HostFree, "host_free"},
    {Kind::StreamCreate, "stream_create"},
    {Kind::StreamDestroy, "stream_destroy"},
    {Kind::Sync, "sync"},
    {Kind::Event, "event"},
    {Kind::SetDevice, "set_device"},
    {Kind::GetDevice, "get_device"},
    {Kind::DeviceQuery, "device_query"},
    {Kind::ModuleLoad, "module_load"},
    {Kind::GetFunction, "get_function"},
    {Kind::Error, "error"},
    {Kind::Register, "register"},
    {Kind::Graph, "graph"},
    {Kind::RangePush, "range_push"},
    {Kind::RangePop, "range_pop"},
    {Kind::RangeStart, "range_start"},
    {Kind::RangeStop, "range_stop"},
    {Kind::Mark, "mark"},
};

constexpr Word<MemoryAct> kMemoryActs[] = {
    {MemoryAct::Allocate, "allocate"}, {MemoryAct::Free, "free"},     {MemoryAct::Map, "map"},
    {MemoryAct::Unmap, "unmap"},       {MemoryAct::Retain, "retain"}, {MemoryAct::Reset, "reset"},
    {MemoryAct::Tell, "tell"},         {MemoryAct::Export, "export"}, {MemoryAct::Open, "open"},
    {MemoryAct::Measure, "measure"},   {MemoryAct::Node, "node"},
};

// As in memory_kind_ of the schema.
constexpr Word<MemoryKind> kMemoryKinds[] = {
    {MemoryKind::Device, "device"},         {MemoryKind::Host, "host"},         {MemoryKind::Managed, "managed"},
    {MemoryKind::Registered, "registered"}, {MemoryKind::Array, "array"},       {MemoryKind::Physical, "physical"},
    {MemoryKind::Reserved, "reserved"},     {MemoryKind::Imported, "imported"}, {MemoryKind::Graph, "graph"},
    {MemoryKind::Mapped, "mapped"},
};

// Host has no word: the ledger tells it from Memory by the kind.
constexpr Word<MemorySpace> kMemorySpaceWords[] = {
    {MemorySpace::Memory, "memory"},     {MemorySpace::Registered, "registered"}, {MemorySpace::Array, "array"},
    {MemorySpace::Physical, "physical"}, {MemorySpace::Reserved, "reserved"},     {MemorySpace::Ipc, "ipc"},
    {MemorySpace::External, "external"},
};

template <class T, std::size_t N>
std::optional<T> meaning_of(const Word<T> (&table)[N], std::string_view word) {
  for (const auto& row : table)
    if (row.word == word) return row.meaning;
  return std::nullopt;
}

template <class T, std::size_t N>
std::string_view word_of(const Word<T> (&table)[N], T meaning) {
  for (const auto& row : table)
    if (row.meaning == meaning) return row.word;
  return {};
}

template <class T, std::size_t N>
std::vector<std::string> words_of(const Word<T> (&table)[N]) {
  std::vector<std::string> out;
  for (const auto& row : table) out.emplace_back(row.word);
  return out;
}

}  // namespace

std::optional<Role> role_named(std::string_view word) { return meaning_of(kRoles, word); }
std::optional<Kind> kind_named(std::string_view word) { return meaning_of(kKinds, word); }
std::string_view word_for(Role role) { return word_of(kRoles, role); }
std::string_view word_for(Kind kind) { return word_of(kKinds, kind); }
std::vector<std::string> role_words() { return words_of(kRoles); }
std::vector<std::string> kind_words() { return words_of(kKinds); }

std::optional<MemoryAct> memory_act_named(std::string_view word) { return meaning_of(kMemoryActs, word); }
std::optional<MemoryKind> memory_kind_named(std::string_view word) { return meaning_of(kMemoryKinds, word); }
std::optional<MemorySpace> memory_space_named(std::string_view word) { return meaning_of(kMemorySpaceWords, word); }
std::vector<std::string> memory_act_words() { return words_of(kMemoryActs); }
std::vector<std::string> memory_kind_words() { return words_of(kMemoryKinds); }
std::vector<std::string> memory_space_words() { return words_of(kMemorySpaceWords); }

// Memory that a program has only as a handle is named by that handle.
MemorySpace usual_space(MemoryKind kind) {
  return memory_space_named(word_of(kMemoryKinds, kind)).value_or(MemorySpace::Memory);
}

std::string memory_note(const MemoryAction& action) {
  if (action.act == MemoryAct::None) return {};
  std::string out = "@memory(";
  out += word_of(kMemoryActs, action.act);
  MemorySpace usual = MemorySpace::Memory;
  if (action.act == MemoryAct::Allocate) {
    (out += ", ") += word_of(kMemoryKinds, action.kind);
    usual = usual_space(action.kind);
  }
  if (action.space != usual) (out += ", ") += word_of(kMemorySpaceWords, action.space);
  return out + ')';
}

}  // namespace fade::probes
