#include "blas/element.hpp"

#include <cstring>
#include <iterator>

#include "numbers/dtype.hpp"

namespace fade::blas {
namespace {

using numbers::Dtype;

struct Row {
  std::string_view name;
  Dtype part;  // of a number, or of both parts of a complex one
  bool is_complex;
  std::uint64_t of_hip, of_rocblas;  // hipDataType; rocblas_datatype
  double greatest;                   // finite value; 0: not looked at
};
constexpr Row kTypes[] = {{"f16", Dtype::F16, false, 2, 150, 65504},
                          {"bf16", Dtype::BF16, false, 14, 168, 3.3895313892515355e38},
                          {"f32", Dtype::F32, false, 0, 151, 3.4028234663852886e38},
                          {"f64", Dtype::F64, false, 1, 152, 0},
                          {"c64", Dtype::F32, true, 4, 154, 3.4028234663852886e38},
                          {"c128", Dtype::F64, true, 5, 155, 0},
                          {"i8", Dtype::I8, false, 3, 160, 0},
                          {"i32", Dtype::I32, false, 10, 162, 0}};
constexpr std::uint64_t kFirstOfRocblas = 150;

const Row& row_of(Element type) { return kTypes[static_cast<std::size_t>(type)]; }
Element type_at(std::size_t index) { return static_cast<Element>(index); }

double part_at(Dtype type, std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), numbers::size_of(type));
  return numbers::value_of(type, bits);
}

}  // namespace

std::string_view name_of(Element type) { return row_of(type).name; }
bool is_complex(Element type) { return row_of(type).is_complex; }
std::size_t size_of(Element type) { return numbers::size_of(row_of(type).part) * (is_complex(type) ? 2 : 1); }

std::optional<Element> element_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].name == name) return type_at(i);
  return std::nullopt;
}

std::vector<std::string> element_names() {
  std::vector<std::string> out;
  for (const Row& row : kTypes) out.emplace_back(row.name);
  return out;
}

std::optional<Element> element_of(std::uint64_t number) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (number == (number < kFirstOfRocblas ? kTypes[i].of_hip : kTypes[i].of_rocblas)) return type_at(i);
  return std::nullopt;
}

std::optional<Element> element_of_letter(char letter) {
  switch (letter | 0x20) {
    case 's': return Element::F32;
    case 'd': return Element::F64;
    case 'h': return Element::F16;
    case 'c': return Element::C64;
    case 'z': return Element::C128;
    default: return std::nullopt;
  }
}

Value value_of(Element type, std::span<const std::byte> bytes) {
  const Dtype part = row_of(type).part;
  return {part_at(part, bytes), is_complex(type) ? part_at(part, bytes.subspan(numbers::size_of(part))) : 0.0};
}

double greatest_of(Element type) { return row_of(type).greatest; }

}  // namespace fade::blas
