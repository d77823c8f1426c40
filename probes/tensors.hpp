// Tensors of PyTorch as the arguments of operators show them: type, sizes, device. The capture side packs them into a
// piece of the call (PieceKind::In), and decode() shows them. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/text.hpp"

namespace fade::probes {

inline constexpr std::size_t kMostDimensions = 16, kMostTensors = 32;  // of a tensor, of a list

struct Tensor {
  enum class State : std::uint8_t { Known, None, Unreadable };  // None: an optional argument without a tensor
  static constexpr std::uint8_t kNoDevice = 0xff;

  State state = State::Known;
  std::uint8_t type = 0;  // c10::ScalarType
  std::uint8_t device_type = kNoDevice;
  std::int8_t device_index = -1;
  std::vector<std::int64_t> sizes;  // at most kMostDimensions
};

// The forms of a parameter that leads to tensors; the name of the pointee's type.
inline constexpr std::string_view kOneTensor = "Tensor";
inline constexpr std::string_view kOptionalTensor = "Tensor?";          // std::optional: the flag follows the tensor
inline constexpr std::string_view kFlaggedTensor = "flag, Tensor?";     // c10::optional: the flag is first
inline constexpr std::string_view kTensorList = "Tensor[]";             // an address and a number
inline constexpr std::string_view kTaggedTensorList = "tag, Tensor[]";  // the address of these and of a tag
constexpr bool is_list(std::string_view form) { return form.ends_with("[]"); }

void append_tensor(std::vector<std::byte>& out, const Tensor& tensor);
// The tensors of a piece. Nothing in the bytes is trusted.
std::vector<Tensor> tensors_of(std::span<const std::byte> bytes);

// f32[2,3], with the device if it is not the CPU: f16[8]@cuda:0. JSON has the same as a text.
void append_tensor_text(std::string& out, const Tensor& tensor, Style style);
// `cut`: the list is longer.
void append_tensors_text(std::string& out, std::span<const std::byte> bytes, std::string_view form, bool cut,
                         Style style);

}  // namespace fade::probes
