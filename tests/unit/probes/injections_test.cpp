// What may be written as a rule of --inject or --replace, and what is said where it may not.
#include "probes/injections/injections.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "probes/catalogue.hpp"
#include "probes/probe_fixtures.hpp"

namespace fade::probes::injection_rules {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<ProbePtr>& known() {
  static const Catalogue catalogue;
  static const std::vector<ProbePtr> all = catalogue.all();
  return all;
}

Injections rules(const std::vector<std::string>& texts, std::uint64_t seed = 1) {
  std::vector<InjectionText> all;
  for (const std::string& text : texts) {
    const std::string head = text.substr(0, text.find_first_of(":/"));
    all.push_back({text, head.find('.') == head.npos ? "--inject" : "--replace"});
  }
  auto parsed = Injections::parse(all, known(), seed);
  if (!parsed) ADD_FAILURE() << parsed.error().text();
  return parsed ? std::move(*parsed) : Injections();
}

std::string refused(const InjectionText& text) {
  const auto parsed = Injections::parse(std::vector<InjectionText>{text}, known());
  return parsed ? "it was taken" : parsed.error().text();
}

// ---------------------------------------------------------------- texts

struct Taken {
  const char* text;
  const char* action;
};

class InjectionText_ : public testing::TestWithParam<Taken> {};

TEST_P(InjectionText_, IsTaken) {
  const Injections taken = rules({GetParam().text});
  ASSERT_EQ(taken.rules().size(), 1u);
  EXPECT_EQ(taken.rules()[0].action, GetParam().action);
  EXPECT_EQ(taken.rules()[0].spec, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Injections, InjectionText_,
    testing::Values(
        Taken{"hipMalloc:error=hipErrorOutOfMemory", "error=hipErrorOutOfMemory"},
        Taken{"hipMalloc:error=2:when=3", "error=hipErrorOutOfMemory"},
        Taken{"hipMalloc:error=OutOfMemory", "error=hipErrorOutOfMemory"}, Taken{"hipMalloc:error=4711", "error=4711"},
        Taken{"hipMalloc,hipFree:delay=5ms", "delay=5ms"},
        Taken{"hipMemcpy*/size>1M/kind=hipMemcpyHostToDevice:delay=1s:delay_exit=2ms", "delay=1s, delay_exit=2ms"},
        Taken{"mem:error=1:chance=10%", "error=hipErrorInvalidValue"},
        Taken{"hipLaunchKernel:error=hipErrorIllegalAddress:when=5:sticky", "error=hipErrorIllegalAddress, sticky"},
        Taken{"hipFree:error=1:late:every=2", "error=hipErrorInvalidValue, late"},
        Taken{"hipLaunchKernel/numBlocks.x>=64:delay=1ms", "delay=1ms"},
        Taken{"cuMemAlloc_v2:error=2", "error=CUDA_ERROR_OUT_OF_MEMORY"},
        Taken{"hipMalloc/caller=libtorch*/thread=pt_*/rank=0/device=1/after=2s:error=2", "error=hipErrorOutOfMemory"},
        Taken{"hipMalloc.size=4096", "size=4096"}, Taken{"hipMalloc.size=16M:when=2+2", "size=16777216"},
        Taken{"hipLaunchKernel.numBlocks.x=7", "numBlocks.x=7"},
        Taken{"hipMemcpy.kind=hipMemcpyDefault", "kind=hipMemcpyDefault"}, Taken{"hipMalloc.ptr=null", "ptr=0x0"},
        Taken{"hipStreamCreateWithPriority.priority=-1", "priority=-1"},
        Taken{"hipGetDeviceCount.result=hipErrorNoDevice:when=2", "result=hipErrorNoDevice"}));

struct Refused {
  const char* text;
  const char* says;  // a part of the message
  const char* fix;
};

class WrongInjection : public testing::TestWithParam<Refused> {};

TEST_P(WrongInjection, SaysWhatIsWrongAndANearWord) {
  EXPECT_THAT(refused({GetParam().text}),
              AllOf(HasSubstr("cannot use --inject '"), HasSubstr(GetParam().says), HasSubstr(GetParam().fix)));
}

INSTANTIATE_TEST_SUITE_P(
    Injections, WrongInjection,
    testing::Values(
        Refused{"", "no function is named", "hipMalloc:error="},
        Refused{"hipMaloc:error=2", "no group and no function is called 'hipMaloc'", "did you mean 'hipMalloc'?"},
        Refused{"hipMalloc@libx:error=2", "a library does not stand behind a function", "/caller="},
        Refused{"hipMalloc", "the rule does nothing", "error=NAME"},
        Refused{"hipMalloc:when=3", "the rule does nothing", "delay=TIME"},
        Refused{"hipMalloc:error=hipErrorOutOfMemry", "hipError_t has no value 'hipErrorOutOfMemry'",
                "did you mean 'hipErrorOutOfMemory'?"},
        Refused{"hipMalloc:error=hipSuccess", "hipSuccess is no error", "hipMalloc.result=hipSuccess"},
        Refused{"hipMalloc:error=99999999999", "does not fit", "use a number from"},
        Refused{"hipGetErrorString:error=2", "has no error to return", "delay"},
        Refused{"hipMalloc:eror=2", "'eror' is no word of a rule", "did you mean 'error'?"},
        Refused{"hipMalloc:error=2:sise>4", "'sise' is no word", "did you mean 'size'?"},
        Refused{"hipMalloc:error=2:size>four", "'four' is no number", "16M"},
        Refused{"hipMalloc:error=2:error=3", "'error' is given twice", "two rules"},
        Refused{"hipMalloc:error=2::when=2", "a part of the rule is empty", "words are"},
        Refused{"hipMalloc:error=2:when=0", "'0' is no choice of calls", "when=3+2"},
        Refused{"hipMalloc:error=2:when=5..2", "is no choice of calls", "3..5"},
        Refused{"hipMalloc:error=2:when=3+0", "is no choice of calls", "when=3+2"},
        Refused{"hipMalloc:error=2:when=3-", "is no choice of calls", "when=3+2"},
        Refused{"hipMalloc:error=2:every=0", "is no number of calls", "every=10"},
        Refused{"hipMalloc:error=2:when=2:every=3", "exclude each other", "when=3+3"},
        Refused{"hipMalloc:error=2:chance=2", "'2' is no chance", "10%"},
        Refused{"hipMalloc:error=2:chance=nan", "'nan' is no chance", "10%"},
        Refused{"hipMalloc:delay=fast", "'fast' is not a time", "5ms"},
        Refused{"hipMalloc:delay=0", "a time of nothing", "5ms"},
        Refused{"hipMalloc:error=2:device=x", "'x' is not a device number", "from 0"},
        Refused{"hipMalloc:error=2:rank=-1", "'-1' is not a rank", "rank=3"},
        Refused{"hipMalloc:error=2:caller=", "'caller' has no value", "lib*"},
        Refused{"hipMalloc:delay=1s:late", "'late' is for errors", "error=NAME"},
        Refused{"hipMalloc:error=2:sticky=1", "'sticky' has no value", ":sticky alone"},
        Refused{"hipMalloc/kernel=x:error=2", "launches one kernel", "hipLaunchKernel/kernel=NAME"},
        Refused{"hipMalloc.size=1", "that is a replacement", "--replace"},
        Refused{"less-memry=8G", "there is no preset 'less-memry' (did you mean 'less-memory'?)", "fewer-devices=N"},
        Refused{"less-memory=much", "'much' is not a size", "write 8G"},
        Refused{"fewer-devices=-1", "'-1' is no number of devices", "write 0 or 1"},
        Refused{"hide-device=x", "'x' is not a device number", "from 0"},
        Refused{"hide-devices=1", "did you mean 'hide-device'?", "hide-device=D"},
        Refused{"fewer-devices=1:when=2", "a preset has no filters", "for all calls"}));

TEST(Injections, AWrongReplacementSaysWhatThereIs) {
  const auto says = [](const char* text) { return refused({text, "--replace"}); };
  EXPECT_THAT(says("hipMalloc.sice=1"),
              AllOf(HasSubstr("did you mean 'size'?"), HasSubstr("there are ptr, size, result")));
  EXPECT_THAT(says("hipMalloc.size=-1"),
              AllOf(HasSubstr("'-1' does not fit"), HasSubstr("from 0 to 18446744073709551615")));
  EXPECT_THAT(says("hipSetDevice.deviceId=3000000000"), HasSubstr("from -2147483648 to 2147483647"));
  EXPECT_THAT(says("hipLaunchKernel.numBlocks=4"), HasSubstr("did you mean 'numBlocks.x'?"));
  EXPECT_THAT(says("hipMalloc:error=2"), HasSubstr("is a rule of --inject"));
  EXPECT_THAT(says("hipMalloc=2"), HasSubstr("'hipMalloc' names no parameter"));
  EXPECT_THAT(says("hipMalloc.size=1:error=2"), HasSubstr("two rules"));
  EXPECT_THAT(says("hipTexRefSetMipmapLevelBias.bias=much"), HasSubstr("write it like 0.5"));
  EXPECT_THAT(says("hipTexRefSetMipmapLevelBias.bias=1e39"), HasSubstr("a number of 32 bits"));
  EXPECT_THAT(says("hipModuleLoad.fname=x"), HasSubstr("a text in the program's memory"));
}

TEST(Injections, APlanHasLinesAndColumns) {
  const auto plan = plan_in("# faults\n\n  hipMalloc:error=2:when=3  # the third\nhipMemcpy.kind=4\n", "p.txt");
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].text, "hipMalloc:error=2:when=3");
  EXPECT_EQ(plan[0].origin, "p.txt:3");
  EXPECT_EQ(plan[0].column, 3u);
  const auto taken = Injections::parse(plan, known());
  ASSERT_TRUE(taken) << taken.error().text();
  EXPECT_EQ(taken->rules()[1].origin, "p.txt:4:1");
  EXPECT_THAT(refused(plan_in("\n hipMalloc:error=2:wen=3", "p.txt")[0]), HasSubstr("p.txt:2:20: cannot use"));
  EXPECT_THAT(refused(plan_in("hipMalloc:error=Foo", "p.txt")[0]), HasSubstr("p.txt:1:17: cannot use"));
}

TEST(Injections, TouchTheFunctionsThatTheyName) {
  const Injections delayed = rules({"hipMalloc/size>1M:delay=5ms"});
  EXPECT_TRUE(delayed.touches(*probe_called("hipMalloc", known())));
  EXPECT_FALSE(delayed.touches(*probe_called("hipFree", known())));
  EXPECT_FALSE(delayed.touches(*probe_called("hipGetLastError", known())));
  EXPECT_TRUE(rules({"hipMalloc:error=2"}).touches(*probe_called("hipGetLastError", known())));
  const Injections sticky = rules({"hipMalloc:error=2:sticky"});
  EXPECT_TRUE(sticky.touches(*probe_called("hipFree", known())));
  EXPECT_FALSE(sticky.touches(*probe_called("hipGetDevice", known())));
  EXPECT_FALSE(sticky.touches(*probe_called("hipGetErrorString", known())));
}

TEST(Injections, TellWhatTheyWouldDo) {
  EXPECT_THAT(rules({"hipMalloc:error=2:when=3+2"}).describe(),
              ElementsAre("hipMalloc:error=2:when=3+2  (--inject)",
                          "  from call 3, each 2th: error=hipErrorOutOfMemory", "  of hipMalloc"));
}

// ---------------------------------------------------------------- decisions

struct Calls {
  explicit Calls(std::vector<std::string> texts, std::uint64_t seed = 1) : injections(rules(texts, seed)) {}

  std::vector<Effect> at(std::string_view symbol, std::uint64_t second = 0, const CallAtEntry* like = nullptr) {
    const ProbePtr probe = probe_called(symbol, known());
    CallRecord record;
    record.words[1] = second;
    CallAtEntry call{.probe = *probe, .record = record, .payload = {}, .device = 0, .caller = "libtorch_hip.so"};
    if (like)
      call.device = like->device, call.caller = like->caller, call.thread_name = like->thread_name,
      call.tid = like->tid, call.rank = like->rank, call.now = like->now;
    return injections.decide(call, state);
  }
  // The numbers of the calls that an error meets, of so many.
  std::vector<int> failed(std::string_view symbol, int calls) {
    std::vector<int> out;
    for (int i = 1; i <= calls; ++i)
      if (!at(symbol).empty()) out.push_back(i);
    return out;
  }

  Injections injections;
  InjectionState state;
};

struct Choice {
  const char* when;
  std::vector<int> calls;
};

class InjectionTurns : public testing::TestWithParam<Choice> {};

TEST_P(InjectionTurns, MeetTheseCalls) {
  EXPECT_EQ(Calls({std::string("hipMalloc:error=2:") + GetParam().when}).failed("hipMalloc", 10), GetParam().calls);
}

INSTANTIATE_TEST_SUITE_P(Injections, InjectionTurns,
                         testing::Values(Choice{"when=3", {3}}, Choice{"when=8+", {8, 9, 10}},
                                         Choice{"when=3+3", {3, 6, 9}}, Choice{"when=2..4", {2, 3, 4}},
                                         Choice{"when=2..8+3", {2, 5, 8}}, Choice{"every=4", {4, 8}},
                                         Choice{"chance=0", {}}, Choice{"chance=1:when=9+", {9, 10}}));

TEST(InjectionDecision, EachRuleCountsTheCallsOfEachFunctionByItself) {
  Calls calls({"hipMalloc,hipFree:error=1:when=2"});
  EXPECT_TRUE(calls.at("hipMalloc").empty() && calls.at("hipFree").empty());
  EXPECT_EQ(calls.at("hipFree").size(), 1u);
  EXPECT_EQ(calls.at("hipMalloc").size(), 1u);
}

TEST(InjectionDecision, ASeedGivesTheSameCallsWhateverComesBetween) {
  Calls one({"hipMalloc:error=2:chance=0.3", "hipFree:error=1:chance=0.3"}, 7),
      other = one, third({"hipMalloc:error=2:chance=0.3"}, 8);
  const auto failed = one.failed("hipMalloc", 200);
  EXPECT_GT(failed.size(), 30u);
  EXPECT_LT(failed.size(), 90u);
  std::vector<int> again;
  for (int i = 1; i <= 200; ++i) {
    other.at("hipFree");
    if (!other.at("hipMalloc").empty()) again.push_back(i);
  }
  EXPECT_EQ(failed, again);
  EXPECT_NE(failed, third.failed("hipMalloc", 200));
}

TEST(InjectionDecision, OnlyCallsThatMatchAreCounted) {
  Calls calls({"hipMalloc/size>1M:error=2:when=2"});
  EXPECT_TRUE(calls.at("hipMalloc", 2 << 20).empty());
  EXPECT_TRUE(calls.at("hipMalloc", 1 << 20).empty());
  EXPECT_FALSE(calls.at("hipMalloc", 2 << 20).empty());
}

TEST(InjectionDecision, FiltersLookAtTheCallsSurroundings) {
  const ProbePtr probe = probe_called("hipMalloc", known());
  const CallRecord record;
  const CallAtEntry right{.probe = *probe,
                          .record = record,
                          .payload = {},
                          .device = 1,
                          .caller = "libtorch_hip.so",
                          .thread_name = "pt_main",
                          .tid = 42,
                          .rank = "3",
                          .now = 5'000'000'000};
  const char* rule = "hipMalloc/device=1/caller=libtorch*/thread=pt_*/rank=3/after=2s:error=2";
  EXPECT_FALSE(Calls({rule}).at("hipMalloc", 0, &right).empty());
  EXPECT_FALSE(Calls({"hipMalloc/thread=42:error=2"}).at("hipMalloc", 0, &right).empty());
  std::vector<CallAtEntry> wrong(5, right);
  wrong[0].device = 0;
  wrong[1].caller = "librocblas.so";
  wrong[2].thread_name = "worker";
  wrong[3].rank = "";
  wrong[4].now = 1;
  for (const CallAtEntry& call : wrong) EXPECT_TRUE(Calls({rule}).at("hipMalloc", 0, &call).empty());
}

TEST(InjectionDecision, DelaysAddUpAndTheFirstErrorCounts) {
  Calls calls({"hipMalloc:delay=1ms", "hipMalloc:error=2:delay_exit=2ms", "hipMalloc:error=1"});
  const auto effects = calls.at("hipMalloc");
  ASSERT_EQ(effects.size(), 3u);
  EXPECT_EQ(effects[0].kind, Effect::Kind::Delay);
  EXPECT_EQ(effects[1].kind, Effect::Kind::DelayExit);
  EXPECT_EQ(effects[1].value, 2'000'000);
  EXPECT_EQ(effects[2].kind, Effect::Kind::Error);
  EXPECT_EQ(effects[2].value, 2);
}

TEST(InjectionDecision, LessMemoryIsALimitOfWhatIsHeld) {
  Calls calls({"less-memory=1M"});
  const auto first = calls.at("hipMalloc", 600 << 10);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].kind, Effect::Kind::Allocate);
  calls.state.memory.allocate(0, 0x1000, static_cast<std::uint64_t>(first[0].value));
  EXPECT_EQ(calls.at("hipMalloc", 600 << 10)[0].kind, Effect::Kind::Error);
  EXPECT_EQ(calls.at("hipMalloc", 424 << 10)[0].kind, Effect::Kind::Allocate);
  EXPECT_EQ(calls.at("hipFree")[0].kind, Effect::Kind::Release);
  calls.state.memory.release(0x1000);
  EXPECT_EQ(calls.at("hipMalloc", 1 << 20)[0].kind, Effect::Kind::Allocate);
  EXPECT_EQ(calls.at("hipMalloc", ~std::uint64_t{0})[0].kind, Effect::Kind::Error);
}

TEST(InjectionDecision, FewerDevicesFailForTheDevicesThatAreNotThere) {
  Calls calls({"fewer-devices=1"});
  EXPECT_EQ(calls.at("hipGetDeviceCount")[0].kind, Effect::Kind::Count);
  EXPECT_TRUE(calls.at("hipDeviceComputeCapability").empty());
  const ProbePtr probe = probe_called("hipSetDevice", known());
  CallRecord record;
  const CallAtEntry call{.probe = *probe, .record = record, .payload = {}};
  EXPECT_TRUE(calls.injections.decide(call, calls.state).empty());
  record.words[0] = 1;
  ASSERT_EQ(calls.injections.decide(call, calls.state).size(), 1u);
  EXPECT_EQ(calls.injections.decide(call, calls.state)[0].value, 101);
  Calls none({"fewer-devices=0"});
  EXPECT_EQ(none.at("hipMalloc")[0].value, 100);
  EXPECT_TRUE(none.at("hipGetDevice").empty());
}

TEST(InjectionDecision, AKernelHasItsNameInThreeForms) {
  for (const char* const wanted : {"_ZN2at4fillEPf", "at::fill", "at::fill(float*)", "at::*"}) {
    Calls calls({std::string("hipLaunchKernel/kernel=") + wanted + ":error=1"});
    const ProbePtr probe = probe_called("hipLaunchKernel", known());
    const CallRecord record;
    CallAtEntry call{.probe = *probe, .record = record, .payload = {}, .kernel = "_ZN2at4fillEPf"};
    EXPECT_EQ(calls.injections.decide(call, calls.state).size(), 1u) << wanted;
    call.kernel = "_ZN2at4copyEPf";
    EXPECT_EQ(calls.injections.decide(call, calls.state).size(), wanted == std::string("at::*") ? 1u : 0u) << wanted;
    call.kernel = {};
    EXPECT_TRUE(calls.injections.decide(call, calls.state).empty());
  }
}

TEST(InjectionDecision, ARuleWithoutAnEffectHasItsReason) {
  Calls calls({"hipMalloc/size>4K:error=2:when=3"});
  RulesSeen seen;
  const auto why = [&] { return calls.injections.why_idle(calls.injections.rules()[0], seen); };
  const ProbePtr probe = probe_called("hipMalloc", known());
  CallRecord record;
  const CallAtEntry call{.probe = *probe, .record = record, .payload = {}};
  EXPECT_EQ(why(), "none of its functions was called");
  calls.injections.decide(call, calls.state, &seen);
  EXPECT_EQ(why(), "its filters let none of 1 call through");
  record.words[1] = 8192;
  calls.injections.decide(call, calls.state, &seen);
  EXPECT_THAT(why(), HasSubstr("1 call matched, and when="));
}

TEST(InjectionDecision, AStickyErrorMeetsAllLaterCalls) {
  Calls calls({"hipLaunchKernel:error=700:sticky:when=2"});
  EXPECT_TRUE(calls.at("hipMalloc").empty() && calls.at("hipLaunchKernel").empty());
  EXPECT_EQ(calls.at("hipLaunchKernel").size(), 1u);
  const auto later = calls.at("hipMalloc");
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].value, 700);
  EXPECT_TRUE(later[0].is_sticky);
  EXPECT_TRUE(calls.at("hipGetDevice").empty());
}

}  // namespace
}  // namespace fade::probes::injection_rules
