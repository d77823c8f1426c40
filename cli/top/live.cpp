#include "cli/top/live.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/table/text.hpp"
#include "cli/top/end_signals.hpp"

namespace fade::cli::top {
namespace {

constexpr int kWait = 100;  // ms between two looks at the recording's mark
constexpr std::int64_t kSecondNs = 1'000'000'000, kMessageTime = 6 * kSecondNs;
constexpr std::int64_t kFirstRates = 4 * kSecondNs;  // that --once waits beyond the window

// False: the terminal is gone.
bool wait_for_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, kWait) < 0) return errno == EINTR;
  return (input.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

bool is_text(int key) { return key >= ' ' && key <= 0xFF && key != 0x7F; }

}  // namespace

Live::Live(Request& request, Reader& reader, Attachment* attachment, bool utf8)
    : reader_(reader),
      attachment_(attachment),
      utf8_(utf8),
      pid_(request.pid),
      window_ns_(request.window_ns),
      sampler_(reader, request.interval_ns, request.window_ns, utf8) {
  choice_.order = request.order;
  choice_.filter = std::move(request.filter);
  status_.attached = request.target.has_value();
  status_.source = request.target ? fmt::format("pid {}", *request.target)
                                  : table::printable(reader.path().substr(reader.path().rfind('/') + 1));
}

Result<void> Live::begin() {
  if (auto read = sampler_.poll(); !read) return tl::unexpected(std::move(read.error()));
  update_state();
  update_view();
  if (!pid_) return {};
  const auto& processes = sampler_.history().now().processes;
  const auto found =
      std::find_if(processes.rbegin(), processes.rend(), [this](const ProcessSums& one) { return one.pid == *pid_; });
  if (found == processes.rend())
    return fail(fmt::format("process {} is not in this recording", *pid_), {}, "fade-query processes");
  choice_.process = found->id;
  update_view();
  return {};
}

// ---------------------------------------------------------------- the recording
void Live::update_state() {
  const bool clean = !sampler_.history().empty() && sampler_.history().now().clean;
  const bool ended = attachment_ != nullptr && attachment_->status();
  const bool cut = !clean && (ended || !reader_.under_way() || reader_.writer_is_gone());
  std::string state = clean ? "ended" : cut ? "not closed" : "recording";
  if (state == status_.state) return;
  status_.state = std::move(state);
  status_.alarming = cut;
  changed_ = true;
}

Result<void> Live::look() {
  auto read = sampler_.poll();
  if (!read) return tl::unexpected(std::move(read.error()));
  update_state();
  if (*read && !status_.paused) update_view();
  return {};
}

void Live::update_view() {
  const History& history = held_ ? *held_ : sampler_.history();
  view_ = make_view(history.now().under_way ? history.base() : nullptr, history.now(), choice_);
  status_.order = choice_.order;
  status_.filter = choice_.filter.text();
  status_.process = choice_.process;
  changed_ = true;
}

// ---------------------------------------------------------------- once
bool Live::wait_for_rates() {
  const std::int64_t until = steady_ns() + window_ns_ + kFirstRates;
  const bool records = status_.state == "recording";
  return records && !sampler_.history().is_full() && steady_ns() < until && !EndSignals::asked();
}

std::string Live::text(std::size_t columns) {
  Status status = status_;
  status.help = false;
  return plain(lay_out(view_, status, {columns, 0}, utf8_));
}

Result<std::string> Live::once(std::size_t columns) {
  const std::int64_t until = steady_ns() + window_ns_ + kFirstRates;
  while (wait_for_rates() && steady_ns() < until) {
    ::poll(nullptr, 0, kWait);
    if (auto looked = look(); !looked) return tl::unexpected(std::move(looked.error()));
  }
  return text(columns);
}

// ---------------------------------------------------------------- the terminal
Result<void> Live::run(Screen& screen) {
  while (!EndSignals::asked()) {
    draw(screen);
    if (!wait_for_input() || !take_keys(screen)) break;
    if (auto looked = look(); !looked) say(looked.error().sentence());
    if (auto written = page_.poll()) say(std::move(*written));
  }
  return {};
}

void Live::draw(Screen& screen) {
  const std::int64_t now = steady_ns();
  if (!status_.message.empty() && now - said_at_ > kMessageTime) status_.message.clear(), changed_ = true;
  if (!changed_) return;
  screen.draw(lay_out(view_, status_, screen.size(), utf8_));
  changed_ = false;
}

void Live::say(std::string words) {
  status_.message = table::printable(words);
  said_at_ = steady_ns();
  changed_ = true;
}

// False: quit.
bool Live::take_keys(Screen& screen) {
  while (const auto key = screen.key()) {
    changed_ = true;
    if (*key == Screen::kResized) continue;
    if (status_.typed) type(*key);
    else if (!act(action_of(*key), screen)) return false;
  }
  return true;
}

bool Live::act(Action action, Screen& screen) {
  switch (action) {
    case Action::Quit: return false;
    case Action::Help: status_.help = !status_.help; break;
    case Action::Filter: status_.typed = choice_.filter.text(); break;
    case Action::ClearFilter: clear_filter(); break;
    case Action::Order: choice_.order = next(choice_.order), update_view(); break;
    case Action::Process: next_process(), update_view(); break;
    case Action::AllProcesses: choice_.process = 0, update_view(); break;
    case Action::Pause: pause(), update_view(); break;
    case Action::Save: {
      auto name = save(text(std::max<std::size_t>(screen.size().columns, kLeast.columns)));
      say(name ? "wrote " + *name : name.error().sentence());
      break;
    }
    case Action::Page: say(page_.start(reader_.path())); break;
    case Action::Redraw: screen.draw_again(); break;
    case Action::None: break;
  }
  return true;
}

void Live::clear_filter() {
  choice_.filter = Filter();
  status_.help = false;
  status_.message.clear();
  update_view();
}

void Live::type(int key) {
  constexpr int kEscape = 27;
  std::string& typed = *status_.typed;
  if (is_text(key)) typed += static_cast<char>(key);
  else if (key == Screen::kErase) remove_last_character(typed);
  else if (key == kEscape) status_.typed.reset(), status_.message.clear();
  else if (key == Screen::kEnter) {
    auto filter = Filter::compile(typed);
    status_.typed.reset();
    if (!filter) return say(filter.error().sentence());
    choice_.filter = std::move(*filter);
    status_.message.clear();
    update_view();
  }
}

// The recording is read on meanwhile, so that rates are right afterwards.
void Live::pause() {
  status_.paused = !status_.paused;
  if (status_.paused) held_.emplace(sampler_.history().ends());
  else held_.reset();
}

// One after the other as they are listed, then all together.
void Live::next_process() {
  const auto& listed = view_.processes;
  const auto at = std::ranges::find(listed, choice_.process, &ProcessItem::id);
  if (at == listed.end()) choice_.process = listed.empty() ? 0 : listed.front().id;
  else choice_.process = at + 1 == listed.end() ? 0 : (at + 1)->id;
}

}  // namespace fade::cli::top
