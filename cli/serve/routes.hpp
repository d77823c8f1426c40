// The answers of the server: a table of names, each with the function that makes the answer.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/request.hpp"

namespace fade::serve {

// Set when the browser no longer waits for the answer.
using Cancelled = std::atomic<bool>;
class Pipe;

// Writes the parts of a long answer with `put`, until that returns false. Returns true if the answer is whole.
using PutPart = std::function<bool(std::string)>;
using WriteParts = std::function<bool(const PutPart& put, const Cancelled&)>;

struct Answer {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::string policy = "default-src 'none'; frame-ancestors 'none'; sandbox";  // Content-Security-Policy
  std::string location{};                                                      // for a redirection
  std::string file{};                                                          // a name: the browser stores the answer
  WriteParts parts{};                                                          // instead of a body
  std::shared_ptr<Pipe> pipe{};                                                // that the worker writes the parts to
};

using MakeAnswer = std::function<Answer(const Request&, const Cancelled&)>;

// lane: the number of the worker thread that makes the answers; requests of one lane wait for each other.
struct Route {
  std::string_view name;
  std::size_t lane = 0;
  MakeAnswer make;
};

}  // namespace fade::serve
