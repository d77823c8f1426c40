#include "supervisor/budget.hpp"

#include <errno.h>
#include <fmt/format.h>

#include <charconv>

namespace fade {

Result<double> parse_budget(std::string_view text) {
  constexpr double kLeast = 0.1, kMost = 100;
  if (text.empty() || text == "off") return 0.0;
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  const bool is_number = error == std::errc{} && end == number.data() + number.size();
  if (is_number && percent >= kLeast && percent <= kMost) return percent / 100;
  return fail(fmt::format("--budget: '{}' is no share of the program's time from 0.1% to 100%", text), {},
              "--budget 3%", EINVAL);
}

Result<CaptureEngine> engine_for(std::optional<CaptureEngine> chosen, CaptureEngine usual, double budget) {
  if (budget == 0) return chosen.value_or(usual);
  if (chosen == CaptureEngine::Breakpoints)
    return fail("--budget and --engine breakpoints exclude each other",
                "only calls that do not stop can be recorded more cheaply", "leave --engine out", EINVAL);
  return chosen.value_or(CaptureEngine::Auto);
}

}  // namespace fade
