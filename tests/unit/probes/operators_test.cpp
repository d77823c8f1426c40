// PyTorch's operators: symbols of releases 1.13 and 2.x, their names, and their words on the stack.
#include "probes/operators.hpp"

#include <gmock/gmock.h>

#include "probes/catalogue.hpp"
#include "probes/selection.hpp"

namespace fade::probes {
namespace {

using testing::Eq;
using testing::Optional;

constexpr const char* kAdd = "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE";
constexpr const char* kAddRedispatch =
    "_ZN2at4_ops10add_Tensor10redispatchEN3c1014DispatchKeySetERKNS_6TensorES6_RKNS2_6ScalarE";
constexpr const char* kConvolution =
    "_ZN2at4_ops11convolution4callERKNS_6TensorES4_RKN3c108optionalIS2_EENS5_8ArrayRefIlEESB_SB_bSB_l";
constexpr const char* kSum =
    "_ZN2at4_ops15sum_dim_IntList4callERKNS_6TensorEN3c1016OptionalArrayRefIlEEbNS5_8optionalINS5_10ScalarTypeEEE";
constexpr const char* kSumOfTwo =  // PyTorch 2.5: std::optional
    "_ZN2at4_ops15sum_dim_IntList4callERKNS_6TensorEN3c1016OptionalArrayRefIlEEbSt8optionalINS5_10ScalarTypeEE";

OperatorNames schema_names() {
  OperatorNames out;
  using std::literals::operator""sv;
  out.read(
      "\0add.Tensor(Tensor self) -> Tensor\0aten::sum.dim_IntList(Tensor self)\0"
      "_sparse_softmax.int(Tensor self)\0pow_.Scalar(x)\0"
      "no.name.at.all(y)\0size() == 1(\0.first(\0last.(\0mm(Tensor a)"sv);
  return out;
}

Probe operator_of(const std::string& symbol) {
  const auto parsed = parse_operator(symbol);
  const auto families = operator_families();
  return operator_probe(families[parsed->is_redispatch], symbol, *parsed, schema_names());
}

bool selects(std::string_view events, const Probe& probe, const std::vector<std::string>& exclude = {}) {
  Catalogue catalogue;
  catalogue.add_libraries(events);
  const auto selection = Selection::make(events, {}, exclude, catalogue.all());
  EXPECT_TRUE(selection) << selection.error().text();
  return selection && (*selection)(probe);
}

TEST(Operators, AreKnownByTheirSymbols) {
  EXPECT_EQ(parse_operator(kAdd)->name, "add_Tensor");
  EXPECT_FALSE(parse_operator(kAdd)->is_redispatch);
  EXPECT_TRUE(parse_operator(kAddRedispatch)->is_redispatch);
  for (const char* other :
       {"", "hipMalloc", "_ZN2at4_ops", "_ZN2at4_ops3addE", "_ZN2at4_ops99999999999999999999add4callE",
        "_ZN2at4_ops200add4callE", "_ZN2at4_ops3add5callsEv", "_ZN2at4_ops0add4callE"})
    EXPECT_FALSE(parse_operator(other)) << other;
}

TEST(Operators, HaveTheNamesOfTheirSchemas) {
  EXPECT_EQ(schema_names().name_of("add_Tensor"), "aten::add.Tensor");
  EXPECT_EQ(schema_names().name_of("sum_dim_IntList"), "aten::sum.dim_IntList");
  EXPECT_EQ(schema_names().name_of("pow__Scalar"), "aten::pow_.Scalar");
  EXPECT_EQ(schema_names().name_of("softmax_int"), "aten::softmax.int");
  for (const char* plain : {"mm", "int", "name_at_all", "no_name.at.all", "_first", "last_", "relu_"})
    EXPECT_EQ(schema_names().name_of(plain), std::string("aten::") + plain);
}

TEST(Operators, HaveAllTheirWordsOnTheStack) {
  EXPECT_THAT(words_on_stack(kAdd), Optional(Eq(0)));
  EXPECT_THAT(words_on_stack(kConvolution), Optional(Eq(8)));  // 4 in registers, 2 for stride; then padding and so on
  EXPECT_THAT(words_on_stack(kSum), Optional(Eq(3)));
  EXPECT_THAT(words_on_stack(kSumOfTwo), Optional(Eq(3)));
  EXPECT_EQ(words_on_stack("_ZN2at4_ops3odd4callENS_7UnknownE"), std::nullopt);
  EXPECT_EQ(words_on_stack("no symbol"), std::nullopt);
}

// Each pair holds the one before twice: the demangled text would take all memory.
TEST(Operators, AskForNoTextThatTakesAllMemory) {
  std::string symbol = "_ZN2at4_ops1a4callESt4pairIllE";
  for (char c = '0'; c <= '9'; ++c) symbol += std::string("St4pairIS") + c + "_S" + c + "_E";
  for (int i = 0; i < 30; ++i) symbol += "St4pairIS0_S0_E";
  EXPECT_EQ(words_on_stack(symbol), std::nullopt);
}

TEST(Operators, AreAskedForWithACallerAndTakenAway) {
  for (const char* events : {"ops", "all,ops@libmine*", "all,-ops", "aten::mm@libmine*"})
    EXPECT_TRUE(asks_for_operators(events)) << events;
  EXPECT_FALSE(asks_for_operators("all,hot"));
}

TEST(Operators, StayIfOneIsTakenAway) {
  const Probe family = operator_families().front();
  EXPECT_TRUE(selects("ops,-aten::mm", family));
  EXPECT_TRUE(selects("aten::*,-aten::mm", family));
  EXPECT_FALSE(selects("ops,-aten::*", family));
}

TEST(Operators, AreOffUnlessAskedFor) {
  const Probe add = operator_of(kAdd), again = operator_of(kAddRedispatch);
  EXPECT_EQ(add.symbol, "aten::add.Tensor");
  EXPECT_EQ(again.symbol, "redispatch aten::add.Tensor");
  for (const char* events : {"", "all", "all,hot", "mem,copy"}) EXPECT_FALSE(selects(events, add)) << events;
  EXPECT_TRUE(selects("ops", add));
  EXPECT_FALSE(selects("ops", again));
  EXPECT_TRUE(selects("all,ops-redispatch", again));
  EXPECT_FALSE(selects("ops-redispatch", add));
}

TEST(Operators, CanBeNamed) {
  const Probe add = operator_of(kAdd), sum = operator_of(kSum);
  EXPECT_TRUE(selects("aten::add*", add));
  EXPECT_FALSE(selects("aten::add*", sum));
  EXPECT_TRUE(selects("mem,aten::add.Tensor", add));
  EXPECT_FALSE(selects("ops,-aten::add*", add));
  EXPECT_TRUE(selects("ops,-aten::add*", sum));
  EXPECT_FALSE(selects("ops", add, {"add"}));
}

}  // namespace
}  // namespace fade::probes
