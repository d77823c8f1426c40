#include "session/tensor_layout.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace fade {
namespace {

using probes::Tensor;
using Bytes = std::span<const std::byte>;

// Behind the sizes' place, in bytes: the first element's place in the storage, the number of elements, the type. No
// release from 1.10 on has others.
constexpr std::size_t kElementOffset = 88, kElementCount = 96, kTypePlace = 104, kPlacesEnd = kTypePlace + 5;
constexpr std::size_t kFirstPlace = 16;  // before are the table of functions and the number of owners

template <class T>
T value_at(Bytes bytes, std::size_t place) {
  T out{};
  if (place + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + place, sizeof out);
  return out;
}

bool is_place_of(Bytes object, std::size_t place, const KnownTensor& known) {
  const auto word = [&](std::size_t index) { return value_at<std::int64_t>(object, place + 8 * index); };
  const std::size_t n = known.sizes.size();
  if (word(0) != static_cast<std::int64_t>(n)) return false;
  std::int64_t stride = 1;
  for (std::size_t i = n; i-- > 0; stride *= known.sizes[i])
    if (word(1 + i) != known.sizes[i] || word(1 + TensorLayout::kInline + i) != stride) return false;
  return value_at<std::int64_t>(object, place + kElementOffset) == 0 &&
         value_at<std::int64_t>(object, place + kElementCount) == stride &&
         value_at<std::uint16_t>(object, place + kTypePlace) == known.type;
}

// Types of devices that make tensors: cpu, cuda, hip, xpu, mps, meta.
constexpr std::uint8_t kUsual[] = {0, 1, 6, 12, 13, 14};

// The flag is 1. The index of the CPU is -1. Three bytes may fit both ways: cuda:1, cuda:6.
TensorLayout::Flag flag_of(Bytes object, std::size_t device) {
  const auto byte = [&](std::size_t index) { return value_at<std::uint8_t>(object, device + index); };
  const auto is_device = [](std::uint8_t type, std::uint8_t index) {
    return std::ranges::find(kUsual, type) != std::end(kUsual) && (type == 0 ? index == 0xff : index < 128);
  };
  const bool first = byte(0) == 1 && is_device(byte(1), byte(2));
  const bool last = byte(2) == 1 && is_device(byte(0), byte(1));
  if (first == last) return TensorLayout::Flag::Unknown;
  return first ? TensorLayout::Flag::First : TensorLayout::Flag::Last;
}

bool tells_enough(const KnownTensor& known) {
  if (known.sizes.empty() || known.sizes.size() > TensorLayout::kInline) return false;
  std::int64_t elements = 1;
  for (const std::int64_t size : known.sizes)
    if (size <= 0 || __builtin_mul_overflow(elements, size, &elements)) return false;
  return elements > 1;
}

}  // namespace

std::optional<TensorLayout> find_tensor_layout(Bytes object, const KnownTensor& known) {
  if (!tells_enough(known)) return std::nullopt;
  std::optional<TensorLayout> found;
  for (std::size_t place = kFirstPlace; place + kPlacesEnd <= object.size(); place += 8) {
    if (!is_place_of(object, place, known)) continue;
    if (found) return std::nullopt;
    found = TensorLayout{.sizes = place, .type = place + kTypePlace};
    found->device_flag = flag_of(object, found->device());
  }
  return found;
}

Tensor read_tensor(Bytes object, const TensorLayout& layout, std::uint64_t& outside) {
  Tensor out{.state = Tensor::State::Unreadable};
  const auto dimensions = value_at<std::uint64_t>(object, layout.sizes);
  outside = dimensions > TensorLayout::kInline ? dimensions : 0;
  if (object.size() < layout.end() || dimensions > probes::kMostDimensions) return out;
  out.state = Tensor::State::Known;
  out.type = static_cast<std::uint8_t>(value_at<std::uint16_t>(object, layout.type));
  if (layout.device_flag != TensorLayout::Flag::Unknown) {
    const bool is_first = layout.device_flag == TensorLayout::Flag::First;
    // Only an undefined tensor has no device: the argument was left out.
    if (value_at<std::uint8_t>(object, layout.device() + (is_first ? 0 : 2)) != 1) out.state = Tensor::State::None;
    out.device_type = value_at<std::uint8_t>(object, layout.device() + is_first);
    out.device_index = value_at<std::int8_t>(object, layout.device() + is_first + 1);
  }
  for (std::size_t i = 0; outside == 0 && i < dimensions; ++i)
    out.sizes.push_back(value_at<std::int64_t>(object, layout.sizes + 8 * (1 + i)));
  return out;
}

}  // namespace fade
