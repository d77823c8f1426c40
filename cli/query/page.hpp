// What the pages of fade-query (devices, findings) have in common: rows of a statement, text broken between words,
// findings as a list.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/prose.hpp"

namespace fade::query {

// Binds the session, the user's filters and :word by name.
Result<std::vector<Row>> rows_for(const Context& context, Recording& recording, std::string_view sql,
                                  const std::string& word = {});
std::string page_text(const table::Value& value);  // printable; empty for NULL

// `text` in lines that fit the terminal, all but the first indented by `indent`; the first begins at that column too.
std::string paragraph(const Context& context, std::string_view text, std::size_t indent);
// A message about what was printed: on stderr, or below the text if that is held back for a pager.
void tell_below(const Context& context, const std::string& message);
std::string bold(const Context& context, std::string_view text);

// As many findings as there are, errors first; prints that there is nothing where there are none.
enum class Advice { Shown, LeftOut };
Result<void> print_findings(Context& context, Recording& recording, Advice advice);

}  // namespace fade::query
