// Tensors among the arguments of PyTorch's operators: their bytes, their text, and their places.
#include "probes/tensors.hpp"

#include <gmock/gmock.h>

#include "probes/decode.hpp"
#include "probes/operators.hpp"
#include "probes/signature.hpp"

namespace fade::probes {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

constexpr const char* kCallOfConvolution =
    "_ZN2at4_ops11convolution4callERKNS_6TensorES4_RKN3c108optionalIS2_EENS5_8ArrayRefIlEESB_SB_bSB_l";
constexpr const char* kSchemaOfConvolution =
    "(Tensor input, Tensor weight, Tensor? bias, int[] stride, SymInt[] padding, int[] dilation, bool transposed, "
    "int[] output_padding, int groups) -> Tensor";
constexpr const char* kCallOfSum =
    "_ZN2at4_ops15sum_dim_IntList4callERKNS_6TensorEN3c1016OptionalArrayRefIlEEbNS5_8optionalINS5_10ScalarTypeEEE";
constexpr const char* kCallInPlace = "_ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_RKN3c106ScalarE";

std::string text_of(const Tensor& tensor, Style style = Style::Text) {
  std::string out;
  append_tensor_text(out, tensor, style);
  return out;
}

std::string list_of(const std::vector<Tensor>& tensors, Style style, bool cut = false) {
  std::vector<std::byte> bytes;
  for (const Tensor& tensor : tensors) append_tensor(bytes, tensor);
  std::string out;
  append_tensors_text(out, bytes, kTensorList, cut, style);
  return out;
}

OperatorArguments arguments_of(const char* symbol, const char* schema) {
  const auto parsed = parse_operator_schema(schema);
  EXPECT_TRUE(parsed);
  const auto out = operator_arguments(symbol, *parsed);
  EXPECT_TRUE(out);
  return out.value_or(OperatorArguments());
}

std::string place_of(const Parameter& parameter) {
  constexpr const char* kWhere[] = {"register ", "sse ", "stack "};
  return parameter.name + " " + kWhere[static_cast<int>(parameter.at.where)] + std::to_string(parameter.at.first);
}

TEST(Tensors, HaveATypeSizesAndADevice) {
  EXPECT_EQ(text_of({.type = 6, .device_type = 0, .sizes = {2, 3}}), "f32[2,3]");
  EXPECT_EQ(text_of({.type = 15, .device_type = 1, .device_index = 2, .sizes = {7}}, Style::Json),
            "\"bf16[7]@cuda:2\"");
  EXPECT_EQ(text_of({.type = 11, .device_type = 14}), "bool[]@meta");
  EXPECT_EQ(text_of({.type = 77, .device_type = 99}), "type77[]@device99");
  EXPECT_EQ(text_of({.state = Tensor::State::None}, Style::Json), "null");
}

TEST(Tensors, OfAListAreShownAsOne) {
  const Tensor one{.type = 6, .sizes = {2}}, none{.state = Tensor::State::None};
  EXPECT_EQ(list_of({one, none}, Style::Json), R"(["f32[2]",null])");
  EXPECT_EQ(list_of({}, Style::Text), "[]");
  EXPECT_EQ(list_of({one}, Style::Text, true), "[f32[2], ...]");
}

TEST(Tensors, InBrokenBytesAreLeftOut) {
  std::vector<std::byte> bytes;
  append_tensor(bytes, {.type = 6, .sizes = {2, 3}});
  EXPECT_THAT(tensors_of(bytes), SizeIs(1));
  EXPECT_THAT(tensors_of(std::span(bytes).first(bytes.size() - 1)), SizeIs(0));
  EXPECT_THAT(tensors_of(std::span(bytes).first(5)), SizeIs(0));
  bytes[0] = std::byte{255};
  EXPECT_THAT(tensors_of(bytes), SizeIs(0));
}

TEST(OperatorArguments, HaveTheNamesOfTheSchemaAndTheirPlaces) {
  const OperatorArguments out = arguments_of(kCallOfConvolution, kSchemaOfConvolution);
  std::vector<std::string> places;
  for (const Parameter& parameter : out.parameters) places.push_back(place_of(parameter));
  EXPECT_THAT(places, ElementsAre("input register 1", "weight register 2", "bias register 3", "stride register 4",
                                  "padding stack 0", "dilation stack 2", "transposed stack 4", "output_padding stack 5",
                                  "groups stack 7"));
  EXPECT_EQ(out.stack_words, 8);
}

TEST(OperatorArguments, OfAnOperatorInPlaceBeginInTheFirstRegister) {
  const OperatorArguments out =
      arguments_of(kCallInPlace, "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  ASSERT_THAT(out.parameters, SizeIs(2));
  EXPECT_EQ(place_of(out.parameters[0]), "self register 0");
  EXPECT_EQ(place_of(out.parameters[1]), "other register 1");
}

TEST(OperatorArguments, EndBeforeAPlaceThatDiffersBetweenReleases) {
  const OperatorArguments out =
      arguments_of(kCallOfSum, "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor");
  EXPECT_THAT(out.parameters, ElementsAre(Field(&Parameter::name, "self")));
}

TEST(OperatorArguments, AreThoseOfALongerTextThatEndsAlike) {
  constexpr const char* kErf = "_ZN2at4_ops7erf_out4callERKNS_6TensorERS2_";
  using std::literals::operator""sv;
  constexpr auto kLonger = "\0special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\0"sv;
  OperatorNames names(true);
  names.read(kLonger);
  const auto found = names.arguments_of(kErf, "erf_out");
  ASSERT_TRUE(found);
  ASSERT_THAT(found->parameters, SizeIs(2));
  EXPECT_EQ(place_of(found->parameters[1]), "out register 1");
  names.read("\0other_erf.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\0"sv);
  EXPECT_FALSE(names.arguments_of(kErf, "erf_out"));  // which of them, nothing tells
  EXPECT_FALSE(OperatorNames().arguments_of(kErf, "erf_out"));
}

TEST(OperatorArguments, NeedASchemaWithAsManyNames) {
  EXPECT_THAT(parse_operator_schema("(Tensor self, int[2] dims=[0,1]) -> Tensor")->names, ElementsAre("self", "dims"));
  EXPECT_FALSE(operator_arguments(kCallOfSum, *parse_operator_schema("(Tensor self) -> Tensor")));
  for (const char* text : {"(Tensor self)", "(self, other): Shape mismatch", "(Tensor self -> Tensor", "() == 1",
                           "(Tensor self) -> Unknown", ""})
    EXPECT_FALSE(parse_operator_schema(text)) << text;
}

TEST(OperatorArguments, ArePackedWithTheirShapes) {
  Probe probe;
  probe.parameters = arguments_of(kCallOfSum,
                                  "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
                                  "-> Tensor")
                         .parameters;
  std::vector<std::byte> tensor, payload;
  append_tensor(tensor, {.type = 7, .sizes = {5, 1}});
  append_piece(payload, {.kind = PieceKind::In}, tensor);
  const auto read = signature_from(signature_text(probe, 0));
  ASSERT_TRUE(read);
  EXPECT_EQ(args_json(read->probe, CallRecord(), payload, 0), R"({"self":"f64[5,1]"})");
}

}  // namespace
}  // namespace fade::probes
