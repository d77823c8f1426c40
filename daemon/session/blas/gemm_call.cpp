#include "session/blas/gemm_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "base/glob.hpp"
#include "probes/arguments.hpp"
#include "session/argument_reader.hpp"

namespace fade {
namespace {

using blas::Element;
using blas::Op;

// Names of functions, and how their type is told: by the letter at `letter`, or by parameters (0).
struct GemmFamily {
  std::string_view pattern;
  std::size_t letter;
};
constexpr GemmFamily kGemmFamilies[] = {{"rocblas_?gemm", 8},
                                        {"rocblas_?gemm_64", 8},
                                        {"rocblas_?gemm_strided_batched", 8},
                                        {"rocblas_?gemm_strided_batched_64", 8},
                                        {"rocblas_?gemm_batched", 8},
                                        {"rocblas_gemm_ex", 0},
                                        {"rocblas_gemm_ex_64", 0},
                                        {"rocblas_gemm_strided_batched_ex", 0},
                                        {"rocblas_gemm_strided_batched_ex_64", 0},
                                        {"rocblas_gemm_batched_ex", 0},
                                        {"hipblas?gemm", 7},
                                        {"hipblas?gemm_v2", 7},
                                        {"hipblas?gemm_64", 7},
                                        {"hipblas?gemm_v2_64", 7},
                                        {"hipblas?gemmStridedBatched", 7},
                                        {"hipblas?gemmStridedBatched_v2", 7},
                                        {"hipblas?gemmStridedBatched_64", 7},
                                        {"hipblas?gemmStridedBatched_v2_64", 7},
                                        {"hipblas?gemmBatched", 7},
                                        {"hipblas?gemmBatched_v2", 7},
                                        {"hipblasGemmEx", 0},
                                        {"hipblasGemmEx_v2", 0},
                                        {"hipblasGemmEx_64", 0},
                                        {"hipblasGemmExWithFlags", 0},
                                        {"hipblasGemmExWithFlags_v2", 0},
                                        {"hipblasGemmStridedBatchedEx", 0},
                                        {"hipblasGemmStridedBatchedEx_v2", 0},
                                        {"hipblasGemmStridedBatchedExWithFlags", 0},
                                        {"hipblasGemmStridedBatchedExWithFlags_v2", 0},
                                        {"hipblasGemmBatchedEx", 0},
                                        {"hipblasGemmBatchedEx_v2", 0},
                                        {"hipblasLtMatmul", 0}};

const GemmFamily* family_of(const probes::Probe& probe) {
  if (!probe.symbol.starts_with("rocblas_") && !probe.symbol.starts_with("hipblas")) return nullptr;
  const auto found = std::ranges::find_if(
      kGemmFamilies, [&](const GemmFamily& family) { return glob_match(std::string(family.pattern), probe.symbol); });
  return found == std::end(kGemmFamilies) ? nullptr : &*found;
}

// Arguments by the names that the libraries use for them, without case and underscores: strideA, stride_a.
class GemmArguments {
 public:
  GemmArguments(const Entry& entry, const OpenCall& call) : entry_(entry), call_(call) {}

  std::optional<std::uint64_t> find(std::initializer_list<std::string_view> names) const {
    for (const probes::Parameter& parameter : entry_.probe->parameters)
      if (std::ranges::find(names, plain(parameter.name)) != names.end()) return value(parameter);
    return std::nullopt;
  }
  std::uint64_t operator[](std::string_view name) const { return find({name}).value_or(0); }

 private:
  static std::string plain(const std::string& name) {
    std::string out;
    for (const char c : name)
      if (c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    return out;
  }
  // Negative numbers are out of all ranges.
  std::uint64_t value(const probes::Parameter& parameter) const {
    const std::uint64_t out = argument(*entry_.probe, parameter, call_);
    const bool is_int = parameter.type.size == 4;
    return is_int ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(out))) : out;
  }

  const Entry& entry_;
  const OpenCall& call_;
};

// hipBLAS and rocBLAS use the same numbers.
std::optional<Op> op_of(std::uint64_t number) {
  constexpr std::uint64_t kFirst = 111;
  return number - kFirst <= 2 ? std::optional(static_cast<Op>(number - kFirst)) : std::nullopt;
}

// hipblasComputeType_t
std::optional<Element> scalar_of_compute(std::uint64_t number) {
  constexpr Element kTypes[] = {Element::F16, Element::F16, Element::F32, Element::F32, Element::F32, Element::F32,
                                Element::F32, Element::F64, Element::F64, Element::I32, Element::I32};
  return number < std::size(kTypes) ? std::optional(kTypes[number]) : std::nullopt;
}

// The type whose precision the sums have.
std::optional<Element> sums_of_compute(std::uint64_t number) {
  constexpr std::uint64_t kFast16 = 4, kFastBf16 = 5, kFastTf32 = 6;
  if (number == kFast16 || number == kFastTf32) return Element::F16;  // TF32 has the mantissa of f16
  return number == kFastBf16 ? Element::BF16 : scalar_of_compute(number);
}

// From precise to rough.
int roughness(Element type) {
  constexpr Element kOrder[] = {Element::I8,  Element::I32, Element::C128, Element::F64,
                                Element::C64, Element::F32, Element::F16,  Element::BF16};
  return static_cast<int>(std::ranges::find(kOrder, type) - std::begin(kOrder));
}
Element rougher(Element one, Element other) { return roughness(one) < roughness(other) ? other : one; }

tl::unexpected<Error> unknown_type() { return fail("its types of elements are not among those that fade can compute"); }

Result<void> set_types(blas::Product& product, std::optional<Element> a, std::optional<Element> b,
                       std::optional<Element> c, std::optional<Element> d, std::optional<Element> scalar,
                       std::optional<Element> sums) {
  if (!a || !b || !c || !d || !scalar || !sums) return unknown_type();
  product.a.type = *a;
  product.b.type = *b;
  product.c.type = *c;
  product.d.type = *d;
  product.scalar = *scalar;
  product.precise = rougher(*d, *sums);
  return {};
}

Result<void> types_of_letter(char letter, blas::Product& product) {
  const auto type = blas::element_of_letter(letter);
  return set_types(product, type, type, type, type, type, type);
}

// compute_type is a type of elements, or hipblasComputeType_t. Complex products have complex alpha and beta then.
Result<void> types_of_arguments(const GemmArguments& given, blas::Product& product) {
  constexpr std::uint64_t kFirstOfRocblas = 150;
  const auto type = [&](std::string_view name) { return blas::element_of(given[name]); };
  const std::uint64_t compute = given["computetype"];
  const auto d = given.find({"dtype"}) ? type("dtype") : type("ctype");
  auto scalar = compute >= kFirstOfRocblas ? blas::element_of(compute) : scalar_of_compute(compute);
  const auto sums = compute >= kFirstOfRocblas ? scalar : sums_of_compute(compute);
  if (d && scalar && blas::is_complex(*d) && !blas::is_complex(*scalar))
    scalar = *scalar == Element::F64 ? Element::C128 : Element::C64;
  return set_types(product, type("atype"), type("btype"), type("ctype"), d, scalar, sums);
}

Result<void> read_scalars(const Thread& thread, const GemmArguments& given, blas::Product& product) {
  for (const auto& [name, to] : {std::pair("alpha", &product.alpha), std::pair("beta", &product.beta)}) {
    std::array<std::byte, 16> bytes{};
    const auto wanted = std::span(bytes).first(blas::size_of(product.scalar));
    const RemoteAddr from{given[name]};
    if (!from || thread.memory().read(from, wanted) < wanted.size())
      return fail("alpha or beta cannot be read: they may be on the GPU");
    *to = blas::value_of(product.scalar, wanted);
  }
  return {};
}

void set_sizes(const GemmArguments& given, GemmCall& out) {
  blas::Product& p = out.product;
  p.m = given["m"];
  p.n = given["n"];
  p.k = given["k"];
  p.batch = given.find({"batchcount"}).value_or(1);
  p.shape();
  p.a.ld = given["lda"];
  p.b.ld = given["ldb"];
  p.c.ld = given["ldc"];
  p.d.ld = given.find({"ldd"}).value_or(p.c.ld);
  p.a.stride = given["stridea"];
  p.b.stride = given["strideb"];
  p.c.stride = given["stridec"];
  p.d.stride = given.find({"strided"}).value_or(p.c.stride);
  out.a = {given.find({"a", "ap"}).value_or(0)};
  out.b = {given.find({"b", "bp"}).value_or(0)};
  out.c = {given.find({"c", "cp"}).value_or(0)};
  out.d = {given.find({"d"}).value_or(out.c.value)};
}

Result<void> set_ops(std::uint64_t a, std::uint64_t b, blas::Product& product) {
  const auto op_a = op_of(a), op_b = op_of(b);
  if (!op_a || !op_b) return fail("its transposes are not known");
  product.op_a = *op_a;
  product.op_b = *op_b;
  return {};
}

blas::Matrix matrix_of(const LtObjects::Layout& layout) {
  return {.type = blas::element_of(layout.type).value_or(Element::F32),
          .rows = layout.rows,
          .columns = layout.columns,
          .ld = layout.ld,
          .stride = layout.stride};
}

Result<void> set_lt(const GemmArguments& given, const LtObjects& objects, GemmCall& out) {
  const auto* const description = objects.description(given["matmuldesc"]);
  const LtObjects::Layout* const layouts[] = {objects.layout(given["adesc"]), objects.layout(given["bdesc"]),
                                              objects.layout(given["cdesc"]), objects.layout(given["ddesc"])};
  if (!description || std::ranges::find(layouts, nullptr) != std::end(layouts))
    return fail("its layouts were not seen when they were made");
  if (!description->special.empty()) return fail(description->special);
  blas::Product& p = out.product;
  if (auto set = set_ops(description->op_a, description->op_b, p); !set) return set;
  blas::Matrix* const matrices[] = {&p.a, &p.b, &p.c, &p.d};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!layouts[i]->is_by_columns) return fail("one of its matrices is not stored by columns");
    if (!blas::element_of(layouts[i]->type)) return unknown_type();
    *matrices[i] = matrix_of(*layouts[i]);
  }
  p.m = p.d.rows;
  p.n = p.d.columns;
  p.k = p.op_a == Op::None ? p.a.columns : p.a.rows;
  p.batch = layouts[3]->batch;
  return set_types(p, p.a.type, p.b.type, p.c.type, p.d.type, blas::element_of(description->scale),
                   sums_of_compute(description->compute));
}

}  // namespace

bool is_gemm(const probes::Probe& probe) { return family_of(probe) != nullptr; }

bool describes_gemm(const probes::Probe& probe) {
  return probe.symbol.starts_with("hipblasLtMatrixLayout") || probe.symbol.starts_with("hipblasLtMatmulDesc");
}

Result<GemmCall> read_gemm(const Thread& thread, const Entry& entry, const OpenCall& call, const LtObjects& objects) {
  const std::string& name = entry.probe->symbol;
  const GemmFamily* const family = family_of(*entry.probe);
  const bool has_strides = name.find("rided") != std::string::npos;
  if (!has_strides && (name.find("atched") != std::string::npos))
    return fail("its matrices are told by lists of addresses on the GPU");
  const GemmArguments given(entry, call);
  GemmCall out;
  set_sizes(given, out);
  Result<void> done;
  if (name == "hipblasLtMatmul") {
    out.stream = given["stream"];
    done = set_lt(given, objects, out);
  } else {
    const bool is_rocblas = name.starts_with("rocblas_");
    out.handle = given["handle"];
    out.stream_getter = is_rocblas ? "rocblas_get_stream" : "hipblasGetStream";
    out.mode_getter = is_rocblas ? "rocblas_get_pointer_mode" : "hipblasGetPointerMode";
    done = set_ops(given["transa"], given["transb"], out.product);
    if (done) out.product.shape();
    if (done)
      done =
          family->letter ? types_of_letter(name[family->letter], out.product) : types_of_arguments(given, out.product);
  }
  if (done) done = read_scalars(thread, given, out.product);
  if (done) done = out.product.check();
  if (!done) return tl::unexpected(std::move(done.error()));
  if (!out.a || !out.b || !out.d) return fail("one of its matrices has no address");
  return out;
}

}  // namespace fade
