#include "session/tensor_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "probes/arguments.hpp"
#include "probes/operators.hpp"

namespace fade {
namespace {

using probes::kTensorMaker;
using probes::Parameter;
using probes::Tensor;

constexpr std::uint64_t kMostIntegers = 32;
constexpr std::uint8_t kUnboxed = 0, kAbsent = 0;  // tag of a list that is an address and a number; flag of an optional

// The two words of a parameter: an address, and a number if it is a list.
std::array<std::uint64_t, 2> words_of_parameter(const Parameter& parameter, const OpenCall& call) {
  std::array<std::uint64_t, 2> out{};
  probes::argument_bytes(parameter, call.record, call.payload,
                         std::as_writable_bytes(std::span(out).first(parameter.at.words > 1 ? 2 : 1)));
  return out;
}

// The tensor in these bytes of an object. An object that could not be read has none.
Tensor tensor_in(std::span<const std::byte> bytes, const TensorLayout& layout, const Memory& memory) {
  std::uint64_t outside = 0;
  Tensor out = read_tensor(bytes, layout, outside);
  if (outside == 0 || out.state != Tensor::State::Known) return out;
  std::uint64_t elsewhere = 0;
  std::memcpy(&elsewhere, bytes.data() + layout.sizes + 8, sizeof elsewhere);
  out.sizes.resize(outside);
  if (!memory.read_exactly({elsewhere}, std::as_writable_bytes(std::span(out.sizes))))
    return {.state = Tensor::State::Unreadable};
  return out;
}

// A single piece is cheaper to read by the file of the memory.
void read_together(std::span<ProcessMemory::Piece> pieces, const ProcessMemory& memory) {
  while (pieces.size() > 1) {
    const auto some = pieces.first(std::min(pieces.size(), ProcessMemory::kMostPieces));
    memory.read_all(some);
    pieces = pieces.subspan(some.size());
  }
  if (!pieces.empty()) pieces.front().got = memory.read(pieces.front().from, pieces.front().into);
}

bool is_whole(const ProcessMemory::Piece& piece) { return piece.got == piece.into.size(); }

// Where the handles of a parameter are. n 0: it has none.
struct Handles {
  RemoteAddr at;
  std::uint64_t n = 0;
  bool is_readable = true;
};

Handles handles_of(const Parameter& parameter, const OpenCall& call, const Memory& memory) {
  const std::string_view form = parameter.pointee.name;
  const auto [word, number] = words_of_parameter(parameter, call);
  if (form == probes::kTensorList) return {{word}, number};
  if (form == probes::kOneTensor) return {{word}, 1};
  struct {
    std::uint64_t first, second, third;
  } behind{};
  const std::size_t size = form == probes::kTaggedTensorList ? 24 : 16;
  if (!memory.read_exactly({word}, std::as_writable_bytes(std::span(&behind, 1)).first(size))) return {{}, 1, false};
  if (form == probes::kTaggedTensorList)
    return {{behind.first}, behind.second, static_cast<std::uint8_t>(behind.third) == kUnboxed};
  const bool is_flag_first = form == probes::kFlaggedTensor;
  const auto flag = static_cast<std::uint8_t>(is_flag_first ? behind.first : behind.second);
  return {{word + (is_flag_first ? 8 : 0)}, flag == kAbsent ? 0u : 1u};
}

// The types that the call may ask for. The argument behind the sizes is an optional byte; releases differ in whether
// its flag, which is 1, is the lower byte.
std::vector<std::uint8_t> types_asked_for(const Parameter& sizes, const OpenCall& call) {
  const std::size_t next = std::size_t{sizes.at.first} + sizes.at.words;
  if (sizes.at.where != probes::Location::Where::Integer || next >= call.record.words.size()) return {};
  const auto low = static_cast<std::uint8_t>(call.record.words[next]);
  const auto high = static_cast<std::uint8_t>(call.record.words[next] >> 8);
  std::vector<std::uint8_t> out;
  if (low == 1) out.push_back(high);
  if (high == 1 && low != 1) out.push_back(low);
  return out;
}

// The tensors that a call of aten::empty.memory_format may have made.
std::vector<KnownTensor> known_tensors(const Entry& entry, const OpenCall& call) {
  std::vector<KnownTensor> out;
  const std::vector<Parameter>& parameters = entry.probe->parameters;
  const auto piece = probes::find_piece(call.payload, PieceKind::In, 0);
  if (parameters.empty() || !piece || piece->header.cut) return out;
  std::vector<std::int64_t> sizes(piece->bytes.size() / sizeof(std::int64_t));
  if (!sizes.empty()) std::memcpy(sizes.data(), piece->bytes.data(), sizes.size() * sizeof(std::int64_t));
  for (const std::uint8_t type : types_asked_for(parameters.front(), call)) out.push_back({sizes, type});
  return out;
}

}  // namespace

std::uint64_t TensorReader::SeenObjects::last(Handle at) const {
  const Seen& seen = all_[place_of(at)];
  return seen.at == at ? seen.object : 0;
}

void TensorReader::SeenObjects::note(Handle at, std::uint64_t object) { all_[place_of(at)] = {at, object}; }

std::size_t TensorReader::SeenObjects::place_of(Handle at) { return (at.address >> 3 ^ at.address >> 13) % kMost; }

void TensorReader::note(ProcessId process, std::string detail) {
  sink_.notice(Lifecycle{clock_.now(), process, 0, "note", 0, std::move(detail)});
}

void TensorReader::read(const Entry& entry, ProcessId process, const ProcessMemory& memory, OpenCall& call) {
  Library& library = libraries_[entry.library];
  const auto takes_integers = [&](std::uint8_t index) {
    return entry.probe->parameters[index].pointee.cls == probes::TypeClass::Integers;
  };
  arguments_.clear();
  if (library.layout) read_tensors(entry, process, *library.layout, memory, call);
  bool is_unread = false;
  std::size_t next = 0;
  for (const std::uint8_t index : entry.needs.of_operator) {
    if (takes_integers(index)) read_integers(entry, index, memory, call);
    else if (library.layout) append_tensors(arguments_[next++], entry, *library.layout, memory, call);
    else is_unread = true;
  }
  if (is_unread && library.unread++ == 0)
    note(process, fmt::format("the layout of tensors in {} is not known yet: it is learned from the first tensors that "
                              "{} makes",
                              entry.library, kTensorMaker));
}

void TensorReader::read_integers(const Entry& entry, std::uint8_t index, const Memory& memory, OpenCall& call) {
  const auto [word, number] = words_of_parameter(entry.probe->parameters[index], call);
  const std::uint64_t n = std::min(number, kMostIntegers);
  std::array<std::int64_t, kMostIntegers> numbers;
  const auto bytes = std::as_writable_bytes(std::span(numbers).first(n));
  const bool is_read = n == 0 || memory.read_exactly({word}, bytes);
  append_piece(call.payload, {.kind = PieceKind::In, .param = index, .cut = n < number, .unreadable = !is_read},
               is_read ? std::span<const std::byte>(bytes) : std::span<const std::byte>());
}

// Fills arguments_, objects_ and object_bytes_. Tensors that stay have the same handles at each call, so each object is
// read at its address of the call before, together with the handles. Objects elsewhere are read afterwards.
void TensorReader::read_tensors(const Entry& entry, ProcessId process, const TensorLayout& layout,
                                const ProcessMemory& memory, const OpenCall& call) {
  find_handles(entry, memory, call);
  const std::size_t size = std::min(layout.end(), TensorLayout::kMostRead);
  object_bytes_.resize(objects_.size() * size);
  guesses_.clear();
  for (const Argument& one : arguments_)
    for (std::size_t i = 0; i < one.n; ++i) guesses_.push_back(seen_.last({process, one.handles.value + 8 * i}));
  const bool is_guessed = std::ranges::none_of(guesses_, [](std::uint64_t guess) { return guess == 0; });
  pieces_.clear();
  add_handles();
  const std::size_t handles = pieces_.size();
  for (std::size_t i = 0; is_guessed && i < guesses_.size(); ++i)
    pieces_.push_back({{guesses_[i]}, std::span(object_bytes_).subspan(i * size, size)});
  read_together(pieces_, memory);
  take_handles(process);
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(handles));
  read_others(size, is_guessed, memory);
}

// Fills arguments_, and gives objects_ their number.
void TensorReader::find_handles(const Entry& entry, const Memory& memory, const OpenCall& call) {
  objects_.clear();
  for (const std::uint8_t index : entry.needs.of_operator) {
    const Parameter& parameter = entry.probe->parameters[index];
    if (parameter.pointee.cls == probes::TypeClass::Integers) continue;
    const Handles handles = handles_of(parameter, call, memory);
    const std::size_t n = handles.is_readable ? std::min<std::uint64_t>(handles.n, probes::kMostTensors) : 0;
    arguments_.push_back({index, handles.at, handles.n, objects_.size(), n, handles.is_readable});
    objects_.resize(objects_.size() + n);
  }
}

void TensorReader::add_handles() {
  for (const Argument& one : arguments_)
    if (one.n > 0)
      pieces_.push_back({one.handles, std::as_writable_bytes(std::span(objects_).subspan(one.first, one.n))});
}

// The handles have been read.
void TensorReader::take_handles(ProcessId process) {
  std::size_t next = 0;
  for (Argument& one : arguments_) {
    if (one.n == 0) continue;
    one.is_readable = is_whole(pieces_[next++]);
    for (std::size_t i = 0; one.is_readable && i < one.n; ++i)
      seen_.note({process, one.handles.value + 8 * i}, objects_[one.first + i]);
  }
}

// Reads the objects that are not where they were. Afterwards pieces_ are those of all objects.
void TensorReader::read_others(std::size_t size, bool is_guessed, const ProcessMemory& memory) {
  if (is_guessed && objects_ == guesses_) return;
  pieces_.clear();
  for (std::size_t i = 0; i < objects_.size(); ++i)
    pieces_.push_back({{objects_[i]}, std::span(object_bytes_).subspan(i * size, size)});
  read_together(pieces_, memory);
}

// pieces_ are those of the objects.
void TensorReader::append_tensors(const Argument& argument, const Entry& entry, const TensorLayout& layout,
                                  const Memory& memory, OpenCall& call) {
  buffer_.clear();
  for (std::size_t i = argument.first; argument.is_readable && i < argument.first + argument.n; ++i)
    probes::append_tensor(buffer_, is_whole(pieces_[i]) ? tensor_in(pieces_[i].into, layout, memory)
                                                        : Tensor{.state = Tensor::State::Unreadable});
  if (argument.told == 0 && !probes::is_list(entry.probe->parameters[argument.index].pointee.name))
    probes::append_tensor(buffer_, {.state = Tensor::State::None});
  append_piece(call.payload,
               {.kind = PieceKind::In,
                .param = argument.index,
                .cut = std::min<std::uint64_t>(argument.told, probes::kMostTensors) < argument.told,
                .unreadable = !argument.is_readable && argument.told > 0},
               buffer_);
}

void TensorReader::learn(const Entry& entry, ProcessId process, const Memory& memory, const OpenCall& call) {
  Library& library = libraries_[entry.library];
  const bool is_new = !library.layout;
  if (!is_new && library.layout->device_flag != TensorLayout::Flag::Unknown) return;
  const auto known = known_tensors(entry, call);
  const auto object = known.empty() ? std::nullopt : memory.value<std::uint64_t>({call.record.result});
  if (!object) return;
  std::array<std::byte, TensorLayout::kMostRead> bytes;
  const auto read = std::span(bytes).first(memory.read({*object}, bytes));
  for (const KnownTensor& one : known)
    if (const auto found = find_tensor_layout(read, one)) library.layout = found;
  if (!is_new || !library.layout) return;
  note(process, fmt::format("the layout of tensors in {} is known: sizes at {}, type at {}; {} calls before have no "
                            "shapes",
                            entry.library, library.layout->sizes, library.layout->type, library.unread));
}

}  // namespace fade
