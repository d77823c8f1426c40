// One HTML file that holds a report: the embedded front end (front/) around JSON. Knows no recording.
#pragma once
#include <string>
#include <string_view>

namespace fade::page {

// The embedded files. script() is all of the JavaScript.
std::string_view html();
std::string_view style();
std::string_view script();

// The file around `json`. Scripts and styles run only with a nonce, which is new for each file, so text of the
// recording can never run. The JSON's "<" is escaped, so no text ends its element.
std::string page_around(std::string_view json);

// The same page for a server: it may also ask that server for data. policy: the header Content-Security-Policy, which
// says the same as the page's own.
struct ServedPage {
  std::string html, policy;
};
ServedPage served_page(std::string_view json);

}  // namespace fade::page
