#include "base/demangle.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

// _Z1f4pairIiiES_IS0_S0_ES_IS1_S1_E...: each parameter is twice the one before.
std::string doubling(int times) {
  const auto reference = [](int n) {
    std::string digits;
    for (; n > 0 || digits.empty(); n /= 36)
      digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
    return "S" + digits + "_";
  };
  std::string name = "_Z1f4pairIiiE";
  for (int i = 0; i < times; ++i) name += "S_I" + reference(i) + reference(i) + "E";
  return name;
}

TEST(Demangling, ReadsNamesOfKernels) {
  EXPECT_EQ(demangled("_Z6squarePfi"), "square(float*, int)");
  EXPECT_EQ(demangled("_ZN2at6native4fillIfEEvT_"), "void at::native::fill<float>(float)");
  EXPECT_EQ(demangled("saxpy"), std::nullopt);
  EXPECT_EQ(demangled("_Znonsense"), std::nullopt);
}

TEST(Demangling, OfANameThatStandsForGigabytesGivesItsOutline) {
  EXPECT_NE(demangled(doubling(3)).value_or("").find("pair<pair<"), std::string::npos) << "small ones are shown whole";
  EXPECT_EQ(demangled(doubling(200)), "f(...)");
  EXPECT_EQ(demangled("_ZN2at12_GLOBAL__N_16kernelI" + std::string(100, 'S') + "EEvv"),
            "at::(anonymous namespace)::kernel<...>");
}

TEST(Demangling, OfLongOrBrokenNamesEnds) {
  EXPECT_EQ(demangled("_Z9" + std::string(5000, 'a')), "aaaaaaaaa(...)");
  EXPECT_EQ(demangled("_ZN99999999" + std::string(100, 'S')), std::nullopt);
  EXPECT_EQ(demangled("_Z" + std::string(5000, 'P')), std::nullopt);
}

TEST(FunctionName, IsWithoutParametersAndReturnType) {
  EXPECT_EQ(function_name("_ZN2at5emptyEi"), "at::empty");
  EXPECT_EQ(function_name("_Z3addIfEvPT_S1_i"), "add<float>");
  EXPECT_EQ(function_name("_ZNK3c1010TensorImpl5sizesEv"), "c10::TensorImpl::sizes");
  EXPECT_EQ(function_name("_ZN12_GLOBAL__N_13runEi"), "(anonymous namespace)::run");
  EXPECT_EQ(function_name("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(function_name("_ZnwmSt11align_val_t"), "operator new");
  EXPECT_EQ(function_name("_ZN3FoocvSsEv"), "Foo::operator std::string");
  EXPECT_EQ(function_name("_ZN3FoolsIiEERS_RKT_"), "Foo::operator<< <int>");
  EXPECT_EQ(function_name("_Z3runPFviE.cold"), "run");
}

TEST(FunctionPlace, KeepsTheOffset) {
  EXPECT_EQ(function_place("_ZN2at5emptyEi+0x12"), "at::empty+0x12");
  EXPECT_EQ(function_place("_ZN4mini16CachingAllocator4growEm.isra.0+0x29"), "mini::CachingAllocator::grow+0x29");
  EXPECT_EQ(function_place("main+0x12"), "main+0x12");
  EXPECT_EQ(function_place("main"), "main");
  EXPECT_EQ(function_place(""), "");
}

TEST(FunctionName, OfCIsItself) {
  EXPECT_EQ(function_name("hipMalloc"), "hipMalloc");
  EXPECT_EQ(function_name("_start"), "_start");
  EXPECT_EQ(function_name("_Z"), "_Z");
  EXPECT_EQ(function_name(""), "");
}

}  // namespace
}  // namespace fade
