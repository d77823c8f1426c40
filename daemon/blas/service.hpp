// The work of fade-check-blas: answers requests of fade until fade closes the socket.
#pragma once
#include <cstdint>

#include "blas/request.hpp"

namespace fade::blas {

class Service {
 public:
  // `dumps`: results that are written as files at most.
  explicit Service(std::uint64_t dumps) : dumps_left_(dumps) {}
  void run(int socket);
  Answer answer(const Request& request, const Fd& matrices);

 private:
  void compare_and_dump(const Request& request, const Matrices& matrices, Answer& to);

  CpuBlas cpu_;
  std::uint64_t dumps_left_;
};

// The elements of a comparison that are shown, in one text.
std::string shown_elements(const Product& product, const Comparison& found);

}  // namespace fade::blas
