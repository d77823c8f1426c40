// operators ROUNDS [WORKERS]: operators of a stand-in of PyTorch (torch_operators.hpp), nested, in two threads, with
// arguments on the stack, and left by exceptions. Forked workers make one round each.
#include <pthread.h>
#include <sys/wait.h>

#include <stdexcept>
#include <thread>

#include "torch_operators.hpp"
#include "tracee.h"

namespace {

using at::Tensor;
using at::_ops::Optional;

long numbers_of(long first) {
  const long four[] = {first, first + 1, first + 2, first + 3};
  const auto part = [&](std::size_t size) { return c10::ArrayRef<long>{four, size}; };
  const Tensor tensor(first);
  const Optional bias{true, Tensor(2)};
  const Tensor convolved =
      at::_ops::convolution::call(tensor, tensor, bias, part(1), part(2), part(3), first % 2 != 0, part(4), first);
  const Tensor summed =
      at::_ops::sum_dim_IntList::call(convolved, {part(4), true}, true, {true, c10::ScalarType::Float});
  return at::_ops::_to_copy::call(summed).number() + static_cast<long>(at::_ops::dist::call(tensor, 0.5) * 2);
}

long expected_of(long first) {
  const auto part = [&](long size) { return size * first + size * (size - 1) / 2; };
  const long convolved = 2 * first + 2 + part(1) + 10 * part(2) + 100 * part(3) + 1000 * part(4) +
                         (first % 2 != 0 ? 10000 : 0) + 100000 * first;
  return convolved + part(4) + 100 + 6000 + 2 * first + 1;
}

void products(int rounds) {
  const Tensor two(2), three(3);
  const Optional bias{true, Tensor(4)};
  for (int i = 0; i < rounds; ++i) MUST(at::_ops::linear::call(two, three, bias).number() == 10);
}

int caught_of(int rounds) {
  int caught = 0;
  for (int i = 0; i < rounds; ++i) {
    try {
      at::_ops::index_Tensor::call(Tensor(i), i % 2 - 1);
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  return caught;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 10);
  for (int i = 0; i < number(argc, argv, 2, 0); ++i) {
    const pid_t worker = fork();
    MUST(worker >= 0);
    if (worker == 0) {
      products(1);
      _exit(0);
    }
    MUST(waitpid(worker, nullptr, 0) == worker);
  }
  std::thread backward([rounds] {
    pthread_setname_np(pthread_self(), "pt_autograd_0");
    products(rounds);
  });
  products(2 * rounds);
  backward.join();
  for (int i = 0; i < rounds; ++i) MUST(numbers_of(i) == expected_of(i));
  MUST(caught_of(rounds) == rounds);
  // A call that an exception left is noticed at the thread's next one that is further out.
  MUST(at::_ops::mm::call(Tensor(2), Tensor(3)).number() == 6);
  print_operators();
}
