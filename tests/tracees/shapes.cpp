// shapes ROUNDS: operators of a stand-in of PyTorch (torch_operators.hpp) with tensors of known sizes, in ranges of
// record_function.
#include <string>

#include "torch_operators.hpp"
#include "tracee.h"

namespace {

using at::Tensor;
using at::_ops::Optional;
using torch::autograd::profiler::record_function_enter_new;

Tensor empty(const std::vector<long>& sizes, c10::ScalarType type, c10::Device device = {}) {
  return at::_ops::empty_memory_format::call({sizes.data(), sizes.size()}, {true, type}, {}, {true, device}, {}, {});
}

void step(int number) {
  const auto whole = record_function_enter_new("ProfilerStep#" + std::to_string(number), {});
  const Tensor left = empty({64, 3}, c10::ScalarType::Float), right = empty({3, 5}, c10::ScalarType::Float);
  const auto range = record_function_enter_new("product of this step", {});
  MUST(at::_ops::mm::call(left, right).number() == 0);
  at::RecordFunction other;  // as the profiler has one for each operator
  other.end();
  (*range).record.end();
  const Tensor on_gpu = empty({2, 3, 4, 5, 6, 7}, c10::ScalarType::Bool, {1, 2}),
               scalar = empty({}, c10::ScalarType::Float);
  const Tensor both[] = {on_gpu, scalar};
  (void)at::_ops::cat::call({both, 2}, 1);
  (void)at::_ops::linear::call(left, right, Optional());
  const long ones[] = {1, 2};
  (void)at::_ops::convolution::call(left, right, Optional{true, scalar}, {ones, 2}, {ones, 1}, {ones, 0}, true,
                                    {ones, 2}, 3);
  (*whole).record.end();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 3);
  (void)at::_ops::_to_copy::call(Tensor(1, {8}));  // before the layout of tensors is known
  for (int i = 0; i < rounds; ++i) step(i);
  print_operators();
}
