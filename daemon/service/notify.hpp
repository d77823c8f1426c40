// What systemd wants to hear from a service (sd_notify(3)). Without systemd nothing happens.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace fade::service {

// "READY=1" and the like, lines separated by newlines. False where nobody listens, or where nobody has read what was said
// before: for that it waits two seconds at most.
bool notify(std::string_view state);
bool notify_without_waiting(std::string_view state);

// How often WATCHDOG=1 must come at least, in microseconds; nullopt where no watchdog was asked of this process.
std::optional<std::uint64_t> watchdog_period_us();

}  // namespace fade::service
