// Compresses a request as ClickHouse's own blocks (parameter decompress=1). All versions since 18 take zstd there; as a
// Content-Encoding 18.16 takes only gzip, which is six times slower.
#pragma once
#include <zstd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fade::push {

class Packer {
 public:
  Packer();
  void add(std::string_view text);  // long texts are not copied
  std::string take();               // all that was added

 private:
  void pack(std::string_view piece);

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::vector<char> room_;  // for one compressed piece
  std::string rest_;        // not compressed yet
  std::string out_;
};

}  // namespace fade::push
