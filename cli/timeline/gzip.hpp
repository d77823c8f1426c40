// Bytes on their way to a file, compressed as gzip does (RFC 1952).
#pragma once
#include <memory>
#include <string>

#include "cli/table/bytes.hpp"

struct z_stream_s;

namespace fade::timeline {

class GzipBytes : public table::Bytes {
 public:
  explicit GzipBytes(table::Bytes& out);  // `out` must outlive it
  ~GzipBytes() override;
  Result<void> write(std::string_view text) override;
  // The end of the stream: nothing may be written afterwards.
  Result<void> finish();

 private:
  Result<void> deflate_all(std::string_view text, int how);

  table::Bytes& out_;
  std::string pending_;
  std::unique_ptr<z_stream_s> stream_;
};

}  // namespace fade::timeline
