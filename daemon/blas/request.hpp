// The messages between fade and the process that computes (fade-check-blas): one JSON text each, over a socket of
// packets. A request carries the descriptor of a memfd with the matrices.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "blas/compare.hpp"

namespace fade::blas {

struct Request {
  struct Part {
    std::uint64_t offset = 0, size = 0;  // in the memfd
  };
  std::uint64_t id = 0;
  Product product;
  Tolerance tolerance;
  Part a, b, c, d;
  std::string dump;  // folder for a result that differs; empty: none
  // For the dump alone.
  std::string function;
  std::uint64_t call = 0;
  std::int64_t pid = 0, tid = 0;
};

struct Answer {
  std::uint64_t id = 0;
  std::string problem;  // why nothing was compared; empty: it was
  std::uint64_t elements = 0, differing = 0;
  Difference first, worst;
  double worst_limit = 0;
  std::string shown;   // the first elements that differ, in words
  std::string folder;  // of the dump; empty: none was written
  std::string dump_problem;
  std::string blas;  // that computed
};

std::string to_text(const Request& request);
Result<Request> request_from(const std::string& text);
std::string to_text(const Answer& answer);
Result<Answer> answer_from(const std::string& text);

inline constexpr std::size_t kMostMessage = 60'000;  // bytes

// Sends one message, with a descriptor if `with` is valid. Does not block. False: there is no room, or no reader.
bool send_message(int socket, const std::string& text, int with = -1);
struct Message {
  std::string text;
  Fd with;
};
// nullopt: no message waits (or, with `blocks`, none will come any more).
std::optional<Message> receive_message(int socket, bool blocks, bool* is_closed = nullptr);

}  // namespace fade::blas
