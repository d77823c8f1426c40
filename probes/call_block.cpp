#include "probes/call_block.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace fade::probes {
namespace {

using Column = std::vector<std::uint64_t>;

constexpr std::uint64_t kFormat = 1;
constexpr unsigned kFlagsShift = 8;  // of a head: below them how many words the payload has
constexpr std::size_t kMostPayloadWords = kMostPayloadInABlock / sizeof(std::uint64_t);

// LEB128.
void put(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// Differences of one value to the next, small numbers for small ones of either sign. Behind a 0 stands how many more follow.
void put_column(std::vector<std::byte>& out, const Column& column) {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < column.size();) {
    const std::uint64_t difference = column[i] - before;
    before = column[i];
    put(out, difference << 1 ^ (difference >> 63 ? ~std::uint64_t{0} : 0));
    if (++i; difference != 0) continue;
    std::size_t more = 0;
    for (; i < column.size() && column[i] == before; ++i) ++more;
    put(out, more);
  }
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<std::uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      out |= (byte & 0x7f) << shift;
      if (!(byte & 0x80)) return out;
    }
    good_ = false;
    return 0;
  }

  Column column(std::size_t size) {
    Column out;
    std::uint64_t before = 0;
    while (out.size() < size && good_) {
      const std::uint64_t word = number();
      before += word >> 1 ^ (word & 1 ? ~std::uint64_t{0} : 0);
      out.push_back(before);
      if (word != 0) continue;
      const std::uint64_t more = number();
      good_ = good_ && more <= size - out.size();
      if (good_) out.insert(out.end(), more, before);
    }
    return out;
  }
  bool good() const { return good_; }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

std::size_t payload_words(std::uint64_t head) { return head & ((1u << kFlagsShift) - 1); }

bool is_argument(const PieceHeader& header) { return header.kind == PieceKind::Stack || header.kind == PieceKind::Sse; }

// With its header and what fills it up.
std::size_t words_of(const PieceHeader& header) { return 1 + (std::size_t{header.size} + 7) / 8; }

std::size_t argument_words(Payload payload) {
  std::size_t out = 0;
  for_each_piece(payload, [&](const PieceHeader& header, auto) { out += is_argument(header) ? words_of(header) : 0; });
  return out;
}

std::size_t registers_of(const Probe& probe) {
  constexpr std::size_t kAll = std::tuple_size_v<decltype(CallRecord::words)>;
  if (!probe.known_signature) return kAll;
  std::size_t out = 0;
  for (const Parameter& parameter : probe.parameters)
    if (parameter.at.where == Location::Where::Integer) out = std::max<std::size_t>(out, parameter.at.first + parameter.at.words);
  return std::min(out, kAll);
}

}  // namespace

CallPacker::CallPacker(const Probe& probe) : registers_(registers_of(probe)), columns_(registers_) {}

// Words on the stack and in xmm registers first: without them there is nothing to show. Then the pieces that have room.
bool CallPacker::put_payload(Payload payload) {
  std::size_t words = 0;
  const auto put_piece = [&](const std::byte* from, std::size_t size) {
    for (std::size_t at = 0; at < size; ++at, ++words) {
      if (columns_.size() <= registers_ + words) columns_.emplace_back();
      std::uint64_t value;
      std::memcpy(&value, from + at * sizeof value, sizeof value);
      columns_[registers_ + words].push_back(value);
    }
  };
  if (argument_words(payload) > kMostPayloadWords) return false;
  for (const bool arguments : {true, false})
    for_each_piece(payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
      const std::size_t size = words_of(header);
      if (is_argument(header) == arguments && words + size <= kMostPayloadWords) put_piece(bytes.data() - sizeof header, size);
    });
  heads_.push_back(words);
  words_ += words;
  return true;
}

bool CallPacker::add(std::int64_t call, const CallRecord& record, Payload payload) {
  if (!put_payload(payload)) return false;
  heads_.back() |= std::uint64_t{record.flags} << kFlagsShift;
  for (std::size_t i = 0; i < registers_; ++i) columns_[i].push_back(record.words[i]);
  first_ = ids_.empty() ? call : std::min(first_, call);
  last_ = ids_.empty() ? call : std::max(last_, call);
  ids_.push_back(static_cast<std::uint64_t>(call));
  words_ += registers_ + 2;
  return true;
}

std::vector<std::byte> CallPacker::pack() {
  std::vector<std::byte> out;
  out.reserve(words_);
  for (const std::uint64_t number : {kFormat, std::uint64_t{ids_.size()}, std::uint64_t{registers_}}) put(out, number);
  put_column(out, ids_);
  put_column(out, heads_);
  for (const Column& column : columns_) put_column(out, column);
  columns_.assign(registers_, {});  // a function that is not called again keeps no memory
  ids_ = {};
  heads_ = {};
  words_ = 0;
  return out;
}

std::optional<CallBlock> CallBlock::unpack(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const std::uint64_t format = in.number(), calls = in.number(), registers = in.number();
  if (!in.good() || format != kFormat || calls == 0 || calls > kMostCallsInABlock || registers > std::tuple_size_v<decltype(CallRecord::words)>)
    return std::nullopt;
  CallBlock out;
  out.registers_ = registers;
  out.ids_ = in.column(calls);
  out.heads_ = in.column(calls);
  for (std::size_t i = 0; i < registers; ++i) out.columns_.push_back(in.column(calls));
  std::size_t most = 0;
  for (const std::uint64_t head : out.heads_) most = std::max(most, payload_words(head));
  if (!in.good() || most > kMostPayloadWords) return std::nullopt;
  for (std::size_t word = 0; word < most; ++word) {
    std::vector<std::uint32_t> places(calls);
    std::uint32_t size = 0;
    for (std::size_t row = 0; row < calls; ++row) {
      places[row] = size;
      size += payload_words(out.heads_[row]) > word;
    }
    out.places_.push_back(std::move(places));
    out.columns_.push_back(in.column(size));
  }
  if (!in.good()) return std::nullopt;
  out.by_id_.resize(calls);
  std::iota(out.by_id_.begin(), out.by_id_.end(), 0u);
  std::ranges::sort(out.by_id_, {}, [&](std::uint32_t row) { return static_cast<std::int64_t>(out.ids_[row]); });
  return out;
}

std::optional<PackedCall> CallBlock::find(std::int64_t call) const {
  const auto id = [&](std::uint32_t row) { return static_cast<std::int64_t>(ids_[row]); };
  const auto found = std::ranges::lower_bound(by_id_, call, {}, id);
  if (found == by_id_.end() || id(*found) != call) return std::nullopt;
  PackedCall out;
  out.record.flags = static_cast<std::uint16_t>(heads_[*found] >> kFlagsShift);
  for (std::size_t i = 0; i < registers_; ++i) out.record.words[i] = columns_[i][*found];
  out.payload.resize(payload_words(heads_[*found]) * sizeof(std::uint64_t));
  for (std::size_t word = 0; word * sizeof(std::uint64_t) < out.payload.size(); ++word)
    std::memcpy(out.payload.data() + word * sizeof(std::uint64_t), &columns_[registers_ + word][places_[word][*found]], sizeof(std::uint64_t));
  return out;
}

}  // namespace fade::probes
