#include "session/tap_promotion.hpp"

#include <fmt/format.h>

namespace fade {

void TapPromotion::stopped(Thread& thread, std::uint32_t entry, std::int64_t now) {
  if (!is_on_ || entry == 0 || functions_[entry].what != Entry::What::Function) return;
  const auto rate = thread.inferior->program->hot.stopped(entry, now);
  if (!rate) return;
  if (const std::string why = taps_.why_not(functions_[entry]); !why.empty()) {
    tell(*thread.inferior, "not tapped", *rate, entry, why);
  } else if (const auto tapped = taps_.tap_all(thread, entry); !tapped) {
    tell(*thread.inferior, "not tapped", *rate, entry, tapped.error().text());
  } else {
    tell(*thread.inferior, "tapped", *rate, entry, {});
  }
}

void TapPromotion::look_for_quiet() {
  if (!is_on_) return;
  for (const auto& [pid, inferior] : roster_.processes())
    for (const std::uint32_t entry : taps_.untap_quiet(*inferior->program, kQuiet)) {
      inferior->program->hot.forget(entry);
      tell(*inferior, "untapped", 0, entry, "not called for a minute");
    }
}

void TapPromotion::tell(const Inferior& inferior, const char* kind, std::uint64_t rate, std::uint32_t entry,
                        const std::string& more) {
  const std::string& name = functions_[entry].probe->symbol;
  sink_.notice(Lifecycle{.at = clock_.now(),
                         .process = inferior.id,
                         .kind = kind,
                         .value = static_cast<std::int64_t>(rate),
                         .detail = more.empty() ? name : fmt::format("{}: {}", name, more)});
}

}  // namespace fade
