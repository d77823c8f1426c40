// Between attach() and the world: terminal, signals, daemon. Never waits.
#pragma once
#include "cli/attach/console.hpp"
#include "cli/attach/control.hpp"
#include "cli/attach/detach_signals.hpp"
#include "cli/attach/keyboard.hpp"
#include "supervisor/attach.hpp"

namespace fade::cli::attach {

class Watcher : public AttachObserver {
 public:
  // All must outlive it. `control` may be null; `processes`: how many there are to attach to.
  Watcher(Console& console, Keyboard& keyboard, const DetachSignals& signals, Control* control, std::size_t processes)
      : console_(console), keyboard_(keyboard), signals_(signals), control_(control), watched_{{}, processes} {}

  void attached(const Attached& attached) override;
  void tick(const LiveNumbers& now) override;
  Wish wish() override;

  const Watched& watched() const { return watched_; }

 private:
  void look_at_stop();

  Console& console_;
  Keyboard& keyboard_;
  const DetachSignals& signals_;
  Control* const control_;
  Watched watched_;
  bool stop_refused_ = false;
};

}  // namespace fade::cli::attach
