#include "probes/call_block.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace fade::probes {
namespace {

using Column = std::vector<std::uint64_t>;

constexpr std::uint64_t kFormat = 1;
constexpr unsigned kFlagsShift = 8;  // the bits of a head below the flags: number of words in the payload
constexpr std::size_t kMostPayloadWords = kMostPayloadInABlock / sizeof(std::uint64_t);

constexpr std::size_t kMostBytesOfANumber = 10;

// Writes numbers into a buffer that has room for all of them at full length. A check for each byte would be a third of
// the cost.
class BlockWriter {
 public:
  explicit BlockWriter(std::size_t numbers)
      : room_(std::make_unique_for_overwrite<std::byte[]>(numbers * kMostBytesOfANumber)), next_(room_.get()) {}

  // LEB128.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *next_++ = static_cast<std::byte>(value | 0x80);
    *next_++ = static_cast<std::byte>(value);
  }

  // A word of a column as its difference to the word before, small for small steps of either sign. A difference of 0 is
  // followed by the number of further zeros.
  void word(std::uint64_t value) {
    const std::uint64_t difference = value - before_;
    if (difference == 0 && zeros_ > 0) {
      ++zeros_;
      return;
    }
    end_zeros();
    before_ = value;
    number(difference << 1 ^ (difference >> 63 ? ~std::uint64_t{0} : 0));
    zeros_ = difference == 0;
  }
  void end_column() {
    end_zeros();
    before_ = 0;
  }
  std::vector<std::byte> take() const { return {room_.get(), next_}; }

 private:
  void end_zeros() {
    if (zeros_ > 0) number(zeros_ - 1);
    zeros_ = 0;
  }

  std::unique_ptr<std::byte[]> room_;
  std::byte* next_;
  std::uint64_t before_ = 0, zeros_ = 0;
};

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
  std::span<const std::byte> rest() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

std::size_t payload_words(std::uint64_t head) { return head & ((1u << kFlagsShift) - 1); }

bool is_argument(const PieceHeader& header) { return header.kind == PieceKind::Stack || header.kind == PieceKind::Sse; }

// Words of one piece: its header, its bytes and the padding.
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
    if (parameter.at.where == Location::Where::Integer)
      out = std::max<std::size_t>(out, parameter.at.first + parameter.at.words);
  return std::min(out, kAll);
}

}  // namespace

CallPacker::CallPacker(const Probe& probe) : registers_(registers_of(probe)) {}

// Stack words and xmm registers come first, because no argument can be shown without them. The pieces that have room
// follow. Returns the number of words put.
std::size_t CallPacker::put_payload(Payload payload) {
  std::size_t words = 0;
  for (const bool arguments : {true, false})
    for_each_piece(payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
      const std::size_t size = words_of(header);
      if (is_argument(header) != arguments || words + size > kMostPayloadWords) return;
      const std::size_t at = words_.size();
      words_.resize(at + size);
      std::memcpy(&words_[at], bytes.data() - sizeof header, size * sizeof words_[at]);
      words += size;
    });
  return words;
}

bool CallPacker::add(std::int64_t call, const CallRecord& record, Payload payload) {
  if (argument_words(payload) > kMostPayloadWords) return false;
  const std::size_t row = words_.size();
  if (rows_.empty()) words_.reserve(size_before_);
  rows_.push_back(static_cast<std::uint32_t>(row));
  words_.push_back(static_cast<std::uint64_t>(call));
  words_.push_back(std::uint64_t{record.flags} << kFlagsShift);
  words_.insert(words_.end(), record.words.begin(), record.words.begin() + static_cast<std::ptrdiff_t>(registers_));
  const std::size_t put = put_payload(payload);
  words_[row + 1] |= put;
  most_payload_ = std::max(most_payload_, put);
  first_ = rows_.size() == 1 ? call : std::min(first_, call);
  last_ = rows_.size() == 1 ? call : std::max(last_, call);
  return true;
}

// The columns: row, head, registers, then each payload word of the calls that have one.
std::vector<std::byte> CallPacker::pack() {
  const std::size_t of_all = 2 + registers_;
  BlockWriter out(3 + words_.size());
  for (const std::uint64_t number : {kFormat, std::uint64_t{rows_.size()}, std::uint64_t{registers_}})
    out.number(number);
  for (std::size_t column = 0; column < of_all + most_payload_; ++column) {
    for (const std::uint32_t row : rows_)
      if (column < of_all + payload_words(words_[row + 1])) out.word(words_[row + column]);
    out.end_column();
  }
  size_before_ = words_.size();
  most_payload_ = 0;
  words_ = {};  // a function that is not called again keeps no memory
  rows_ = {};
  return out.take();
}

std::optional<CallBlock> CallBlock::unpack(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const std::uint64_t format = in.number(), calls = in.number(), registers = in.number();
  if (!in.good() || format != kFormat || calls == 0 || calls > kMostCallsInABlock ||
      registers > std::tuple_size_v<decltype(CallRecord::words)>)
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
    std::memcpy(out.payload.data() + word * sizeof(std::uint64_t), &columns_[registers_ + word][places_[word][*found]],
                sizeof(std::uint64_t));
  return out;
}

// The first word of the first column is the first id; the others are differences to it.
std::optional<std::vector<std::byte>> with_moved_calls(std::span<const std::byte> bytes, std::int64_t by) {
  constexpr std::size_t kHead = 3;
  Reader in(bytes);
  BlockWriter out(kHead + 1);
  const std::uint64_t format = in.number();
  out.number(format);
  for (std::size_t i = 1; i < kHead; ++i) out.number(in.number());
  const std::uint64_t word = in.number();
  // A difference of 0 has a count behind it. No call has the id 0.
  if (!in.good() || format != kFormat || word == 0) return std::nullopt;
  const std::uint64_t first = word >> 1 ^ (word & 1 ? ~std::uint64_t{0} : 0);
  const std::uint64_t moved = first + static_cast<std::uint64_t>(by);
  if (moved == 0) return std::nullopt;
  out.word(moved);
  std::vector<std::byte> all = out.take();
  all.insert(all.end(), in.rest().begin(), in.rest().end());
  return all;
}

}  // namespace fade::probes
