// The words of a command line without secrets. Used before a command line is stored, shown or sent.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fade {

// Replaces a secret.
inline constexpr std::string_view kRedacted = "<redacted>";

// The words of one command, in their order and number. Values after options and names that end in a word for a secret
// are replaced: --token x, --api-key=x, HF_TOKEN=x, password=x. Values after "Bearer" and the password in
// scheme://user:password@host are replaced, too. A word that contains spaces (sh -c '...') is searched as a command of
// its own.
std::vector<std::string> without_secrets(std::vector<std::string> words);

// True if the value of an option, variable or key of that name is a secret: --token, apiKey, HF_TOKEN, db.password.
// False for --tokenizer, --max-tokens, --eos-token (a word of a language model's vocabulary) and --token-file.
bool names_a_secret(std::string_view name);

}  // namespace fade
