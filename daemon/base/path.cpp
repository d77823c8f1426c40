#include "base/path.hpp"

namespace fade {

std::string literal_path(const std::string& path) {
  return path.empty() || path.front() == '/' || path.front() == '.' ? path : "./" + path;
}

}  // namespace fade
