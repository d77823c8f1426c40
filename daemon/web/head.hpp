// The head of a request: what is checked before anything else.
#pragma once
#include <string_view>

#include "web/asio.hpp"

namespace fade::web {

inline std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// A page of another site may give its name the address 127.0.0.1 (DNS rebinding), but it still sends that name. Any
// port is right: a tunnel (ssh -L) may use another one.
bool is_own_host(std::string_view host);

// True if the head itself is wrong, so that an answer can say so; false if the connection is of no use any more.
bool is_malformed(const Failure& failure);
unsigned status_of(const Failure& failure);  // of HTTP, for a malformed or too large head

}  // namespace fade::web
