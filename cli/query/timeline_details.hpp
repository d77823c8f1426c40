// Facts that many calls of a timeline share: their thread, function, caller, stack and way of launching. Read when they
// are first needed; what is kept is bounded.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "cli/query/timeline_source.hpp"

namespace fade::query {

class TimelineDetails {
 public:
  explicit TimelineDetails(TimelineSource& source) : source_(source) {}
  Result<void> prepare();

  struct Thread {
    std::int64_t session = 0;
    std::uint64_t track = 0, process = 0;  // tracks
  };
  struct Function {
    std::string name, api;
    bool on_gpu = false;
  };
  struct Stack {
    std::string line, frames;  // frames: the innermost first
  };
  struct Launch {
    std::string kernel, grid, block;  // grid, block: JSON
    std::int64_t shared_bytes = 0;
    std::optional<std::int64_t> stream;
    bool captured = false;
  };
  const Thread* thread(std::int64_t id) const;
  const Function& function(std::int64_t id) const;
  Result<const std::string*> caller(std::int64_t id);
  Result<const Stack*> stack(std::int64_t id);
  Result<const Launch*> launch(std::int64_t id, std::int64_t call);

 private:
  template <class Fact>
  using Cache = std::unordered_map<std::int64_t, Fact>;
  // What is known of `id`, else what `make` makes of the row for `key`.
  template <class Fact, class Make>
  Result<const Fact*> look_up(Cache<Fact>& cache, std::optional<Statement>& statement, std::int64_t id,
                              std::int64_t key, Make make);

  TimelineSource& source_;
  Cache<Thread> threads_;
  Cache<Function> functions_;
  Cache<std::string> callers_;
  Cache<Stack> stacks_;
  Cache<Launch> launches_;
  std::optional<Statement> caller_, stack_, launch_;
};

}  // namespace fade::query
