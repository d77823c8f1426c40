#include "probes/tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fade::probes {
namespace {

// In front of the sizes of a tensor.
struct Head {
  std::uint8_t dimensions = 0, type = 0, device_type = Tensor::kNoDevice;
  std::int8_t device_index = -1;
  Tensor::State state{};
  std::array<std::uint8_t, 3> unused{};
};
static_assert(sizeof(Head) == 8);

// c10::ScalarType and c10::DeviceType: numbers of PyTorch that no release has changed.
constexpr std::string_view kTypes[] = {"u8",        "i8",          "i16",         "i32",   "i64",      "f16",
                                       "f32",       "f64",         "c32",         "c64",   "c128",     "bool",
                                       "qint8",     "quint8",      "qint32",      "bf16",  "quint4x2", "quint2x4",
                                       "bits1x8",   "bits2x4",     "bits4x2",     "bits8", "bits16",   "f8_e5m2",
                                       "f8_e4m3fn", "f8_e5m2fnuz", "f8_e4m3fnuz", "u16",   "u32",      "u64"};
constexpr std::string_view kDevices[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                         "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                         "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

template <std::size_t N>
std::string name_in(const std::string_view (&names)[N], std::size_t index, std::string_view kind) {
  return index < N ? std::string(names[index]) : fmt::format("{}{}", kind, index);
}

std::string text_of(const Tensor& tensor) {
  std::string out = fmt::format("{}[{}]", name_in(kTypes, tensor.type, "type"), fmt::join(tensor.sizes, ","));
  if (tensor.device_type == Tensor::kNoDevice || tensor.device_type == 0) return out;
  out += "@" + name_in(kDevices, tensor.device_type, "device");
  return tensor.device_index < 0 ? out : out + fmt::format(":{}", tensor.device_index);
}

}  // namespace

void append_tensor(std::vector<std::byte>& out, const Tensor& tensor) {
  const std::size_t dimensions = std::min(tensor.sizes.size(), kMostDimensions);
  const Head head{.dimensions = static_cast<std::uint8_t>(dimensions),
                  .type = tensor.type,
                  .device_type = tensor.device_type,
                  .device_index = tensor.device_index,
                  .state = tensor.state};
  const auto put = [&](auto bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  put(std::as_bytes(std::span(&head, 1)));
  put(std::as_bytes(std::span(tensor.sizes).first(dimensions)));
}

std::vector<Tensor> tensors_of(std::span<const std::byte> bytes) {
  std::vector<Tensor> out;
  while (bytes.size() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    const std::size_t size = head.dimensions * sizeof(std::int64_t);
    if (size > bytes.size() || head.state > Tensor::State::Unreadable) break;
    Tensor& tensor = out.emplace_back(Tensor{head.state, head.type, head.device_type, head.device_index, {}});
    tensor.sizes.resize(head.dimensions);
    if (size > 0) std::memcpy(tensor.sizes.data(), bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  return out;
}

void append_tensor_text(std::string& out, const Tensor& tensor, Style style) {
  if (tensor.state == Tensor::State::Known) return append_word(out, text_of(tensor), style);
  if (tensor.state == Tensor::State::Unreadable) return append_word(out, "unreadable", style);
  out += style == Style::Json ? "null" : "None";
}

void append_tensors_text(std::string& out, std::span<const std::byte> bytes, std::string_view form, bool cut,
                         Style style) {
  const std::vector<Tensor> tensors = tensors_of(bytes);
  if (!is_list(form) && !tensors.empty()) return append_tensor_text(out, tensors.front(), style);
  const std::string_view between = style == Style::Json ? "," : ", ";
  out += '[';
  for (const Tensor& tensor : tensors) {
    if (&tensor != tensors.data()) out += between;
    append_tensor_text(out, tensor, style);
  }
  if (cut) append_word(out += between, "...", style);
  out += ']';
}

}  // namespace fade::probes
