// Text from a database is untrusted: nothing of it may reach a terminal as a control sequence. Also how wide a text is
// on a terminal, and how to shorten it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fade::table {

// Control characters (C0, DEL, C1), characters that reorder text, and bytes that are not UTF-8 become \n, \t, \x1b,
// \u202e; a backslash becomes two. Nothing else changes.
std::string escape(std::string_view text);
// The same for the terminal, where a backslash is left as it is; characters that the locale cannot show are escaped
// too.
std::string printable(std::string_view text);

std::string json_quote(std::string_view text);        // with the quotes
std::string json_on_one_line(std::string_view json);  // valid JSON; dangerous characters of its texts become \u....
// A text that should be JSON, for a place where a JSON value stands: as it is where it is one, on one line and without
// characters that are dangerous to a terminal; else the text in quotes.
std::string json_value(std::string_view text);
std::string shell_word(const std::string& word);  // in quotes where a shell needs them; safe for a terminal
std::string csv_quote(std::string_view text);     // RFC 4180: quoted only where needed
std::string markdown_cell(std::string_view text);

// Columns on a terminal; `text` is valid UTF-8 without control characters.
std::size_t display_width(std::string_view text);
// At most `width` columns, with "…" ("..." where !utf8) in the middle, so that both ends stay readable.
std::string shorten_middle(std::string_view text, std::size_t width, bool utf8);
std::string shorten_end(std::string_view text, std::size_t width, bool utf8);

}  // namespace fade::table
