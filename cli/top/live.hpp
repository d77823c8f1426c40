// The loop of fade top: new sums, keys, the screen. Owns the user's choices.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/top/attachment.hpp"
#include "cli/top/files.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/options.hpp"
#include "cli/top/reader.hpp"
#include "cli/top/sampler.hpp"
#include "cli/top/screen.hpp"

namespace fade::cli::top {

class Live {
 public:
  // `attachment`: null if another program records.
  Live(Request& request, Reader& reader, Attachment* attachment, bool utf8);

  // Chooses the process of --pid; fails if it is not in the recording.
  Result<void> begin();
  // Until the user, a signal or the end of the terminal ends it.
  Result<void> run(Screen& screen);
  // The view as text, once there are rates, or at once if nothing is being recorded.
  Result<std::string> once(std::size_t columns);

 private:
  bool wait_for_rates();
  Result<void> look();
  void update_state();
  void update_view();
  std::string text(std::size_t columns);
  void draw(Screen& screen);
  bool take_keys(Screen& screen);
  bool act(Action action, Screen& screen);
  void clear_filter();
  void type(int key);
  void pause();
  void next_process();
  void say(std::string words);

  Reader& reader_;
  Attachment* attachment_;
  const bool utf8_;
  std::optional<std::int64_t> pid_;
  const std::int64_t window_ns_;
  Sampler sampler_;
  PageWriter page_;
  std::optional<History> held_;  // shown while paused
  Choice choice_;
  Status status_;
  View view_;
  std::int64_t said_at_ = 0, drawn_at_ = 0;
  bool changed_ = true;  // something to draw
};

}  // namespace fade::cli::top
