// A part of the recording as a trace for ui.perfetto.dev, written while it is read.
#include "cli/query/serve_data.hpp"

namespace fade::query::live {
namespace {

constexpr std::size_t kPart = 64 << 10;

// Passes text on in parts of a fair size.
class PartBytes : public table::Bytes {
 public:
  explicit PartBytes(const serve::PutPart& put) : put_(put) {}
  Result<void> write(std::string_view text) override {
    buffer_ += text;
    return buffer_.size() < kPart ? Result<void>() : flush();
  }
  Result<void> flush() override {
    if (buffer_.empty() || put_(std::exchange(buffer_, {}))) return {};
    return fail("the browser has gone");
  }

 private:
  const serve::PutPart& put_;
  std::string buffer_;
};

}  // namespace

bool TraceExport::write(const Settings& settings, const serve::PutPart& put, const serve::Cancelled& cancelled) {
  PartBytes bytes(put);
  Context context{settings, {}, context_.path, context_.named, context_.output};
  context.output.bytes = &bytes;
  recording_.database.stop_with(&cancelled);
  const auto looked = look_again(recording_);
  const bool whole = looked && export_timeline(context, recording_) && bytes.flush();
  recording_.database.stop_with(nullptr);
  return whole;
}

serve::Answer TraceExport::answer(const serve::Request& request, const serve::Cancelled&) {
  Settings settings;
  settings.session = context_.settings.session;
  settings.timeline_format = "perfetto";
  settings.from_ns = request.number("from");
  settings.to_ns = request.number("to");
  serve::Answer out;
  out.type = "application/octet-stream";
  out.file = "trace.pftrace";
  out.parts = [this, settings](const serve::PutPart& put, const serve::Cancelled& cancelled) {
    return write(settings, put, cancelled);
  };
  return out;
}

}  // namespace fade::query::live
