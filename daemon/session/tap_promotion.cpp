#include "session/tap_promotion.hpp"

#include <fmt/format.h>

namespace fade {

void TapPromotion::stopped(Thread& thread, std::uint32_t entry, std::int64_t now) {
  if (!p_.is_on || entry == 0 || p_.functions[entry].what != Entry::What::Function) return;
  const auto rate = thread.inferior->program->hot.stopped(entry, now, p_.window_ns);
  if (!rate) return;
  if (const std::string why = p_.taps.why_not(p_.functions[entry]); !why.empty()) {
    tell(*thread.inferior, "not tapped", *rate, entry, why);
  } else if (const auto tapped = p_.taps.tap_all(thread, entry); !tapped) {
    tell(*thread.inferior, "not tapped", *rate, entry, tapped.error().text());
  } else if (*tapped) {
    tell(*thread.inferior, "tapped", *rate, entry, {});
  }
}

void TapPromotion::look_for_quiet() {
  if (!p_.is_on) return;
  for (const auto& [pid, inferior] : p_.roster.processes())
    for (const std::uint32_t entry : p_.taps.untap_quiet(*inferior->program, p_.quiet_ns)) {
      inferior->program->hot.forget(entry);
      tell(*inferior, "untapped", 0, entry,
           fmt::format("not called for {:g} s", static_cast<double>(p_.quiet_ns) / 1e9));
    }
}

void TapPromotion::tell(const Inferior& inferior, const char* kind, std::uint64_t rate, std::uint32_t entry,
                        const std::string& more) {
  const std::string& name = p_.functions[entry].probe->symbol;
  p_.sink.notice(Lifecycle{.at = p_.clock.now(),
                           .process = inferior.id,
                           .kind = kind,
                           .value = static_cast<std::int64_t>(rate),
                           .detail = more.empty() ? name : fmt::format("{}: {}", name, more)});
}

}  // namespace fade
