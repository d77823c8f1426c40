// See torch_operators.hpp.
#include "torch_operators.hpp"

#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>

namespace {

// PyTorch registers its operators with such texts. Only they tell which _ of a structure's name is the dot.
const char* const kSchemas[] = {
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "mm(Tensor self, Tensor mat2) -> Tensor",
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "_to_copy(Tensor self) -> Tensor",
};

enum Operator { kAdd, kMm, kMmRedispatch, kLinear, kConvolution, kSum, kDist, kIndex, kToCopy, kOperators };
constexpr const char* kNames[kOperators] = {
    "aten::add.Tensor",      "aten::mm",   "redispatch aten::mm", "aten::linear",   "aten::convolution",
    "aten::sum.dim_IntList", "aten::dist", "aten::index.Tensor",  "aten::_to_copy",
};
std::atomic<long> calls[kOperators];

void launch(int times) {
  static void* const module = __hipRegisterFatBinary(nullptr);
  static const int kernel = 0;
  static const bool registered = [] {
    __hipRegisterFunction(static_cast<void**>(module), &kernel, nullptr, const_cast<char*>("gemm"), 0, nullptr, nullptr,
                          nullptr, nullptr, nullptr);
    return true;
  }();
  for (int i = 0; registered && i < times; ++i)
    (void)hipLaunchKernel(&kernel, dim3{4, 1, 1}, dim3{64, 1, 1}, nullptr, 0, nullptr);
}

long sum_of(const c10::ArrayRef<long>& numbers) {
  long out = 0;
  for (std::size_t i = 0; i < numbers.size; ++i) out += numbers.data[i];
  return out;
}

}  // namespace

namespace at::_ops {

Tensor add_Tensor::call(const Tensor& self, const Tensor& other, const c10::Scalar& alpha) {
  ++calls[kAdd];
  launch(1);
  return Tensor(self.number() + other.number() * static_cast<long>(alpha.value));
}

Tensor mm::redispatch(c10::DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  ++calls[kMmRedispatch];
  launch(2);
  return Tensor(self.number() * other.number() + (keys.keys == 7 ? 0 : 1));
}

Tensor mm::call(const Tensor& self, const Tensor& other) {
  ++calls[kMm];
  return redispatch({7}, self, other);
}

Tensor linear::call(const Tensor& input, const Tensor& weight, const Optional& bias) {
  ++calls[kLinear];
  const Tensor product = mm::call(input, weight);
  return bias.has_value ? add_Tensor::call(product, bias.value, {1}) : product;
}

Tensor convolution::call(const Tensor& input, const Tensor& weight, const Optional& bias, Numbers stride,
                         Numbers padding, Numbers dilation, bool transposed, Numbers output_padding, long groups) {
  ++calls[kConvolution];
  const long shape = sum_of(stride) + 10 * sum_of(padding) + 100 * sum_of(dilation) + 1000 * sum_of(output_padding);
  return Tensor(input.number() + weight.number() + bias.value.number() + shape + (transposed ? 10000 : 0) +
                100000 * groups);
}

Tensor sum_dim_IntList::call(const Tensor& self, c10::OptionalArrayRef<long> dim, bool keepdim,
                             c10::optional<c10::ScalarType> dtype) {
  ++calls[kSum];
  return Tensor(self.number() + (dim.has_value ? sum_of(dim.value) : 0) + (keepdim ? 100 : 0) +
                (dtype.has_value ? 1000 * static_cast<long>(dtype.value) : 0));
}

double dist::call(const Tensor& self, double p) {
  ++calls[kDist];
  return p + static_cast<double>(self.number());
}

Tensor index_Tensor::call(const Tensor& self, long index) {
  ++calls[kIndex];
  if (index >= 0) launch(1);
  throw std::out_of_range(self.number() > 0 ? "index" : "self");
}

Tensor _to_copy::call(const Tensor& self) {
  ++calls[kToCopy];
  return self;
}

}  // namespace at::_ops

void print_operators() {
  for (int i = 0; i < kOperators; ++i) std::printf("%ld %s\n", calls[i].load(), kNames[i]);
  for (const char* const schema : kSchemas) std::fprintf(stderr, "%s\n", schema);
}
