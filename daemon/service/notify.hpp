// The messages of a service to systemd (sd_notify(3)). Without systemd nothing happens.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace fade::service {

// "READY=1" and the like, lines separated by newlines. False if no process listens, or if the earlier messages were not
// read: for that it waits two seconds at most.
bool notify(std::string_view state);
bool notify_without_waiting(std::string_view state);

// How often WATCHDOG=1 must come at least, in microseconds; nullopt if no watchdog was asked of this process.
std::optional<std::uint64_t> watchdog_period_us();

}  // namespace fade::service
