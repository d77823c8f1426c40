#include "blas/service.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "blas/dump.hpp"

namespace fade::blas {
namespace {

// A file's content, mapped for reading.
class Mapped {
 public:
  explicit Mapped(const Fd& file) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0 || facts.st_size <= 0) return;
    size_ = static_cast<std::size_t>(facts.st_size);
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
    if (at != MAP_FAILED) at_ = static_cast<const std::byte*>(at);
  }
  ~Mapped() {
    if (at_) ::munmap(const_cast<std::byte*>(at_), size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  std::span<const std::byte> part(const Request::Part& part) const {
    if (!at_ || part.offset > size_ || part.size > size_ - part.offset) return {};
    return {at_ + part.offset, part.size};
  }

 private:
  const std::byte* at_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

std::string shown_elements(const Product& product, const Comparison& found) {
  std::string out;
  for (const Difference& one : found.first) out += (out.empty() ? "" : "; ") + shown(product, one);
  return found.differing > found.first.size() ? out + "; ..." : out;
}

void Service::run(int socket) {
  while (auto message = receive_message(socket, true)) {
    const auto request = request_from(message->text);
    Answer out;
    if (request) out = answer(*request, message->with);
    else out.problem = request.error().sentence();
    send_message(socket, to_text(out));
  }
}

Answer Service::answer(const Request& request, const Fd& matrices) {
  Answer out{.id = request.id, .problem = {}, .blas = cpu_.name()};
  const Mapped mapped(matrices);
  try {  // of memory for the widened matrices
    compare_and_dump(
        request, {mapped.part(request.a), mapped.part(request.b), mapped.part(request.c), mapped.part(request.d)}, out);
  } catch (const std::bad_alloc&) {
    out.problem = "there was not enough memory to compute it";
  }
  return out;
}

void Service::compare_and_dump(const Request& request, const Matrices& matrices, Answer& to) {
  std::vector<Value> wanted;
  const auto found =
      compare(request.product, matrices, request.tolerance, cpu_, request.dump.empty() ? nullptr : &wanted);
  if (!found) {
    to.problem = found.error().sentence();
    return;
  }
  to.elements = found->elements;
  to.differing = found->differing;
  if (found->differing == 0) return;
  to.first = found->first.front();
  to.worst = found->worst;
  to.worst_limit = found->worst_limit;
  to.shown = shown_elements(request.product, *found);
  if (request.dump.empty() || dumps_left_ == 0) return;
  const auto done =
      write_dump(request.dump, request.product, matrices, request.tolerance, wanted,
                 {{"function", request.function}, {"call", request.call}, {"pid", request.pid}, {"tid", request.tid}});
  --dumps_left_;
  if (done) to.folder = request.dump;
  else to.dump_problem = done.error().sentence();
}

}  // namespace fade::blas
