#include "base/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

namespace fade {

Result<std::string> read_text_file(const std::string& path, const std::string& doing) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return fail_errno(doing);
  std::string content(kLargestTextFile + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get())) return fail_errno(doing);
  if (content.size() > kLargestTextFile)
    return fail(doing, "the file has more than 1 MiB", "name a file of text", EFBIG);
  return content;
}

}  // namespace fade
