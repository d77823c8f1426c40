#include "cli/attach/watcher.hpp"

namespace fade::cli::attach {

void Watcher::attached(const Attached& attached) {
  watched_.first = attached;
  console_.attached(watched_);
  if (control_ != nullptr) control_->attached(attached);
}

void Watcher::tick(const LiveNumbers& now) {
  console_.numbers(now);
  if (control_ != nullptr) control_->tick(now);
}

// Once: who presses Ctrl-Z again has read it.
void Watcher::look_at_stop() {
  if (stop_refused_ || !signals_.stop_asked()) return;
  stop_refused_ = true;
  console_.stop_refused(keyboard_.can_read() ? "Enter detaches" : "Ctrl-C detaches");
}

AttachObserver::Wish Watcher::wish() {
  if (signals_.detach_asked()) return Wish::Detach;
  look_at_stop();
  if (control_ != nullptr) return control_->wish();
  return keyboard_.enter() ? Wish::Detach : Wish::GoOn;
}

}  // namespace fade::cli::attach
