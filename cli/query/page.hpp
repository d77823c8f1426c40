// What the pages of fade-query (devices, findings) have in common: text broken between words, findings as a list.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"

namespace fade::query {

// `text` in lines that fit the terminal, all but the first indented by `indent`; the first begins at that column too.
std::string paragraph(const Context& context, std::string_view text, std::size_t indent);
// A message about what was printed: on stderr, or below the text if that is held back for a pager.
void tell_below(const Context& context, const std::string& message);
std::string bold(const Context& context, std::string_view text);

// The rows of a report in the format that the user chose, or its SQL with --sql.
Result<void> print_report(Context& context, Recording& recording, std::string_view report);

// A report as a part of a page: indented, and columns that do not fit or have nothing may go.
Result<Outcome> print_part(Context& context, Recording& recording, std::string_view report, Settings settings);
// For a part that has not the page's filters: the session and the units alone.
Settings part_settings(const Context& context);

// The findings, errors first, or that there are none. Without advice: those about devices.
enum class Advice { Shown, LeftOut };
Result<void> print_findings(Context& context, Recording& recording, Advice advice);

}  // namespace fade::query
