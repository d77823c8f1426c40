#include "blas/npy.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/output_file.hpp"

namespace fade::blas {
namespace {

constexpr std::size_t kPreface = 10;  // magic, version, length of the header
constexpr std::size_t kAligned = 64;

const char* descriptor_of(Element type) {
  switch (type) {
    case Element::F16: return "<f2";
    case Element::BF16: return "<u2";
    case Element::F32: return "<f4";
    case Element::F64: return "<f8";
    case Element::C64: return "<c8";
    case Element::C128: return "<c16";
    case Element::I8: return "|i1";
    case Element::I32: return "<i4";
  }
  return "|V1";
}

std::string header_of(const Matrix& matrix, std::uint64_t batch) {
  const std::string shape = batch > 1 ? fmt::format("({}, {}, {})", matrix.rows, matrix.columns, batch)
                                      : fmt::format("({}, {})", matrix.rows, matrix.columns);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': True, 'shape': {}, }}", descriptor_of(matrix.type), shape);
  text.append(kAligned - (kPreface + text.size() + 1) % kAligned, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

Result<void> write_all(const Fd& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail_errno("cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

Result<void> write_npy(const std::string& path, const Matrix& matrix, std::uint64_t batch,
                       std::span<const std::byte> packed) {
  const auto file = open_output_file(path, OutputMode::New, 0600);
  if (!file) return tl::unexpected(file.error());
  const std::string header = header_of(matrix, batch);
  if (auto done = write_all(*file, std::as_bytes(std::span(header))); !done) return done;
  return write_all(*file, packed);
}

Result<std::vector<std::byte>> read_npy(const std::string& path, const Matrix& matrix, std::uint64_t batch) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno(fmt::format("cannot read {}", path));
  const std::string wanted = header_of(matrix, batch);
  std::string header(wanted.size(), '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(header.size())) || header != wanted)
    return fail(fmt::format("{} is not the matrix that call.json describes", path));
  std::vector<std::byte> out(matrix.rows * matrix.columns * size_of(matrix.type) * batch);
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size())))
    return fail(fmt::format("{} is too short", path));
  return out;
}

}  // namespace fade::blas
