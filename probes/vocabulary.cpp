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

}  // namespace fade::probes
