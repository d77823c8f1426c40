// Copies of device properties are recognised by their bytes, and anything else is not.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "probes/device_properties.hpp"
#include "probes/overrides/copies.hpp"
#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Bytes = std::vector<std::byte>;

const CopyForm& form_of(std::string_view symbol) { return *copy_form_of(symbol); }

template <class T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}
void put_text(Bytes& bytes, std::size_t offset, const std::string& text) {
  std::memcpy(bytes.data() + offset, text.c_str(), text.size() + 1);
}

Bytes properties(const Layout& layout, const std::string& arch = "gfx1030") {
  Bytes out(layout.size);
  const auto at = [&](std::string_view field) { return layout.find(field)->offset; };
  put_text(out, at("name"), "AMD Radeon RX 6800 XT");
  put_text(out, at("gcnArchName"), arch);
  put(out, at("warpSize"), 32);
  put(out, at("maxThreadsPerBlock"), 1024);
  put(out, at("multiProcessorCount"), 36);
  put(out, at("clockRate"), 2'575'000);
  put(out, at("pciBusID"), 3);
  return out;
}

Bytes cuda_properties() {
  Bytes out(56);
  const std::int32_t words[14] = {1024,  1024,  1024,      1024,  std::numeric_limits<std::int32_t>::max(),
                                  65536, 65536, 65536,     65536, 32,
                                  0,     65536, 2'575'000, 0};
  std::memcpy(out.data(), words, sizeof words);
  return out;
}

TEST(DeviceCopies, EachFormIsThatOfAnAnswer) {
  EXPECT_EQ(form_of("hipGetDevicePropertiesR0600").size, 1472u);
  EXPECT_EQ(form_of("hipGetDevicePropertiesR0000").size, 792u);
  EXPECT_EQ(&form_of("hipGetDeviceProperties"), &form_of("hipGetDevicePropertiesR0000"));
  EXPECT_EQ(form_of("cuDeviceGetProperties").size, 56u);
  EXPECT_EQ(copy_form_of("hipDeviceGetAttribute"), nullptr);
  EXPECT_EQ(copy_form_of("malloc"), nullptr);
}

TEST(DeviceCopies, PropertiesTellTheirDevice) {
  for (const auto& [form, layout] : {std::pair(&form_of("hipGetDevicePropertiesR0600"), &layout_r0600()),
                                     std::pair(&form_of("hipGetDevicePropertiesR0000"), &layout_r0000())}) {
    const auto told = told_by_copy(*form, properties(*layout, "gfx90a:sramecc+:xnack-"));
    ASSERT_TRUE(told) << form->name;
    EXPECT_EQ(told->name, "AMD Radeon RX 6800 XT");
    EXPECT_EQ(told->arch, "gfx90a:sramecc+:xnack-");
    EXPECT_EQ(told->slot->text(), "0000:03:00.0");
  }
  EXPECT_TRUE(told_by_copy(form_of("cuDeviceGetProperties"), cuda_properties()));
}

TEST(DeviceCopies, OtherBytesAreNone) {
  const Layout& layout = layout_r0600();
  const CopyForm& form = form_of("hipGetDevicePropertiesR0600");
  const auto is_none = [&](auto change) {
    Bytes bytes = properties(layout);
    change(bytes);
    return !told_by_copy(form, bytes);
  };
  const auto at = [&](std::string_view field) { return layout.find(field)->offset; };
  EXPECT_TRUE(is_none([&](Bytes& b) { put(b, at("warpSize"), 33); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put(b, at("multiProcessorCount"), 0); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put(b, at("pciBusID"), 256); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put(b, at("pciDeviceID"), -1); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put_text(b, at("gcnArchName"), "gfx"); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put_text(b, at("gcnArchName"), "gfxapi!"); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { std::memset(b.data() + at("gcnArchName"), 'a', 256); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { std::memset(b.data(), 'a', 256); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { put_text(b, 0, "two\nlines"); }));
  EXPECT_TRUE(is_none([&](Bytes& b) { b.pop_back(); }));
  EXPECT_FALSE(is_none([&](Bytes&) {}));
  Bytes cuda = cuda_properties();
  put(cuda, 36, 31);
  EXPECT_FALSE(told_by_copy(form_of("cuDeviceGetProperties"), cuda));
}

std::vector<std::string> anchors_in(const Bytes& bytes) {
  std::vector<std::string> out;
  for_each_anchor(bytes, [&](const CopyForm& form, std::size_t at) {
    if (form.size != 792) out.push_back(std::string(form.name) + "@" + std::to_string(at));
  });
  return out;
}

TEST(DeviceCopies, AnchorsAreAlignedWordsAnywhereInABlock) {
  Bytes block(1000);
  EXPECT_THAT(anchors_in(block), IsEmpty());
  put_text(block, 0, "gfx");
  put_text(block, 257, "gfx1030");  // not aligned
  put_text(block, 996, "gfx");
  put(block, 512, 1024);
  put(block, 601, 1024);
  EXPECT_THAT(anchors_in(block), ElementsAre("hipDeviceProp_tR0600@0", "CUdevprop@512", "hipDeviceProp_tR0600@996"));
  block.resize(998);  // half a word at the end
  EXPECT_THAT(anchors_in(block), ElementsAre("hipDeviceProp_tR0600@0", "CUdevprop@512"));
}

TEST(DeviceCopies, RulesSetTheFieldsOfCudasStructure) {
  TestCall call{"cuDeviceGetProperties", {0x1000, 0}, {{0, cuda_properties()}}};
  const auto patches =
      call.apply(rules({"device.0.warpSize=64", "device.0.sharedMemPerBlock=48K", "device.0.maxGridSize[1]=7",
                        "device.0.maxThreadsDim=[8,8,8]", "device.0.multiProcessorCount=1"}));
  EXPECT_EQ(patches.size(), 4u) << "it has no multiprocessors";
  EXPECT_EQ(call.get<std::int32_t>(0, 36), 64);
  EXPECT_EQ(call.get<std::int32_t>(0, 28), 48 << 10);
  EXPECT_EQ(call.get<std::int32_t>(0, 20), 7);
  EXPECT_EQ(call.get<std::int32_t>(0, 16), std::numeric_limits<std::int32_t>::max());
  for (const std::size_t offset : {4, 8, 12}) EXPECT_EQ(call.get<std::int32_t>(0, offset), 8);
  EXPECT_EQ(call.get<std::int32_t>(0, 0), 1024);
  EXPECT_EQ(call.get<std::int32_t>(0, 32), 65536);
}

}  // namespace
}  // namespace fade::probes
