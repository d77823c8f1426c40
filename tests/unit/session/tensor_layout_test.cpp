// Where a tensor of PyTorch keeps its sizes, found in a tensor of known sizes.
#include "session/tensor_layout.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace fade {
namespace {

using testing::ElementsAre;

using Bytes = std::vector<std::byte>;

void put(Bytes& to, std::size_t at, auto value) { std::memcpy(to.data() + at, &value, sizeof value); }

// As PyTorch lays out a contiguous tensor, with the sizes at `place`.
Bytes object(std::size_t place, const std::vector<std::int64_t>& sizes, std::uint16_t type) {
  Bytes out(240);
  put(out, place, std::uint64_t{sizes.size()});
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
    put(out, place + 8 * (1 + i), sizes[i]);
    put(out, place + 8 * (6 + i), stride);
  }
  put(out, place + 96, stride);
  put(out, place + 104, type);
  return out;
}

// The device: a flag before (c10::optional) or behind it (std::optional).
void put_device(Bytes& to, std::size_t place, bool flag_first, std::uint8_t type, std::int8_t index) {
  const std::size_t device = place + 106;
  put(to, device + (flag_first ? 0 : 2), std::uint8_t{1});
  put(to, device + flag_first, type);
  put(to, device + flag_first + 1, index);
}

TEST(TensorLayout, IsFoundWhereverTheSizesAre) {
  for (const std::size_t place : {40u, 72u, 80u}) {
    Bytes made = object(place, {64, 3}, 6);
    put_device(made, place, true, 0, -1);
    const auto found = find_tensor_layout(made, {{64, 3}, 6});
    ASSERT_TRUE(found) << place;
    EXPECT_EQ(found->sizes, place);
    EXPECT_EQ(found->type, place + 104);
    EXPECT_EQ(found->device_flag, TensorLayout::Flag::First);
  }
}

TEST(TensorLayout, FlagOfTheDeviceMayBeBehindIt) {
  for (const auto& [type, index] : {std::pair{0, -1}, {1, 3}}) {
    Bytes made = object(72, {8}, 15);
    put_device(made, 72, false, static_cast<std::uint8_t>(type), static_cast<std::int8_t>(index));
    const auto found = find_tensor_layout(made, {{8}, 15});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->device_flag, TensorLayout::Flag::Last);
    std::uint64_t outside = 0;
    const probes::Tensor tensor = read_tensor(made, *found, outside);
    EXPECT_EQ(tensor.device_type, type);
    EXPECT_EQ(tensor.device_index, index);
  }
}

TEST(TensorLayout, DeviceThatFitsBothWaysTellsNoFlag) {
  Bytes made = object(72, {8}, 15);
  put_device(made, 72, true, 1, 1);
  put(made, 72 + 106 + 2, std::uint8_t{1});
  const auto found = find_tensor_layout(made, {{8}, 15});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->device_flag, TensorLayout::Flag::Unknown);
}

TEST(TensorLayout, IsNotGuessed) {
  const Bytes made = object(72, {64, 3}, 6);
  EXPECT_FALSE(find_tensor_layout(made, {{64, 3}, 7}));  // another type
  EXPECT_FALSE(find_tensor_layout(made, {{3, 64}, 6}));  // other sizes
  EXPECT_FALSE(find_tensor_layout({}, {{64, 3}, 6}));    // nothing could be read
  EXPECT_FALSE(find_tensor_layout(object(72, {}, 6), {{}, 6}));
  EXPECT_FALSE(find_tensor_layout(object(72, {1, 1}, 6), {{1, 1}, 6}));  // tells too little
  EXPECT_FALSE(find_tensor_layout(made, {{1L << 40, 1L << 40}, 6}));
  Bytes strided = made;
  put(strided, 72 + 48, std::int64_t{1});  // not contiguous
  EXPECT_FALSE(find_tensor_layout(strided, {{64, 3}, 6}));
  Bytes twice = object(24, {8}, 6);
  const Bytes second = object(24, {8}, 6);
  twice.resize(400);
  std::memcpy(twice.data() + 160, second.data(), second.size());
  EXPECT_FALSE(find_tensor_layout(twice, {{8}, 6}));
}

TEST(TensorLayout, SixSizesLieElsewhere) {
  Bytes made = object(72, {2, 3}, 11);
  put_device(made, 72, true, 1, 0);
  const auto layout = find_tensor_layout(made, {{2, 3}, 11});
  ASSERT_TRUE(layout);
  std::uint64_t outside = 0;
  EXPECT_THAT(read_tensor(made, *layout, outside).sizes, ElementsAre(2, 3));
  EXPECT_EQ(outside, 0u);
  put(made, 72, std::uint64_t{6});
  EXPECT_EQ(read_tensor(made, *layout, outside).state, probes::Tensor::State::Known);
  EXPECT_EQ(outside, 6u);
  put(made, 72, std::uint64_t{1'000'000});  // no tensor has so many
  EXPECT_EQ(read_tensor(made, *layout, outside).state, probes::Tensor::State::Unreadable);
  EXPECT_EQ(read_tensor(std::span(made).first(100), *layout, outside).state, probes::Tensor::State::Unreadable);
}

TEST(TensorLayout, UndefinedTensorHasNoDevice) {
  Bytes made = object(72, {2, 3}, 11);
  put_device(made, 72, true, 0, -1);
  const auto layout = find_tensor_layout(made, {{2, 3}, 11});
  ASSERT_TRUE(layout);
  std::uint64_t outside = 0;
  EXPECT_EQ(read_tensor(object(72, {0}, 20), *layout, outside).state, probes::Tensor::State::None);
}

}  // namespace
}  // namespace fade
