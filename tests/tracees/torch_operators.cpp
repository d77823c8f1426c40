// See torch_operators.hpp.
#include "torch_operators.hpp"

#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// PyTorch registers its operators with such texts. Only they tell which _ of a structure's name is the dot.
const char* const kSchemas[] = {
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "mm(Tensor self, Tensor mat2) -> Tensor",
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "_to_copy(Tensor self) -> Tensor",
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    ("convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
     "bool transposed, int[] output_padding, int groups) -> Tensor"),
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    ("empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
};

enum Operator {
  kAdd,
  kMm,
  kMmRedispatch,
  kLinear,
  kConvolution,
  kSum,
  kDist,
  kIndex,
  kToCopy,
  kCat,
  kEmpty,
  kOperators
};
constexpr const char* kNames[kOperators] = {
    "aten::add.Tensor",          "aten::mm",   "redispatch aten::mm", "aten::linear",   "aten::convolution",
    "aten::sum.dim_IntList",     "aten::dist", "aten::index.Tensor",  "aten::_to_copy", "aten::cat",
    "aten::empty.memory_format",
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

namespace at {

struct Numbered : c10::TensorImpl {
  long number = 0;
};

Tensor::Tensor(long number, const std::vector<long>& sizes) {
  auto* const made = new Numbered;
  impl_ = made;
  made->number = number;
  made->dimensions = sizes.size();
  if (sizes.size() > 5) made->outside = new long[2 * sizes.size()];  // lives as long as the program
  long* const numbers = sizes.size() > 5 ? made->outside : made->inside.data();
  const std::size_t room = sizes.size() > 5 ? sizes.size() : 5;
  for (std::size_t i = sizes.size(); i-- > 0; made->elements *= sizes[i]) {
    numbers[i] = sizes[i];
    numbers[room + i] = made->elements;
  }
}
Tensor::Tensor(const Tensor& other) : impl_(new Numbered(static_cast<Numbered&>(*other.impl_))) {}
Tensor& Tensor::operator=(const Tensor& other) {
  static_cast<Numbered&>(*impl_) = static_cast<Numbered&>(*other.impl_);
  return *this;
}
Tensor::~Tensor() { delete static_cast<Numbered*>(impl_); }
long Tensor::number() const { return static_cast<Numbered*>(impl_)->number; }

void RecordFunction::end() { ++ended; }

}  // namespace at

namespace torch::autograd::profiler {

Handle record_function_enter_new(const std::string& name, const c10::optional<std::string>& args) {
  auto* const made = new PythonRecordFunction;
  made->head[0] = static_cast<long>(name.size() + args.value.size());
  return Handle(made);
}

}  // namespace torch::autograd::profiler

namespace at::_ops {

Tensor cat::call(c10::ArrayRef<Tensor> tensors, long dim) {
  ++calls[kCat];
  return Tensor(static_cast<long>(tensors.size) + dim);
}

Tensor empty_memory_format::call(Numbers size, c10::optional<c10::ScalarType> dtype, c10::optional<c10::Layout> layout,
                                 c10::optional<c10::Device> device, c10::optional<bool> pin_memory,
                                 c10::optional<c10::MemoryFormat> memory_format) {
  ++calls[kEmpty];
  Tensor out(layout.has_value + pin_memory.has_value + memory_format.has_value,
             std::vector<long>(size.data, size.data + size.size));
  if (dtype.has_value) out.impl().type = static_cast<std::uint16_t>(dtype.value);
  if (device.has_value) out.impl().device.value = device.value;
  return out;
}

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
  for (int i = 0; i < kOperators; ++i)
    if (calls[i] > 0) std::printf("%ld %s\n", calls[i].load(), kNames[i]);
  for (const char* const schema : kSchemas) std::fprintf(stderr, "%s\n", schema);
}
