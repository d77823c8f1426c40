// A stand-in of libtorch_cpu: functions with the symbols of PyTorch's operators, which count their calls.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace c10 {

struct Scalar {
  double value;
};
enum class ScalarType : std::int8_t { Float = 6, Bool = 11 };
template <class T>
struct ArrayRef {  // in two registers
  const T* data;
  std::size_t size;
};
template <class T>
struct OptionalArrayRef {  // too large for registers
  ArrayRef<T> value;
  bool has_value;
};
template <class T>
struct optional {
  bool has_value = false;
  T value{};
};
struct DispatchKeySet {
  std::uint64_t keys;
};
struct Device {
  std::int8_t type = 0, index = -1;
};
enum class Layout : std::int8_t { Strided };
enum class MemoryFormat : std::int8_t { Contiguous };

// The object behind a tensor, laid out as in PyTorch 1.13.
struct TensorImpl {
  void* table = nullptr;
  std::size_t owners = 1, weak_owners = 1;
  void *storage = nullptr, *gradient = nullptr, *names = nullptr, *version = nullptr, *interpreter = nullptr,
       *object = nullptr;
  std::size_t dimensions = 0;
  union {
    std::array<long, 10> inside{};  // five sizes, five strides
    long* outside;                  // sizes, then strides
  };
  long offset = 0, elements = 1;
  std::uint16_t type = static_cast<std::uint16_t>(ScalarType::Float);
  optional<Device> device{true, {}};
};

}  // namespace c10

namespace at {

class Tensor {  // passed and returned by address, because copies are counted
 public:
  explicit Tensor(long number = 0, const std::vector<long>& sizes = {});
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  ~Tensor();
  long number() const;
  c10::TensorImpl& impl() const { return *impl_; }

 private:
  c10::TensorImpl* impl_;
};

class RecordFunction {
 public:
  void end();
  long ended = 0;
};

namespace _ops {

using Optional = c10::optional<Tensor>;
using Numbers = c10::ArrayRef<long>;

struct add_Tensor {
  static Tensor call(const Tensor& self, const Tensor& other, const c10::Scalar& alpha);
};
struct mm {
  static Tensor call(const Tensor& self, const Tensor& other);
  static Tensor redispatch(c10::DispatchKeySet keys, const Tensor& self, const Tensor& other);
};
struct linear {
  static Tensor call(const Tensor& input, const Tensor& weight, const Optional& bias);
};
// Eight words of arguments on the stack.
struct convolution {
  static Tensor call(const Tensor& input, const Tensor& weight, const Optional& bias, Numbers stride, Numbers padding,
                     Numbers dilation, bool transposed, Numbers output_padding, long groups);
};
struct sum_dim_IntList {
  static Tensor call(const Tensor& self, c10::OptionalArrayRef<long> dim, bool keepdim,
                     c10::optional<c10::ScalarType> dtype);
};
struct dist {
  static double call(const Tensor& self, double p);
};
struct index_Tensor {  // throws out_of_range
  static Tensor call(const Tensor& self, long index);
};
struct _to_copy {
  static Tensor call(const Tensor& self);
};
struct cat {
  static Tensor call(c10::ArrayRef<Tensor> tensors, long dim);
};
struct empty_memory_format {
  static Tensor call(Numbers size, c10::optional<c10::ScalarType> dtype, c10::optional<c10::Layout> layout,
                     c10::optional<c10::Device> device, c10::optional<bool> pin_memory,
                     c10::optional<c10::MemoryFormat> memory_format);
};

}  // namespace _ops
}  // namespace at

namespace torch::autograd::profiler {

struct PythonRecordFunction {
  long head[3] = {};
  at::RecordFunction record;
};
class Handle {  // returned by address
 public:
  explicit Handle(PythonRecordFunction* object) : object_(object) {}
  Handle(const Handle& other) : object_(other.object_) {}
  PythonRecordFunction& operator*() const { return *object_; }

 private:
  PythonRecordFunction* object_;
};
Handle record_function_enter_new(const std::string& name, const c10::optional<std::string>& args);

}  // namespace torch::autograd::profiler

// Name and number of the calls of each operator.
extern "C" void print_operators();
