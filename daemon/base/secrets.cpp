#include "base/secrets.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace fade {
namespace {

constexpr std::array kSecretWords = {"token", "secret", "secrets", "password", "passwd",     "passphrase", "passcode",
                                     "pass",  "key",    "apikey",  "authkey",  "credential", "credentials"};
// Tokens and keys with such a word before them are not secrets of the user.
constexpr std::array kHarmlessBefore = {"eos",    "bos",     "pad",     "unk",     "mask",      "sep",   "cls",
                                        "stop",   "start",   "end",     "special", "image",     "next",  "per",
                                        "sort",   "primary", "foreign", "group",   "partition", "label", "input",
                                        "output", "single",  "two",     "multi",   "num"};
constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kNameEnds = "\"'(){}[]<>;&|,?";  // text before a name that is not an option's

bool is_in(const auto& list, std::string_view word) { return std::ranges::find(list, word) != list.end(); }

// Long words count with any prefix: PGPASSWORD.
bool is_secret_word(std::string_view word) {
  constexpr std::size_t kLong = 6;
  return std::ranges::any_of(
      kSecretWords, [&](std::string_view one) { return word == one || (one.size() >= kLong && word.ends_with(one)); });
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "--hfApi_key" as hf, api, key.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> out;
  bool begins = true;
  char before = 0;
  for (const char c : name) {
    const bool camel = is_upper(c) && is_word(before) && !is_upper(before);
    if (is_word(c) && (begins || camel)) out.emplace_back();
    if (is_word(c)) out.back() += lower(c);
    begins = !is_word(c);
    before = c;
  }
  return out;
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// The beginning of the value after the first name of a secret; npos: there is none.
std::size_t secret_value(std::string_view text) {
  for (std::size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    const std::string_view before = text.substr(0, at);
    const std::size_t begin = before.find_last_of("=&?");
    if (names_a_secret(begin == before.npos ? before : before.substr(begin + 1))) return at + 1;
  }
  return text.npos;
}

// https://www.rfc-editor.org/rfc/rfc3986, 3.2: scheme://user:password@host
void hide_passwords(std::string& text) {
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of("/?#\"' ", begin), text.size());
    const std::size_t host = text.rfind('@', end == 0 ? 0 : end - 1);
    const std::size_t colon = text.find(':', begin);
    if (host == text.npos || host < begin || colon >= host) continue;
    text.replace(colon + 1, host - colon - 1, kRedacted);
  }
}

void hide_value(std::string& text) {
  const std::size_t value = secret_value(text);
  if (value == text.npos || value == text.size()) return;
  // In an address the secret ends at the next parameter, so that the rest stays readable.
  const bool in_address = text.rfind('?', value) != text.npos && text.find("://") != text.npos;
  const std::size_t end = in_address ? std::min(text.find('&', value), text.size()) : text.size();
  text.replace(value, end - value, kRedacted);
}

std::string hide_in_text(const std::string& text);

// Reads words one by one: whether the next word is a secret depends on this word.
class Words {
 public:
  std::string next(std::string word) {
    if (takes(word)) return std::string(kRedacted);
    is_secret_ = word == "Bearer" || word == "bearer" ||
                 (is_option(word) && word.find('=') == word.npos && names_a_secret(word));
    hide_passwords(word);
    hide_value(word);
    return word;
  }
  std::string next_command(const std::string& word) {
    return takes(word) ? std::string(kRedacted) : hide_in_text(word);
  }

 private:
  // Returns true if the previous word asked for a value, and this is the value.
  bool takes(const std::string& word) {
    const bool is_value = is_secret_ && !word.empty() && !word.starts_with('-');
    is_secret_ = false;
    return is_value;
  }

  bool is_secret_ = false;
};

// The end of the word that begins at `at`; a quoted word ends at its quote.
std::size_t end_of_word(const std::string& text, std::size_t at) {
  const std::size_t value = text.find('=', at);
  std::size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
  const std::size_t quote =
      text[at] == '"' || text[at] == '\'' ? at : (value != text.npos && value < end ? value + 1 : text.npos);
  if (quote >= text.size() || (text[quote] != '"' && text[quote] != '\'')) return end;
  const std::size_t close = text.find(text[quote], quote + 1);
  return close == text.npos ? end : std::min(text.find_first_of(kSpaces, close), text.size());
}

std::string hide_in_text(const std::string& text) {
  std::string out;
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(kSpaces, at), text.size());
    out.append(text, at, begin - at);
    if (begin == text.size()) break;
    at = end_of_word(text, begin);
    out += words.next(text.substr(begin, at - begin));
  }
  return out;
}

// True for the argument of sh -c 'train --token x', but not for --password='a b', which the shell has made one word.
bool is_command(const std::string& word) {
  const std::size_t space = word.find_first_of(kSpaces), value = secret_value(word);
  return space != word.npos && (value == word.npos || space < value);
}

}  // namespace

bool names_a_secret(std::string_view name) {
  while (!name.empty() && !is_word(name.back())) name.remove_suffix(1);
  if (const std::size_t at = name.find_last_of(kNameEnds); at != name.npos) name = name.substr(at + 1);
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty() || !is_secret_word(parts.back())) return false;
  return parts.size() < 2 || !is_in(kHarmlessBefore, parts[parts.size() - 2]);
}

std::vector<std::string> without_secrets(std::vector<std::string> words) {
  Words outer;
  for (std::string& word : words) word = is_command(word) ? outer.next_command(word) : outer.next(word);
  return words;
}

}  // namespace fade
