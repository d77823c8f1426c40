#include "blas/dump.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/output_file.hpp"
#include "blas/npy.hpp"

namespace fade::blas {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // of one matrix that is read back

// Without the gaps between columns and between matrices.
std::vector<std::byte> packed(const Matrix& from, std::uint64_t batch, std::span<const std::byte> bytes) {
  const std::size_t size = size_of(from.type), column = from.rows * size;
  std::vector<std::byte> out(column * from.columns * batch);
  std::byte* to = out.data();
  for (std::uint64_t index = 0; index < batch; ++index) {
    for (std::uint64_t i = 0; i < from.columns; ++i, to += column)
      std::memcpy(to, bytes.data() + index * from.stride_bytes() + i * from.ld * size, column);
  }
  return out;
}

Matrix packed_shape(Matrix matrix) {
  matrix.ld = matrix.rows;
  matrix.stride = matrix.rows * matrix.columns;
  return matrix;
}

Product packed_shapes(Product product) {
  for (Matrix* const one : {&product.a, &product.b, &product.c, &product.d}) *one = packed_shape(*one);
  return product;
}

Result<void> write_expected(const std::string& folder, const Product& product, const std::vector<Value>& wanted) {
  Matrix matrix = packed_shape(product.d);
  matrix.type = is_complex(product.d.type) ? Element::C128 : Element::F64;
  if (is_complex(product.d.type))
    return write_npy(folder + "/expected.npy", matrix, product.batch, std::as_bytes(std::span(wanted)));
  std::vector<double> reals;
  for (const Value& value : wanted) reals.push_back(value.real());
  return write_npy(folder + "/expected.npy", matrix, product.batch, std::as_bytes(std::span(reals)));
}

Result<void> write_text(const std::string& path, const std::string& text) {
  const auto file = open_output_file(path, OutputMode::New, 0600);
  if (!file) return tl::unexpected(file.error());
  if (::write(file->get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno(fmt::format("cannot write {}", path));
  return {};
}

// name of the file without .npy, shape, bytes
std::vector<std::tuple<const char*, const Matrix*, std::span<const std::byte>>> parts_of(const Product& product,
                                                                                         const Matrices& m) {
  std::vector<std::tuple<const char*, const Matrix*, std::span<const std::byte>>> out{
      {"a", &product.a, m.a}, {"b", &product.b, m.b}, {"d", &product.d, m.d}};
  if (product.uses_c()) out.emplace_back("c", &product.c, m.c);
  return out;
}

Result<json> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail_errno(fmt::format("cannot read {}", path));
  json out = json::parse(file, nullptr, false);
  if (out.is_discarded()) return fail(fmt::format("{} is no JSON", path));
  return out;
}

Result<Dump> described(const json& from) {
  auto product = product_from(from.value("product", json::object()));
  if (!product) return tl::unexpected(product.error());
  Dump out{.product = packed_shapes(*product)};
  try {
    out.function = from.at("function").get<std::string>();
    out.call = from.at("call").get<std::uint64_t>();
    out.tolerance = {std::stod(from.at("atol").get<std::string>()), std::stod(from.at("rtol").get<std::string>())};
  } catch (const std::exception& e) {
    return fail("call.json lacks a part", e.what());
  }
  for (const Matrix* one : {&out.product.a, &out.product.b, &out.product.c, &out.product.d})
    if (one->bytes() > kMostBytes / out.product.batch) return fail("its matrices are too large");
  return out;
}

}  // namespace

Result<void> write_dump(const std::string& folder, const Product& product, const Matrices& matrices,
                        const Tolerance& tolerance, const std::vector<Value>& wanted, const json& about) {
  if (::mkdir(folder.c_str(), 0700) != 0) return fail_errno(fmt::format("cannot create {}", folder));
  for (const auto& [name, matrix, bytes] : parts_of(product, matrices)) {
    const auto data = packed(*matrix, product.batch, bytes);
    if (auto done = write_npy(fmt::format("{}/{}.npy", folder, name), *matrix, product.batch, data); !done) return done;
  }
  if (auto done = write_expected(folder, product, wanted); !done) return done;
  json text = about;
  text["product"] = to_json(packed_shapes(product));
  text["atol"] = fmt::format("{:.17g}", tolerance.absolute);
  text["rtol"] = fmt::format("{:.17g}", tolerance.relative);
  return write_text(folder + "/call.json", text.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<Dump> read_dump(const std::string& folder) {
  const auto text = read_json(folder + "/call.json");
  if (!text) return tl::unexpected(text.error());
  auto out = described(*text);
  if (!out) return out;
  for (const auto& [name, matrix, to] :
       {std::tuple("a", &out->product.a, &out->a), std::tuple("b", &out->product.b, &out->b),
        std::tuple("c", &out->product.c, &out->c), std::tuple("d", &out->product.d, &out->d)}) {
    if (to == &out->c && !out->product.uses_c()) continue;
    auto data = read_npy(fmt::format("{}/{}.npy", folder, name), *matrix, out->product.batch);
    if (!data) return tl::unexpected(data.error());
    *to = std::move(*data);
  }
  return out;
}

}  // namespace fade::blas
