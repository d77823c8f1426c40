// Untrusted text made safe for a terminal or for JSON: control characters and bytes that are not UTF-8 are escaped.
#pragma once
#include <string>
#include <string_view>

namespace fade::probes {

enum class Style { Text, Json };

// The text in quotes. Bytes that are not UTF-8 become \xHH (in JSON the characters \xHH).
void append_quoted(std::string& out, std::string_view text, Style style);

// A word that needs no escaping: without quotes in text, quoted in JSON.
void append_word(std::string& out, std::string_view word, Style style);

}  // namespace fade::probes
