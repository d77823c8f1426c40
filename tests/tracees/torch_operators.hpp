// A stand-in of libtorch_cpu: functions with the symbols of PyTorch's operators, which count their calls.
#pragma once
#include <cstddef>
#include <cstdint>

namespace c10 {

struct Scalar {
  double value;
};
enum class ScalarType : std::int8_t { Float = 6 };
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
  T value;
  bool has_value;
};
struct DispatchKeySet {
  std::uint64_t keys;
};

}  // namespace c10

namespace at {

class Tensor {  // passed and returned by address, because copies are counted
 public:
  explicit Tensor(long number) : number_(number) {}
  Tensor(const Tensor& other) : number_(other.number_) {}
  ~Tensor() { number_ = -1; }
  long number() const { return number_; }

 private:
  long number_;
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

}  // namespace _ops
}  // namespace at

// Name and number of the calls of each operator.
extern "C" void print_operators();
