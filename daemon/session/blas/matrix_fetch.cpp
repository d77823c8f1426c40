#include "session/blas/matrix_fetch.hpp"

#include <fmt/format.h>
#include <x86intrin.h>

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "elf/dynamic_image.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kStreamBusy = 600;    // hipErrorNotReady
constexpr std::uint64_t kCopyToHost = 2;      // hipMemcpyKind
constexpr std::uint64_t kMatrixAligned = 64;  // of each matrix in the data

// Words of the plan.
constexpr std::size_t kStreamWord = 0, kModeWord = 1, kCapturingWord = 2;

// nullptr: none, or several.
const Module* only_module(const Program& program, const auto& is_wanted) {
  const auto first = std::ranges::find_if(program.modules, is_wanted);
  if (first == program.modules.end()) return nullptr;
  return std::find_if(first + 1, program.modules.end(), is_wanted) == program.modules.end() ? &*first : nullptr;
}

Result<void> find_function(const elf::DynamicImage& image, const char* name, RemoteAddr& to) {
  const auto symbol = image.lookup(name);
  if (!symbol || symbol->ifunc) return fail(fmt::format("{} was not found in the program", name));
  to = image.address(*symbol);
  return {};
}

}  // namespace

Result<ErrandCalls> ErrandCalls::find(const Inferior& inferior, const std::string& library, const GemmCall& gemm) {
  const Program& program = *inferior.program;
  const Module* const runtime = only_module(program, [](const Module& module) { return module.role == "hip"; });
  const Module* const blas = only_module(program, [&](const Module& module) { return module.path == library; });
  if (!runtime || !blas) return fail("the program has no HIP runtime that is known, or several");
  const auto hip = elf::DynamicImage::open(inferior.memory(), runtime->span.begin);
  const auto own = elf::DynamicImage::open(inferior.memory(), blas->span.begin);
  if (!hip || !own) return fail("the libraries' symbols cannot be read");
  ErrandCalls out;
  const std::tuple<const elf::DynamicImage*, const char*, RemoteAddr*> wanted[] = {
      {&*hip, "hipPeekAtLastError", &out.peek_error},     {&*hip, "hipGetLastError", &out.last_error},
      {&*hip, "hipStreamIsCapturing", &out.is_capturing}, {&*hip, "hipStreamQuery", &out.query},
      {&*hip, "hipStreamSynchronize", &out.synchronize},  {&*hip, "hipMemcpyAsync", &out.copy},
      {&*own, gemm.stream_getter, &out.stream_getter},    {&*own, gemm.mode_getter, &out.mode_getter}};
  for (const auto& [image, name, to] : wanted)
    if (name)
      if (auto done = find_function(*image, name, *to); !done) return tl::unexpected(std::move(done.error()));
  return out;
}

void MatrixFetch::add(RemoteAddr from, blas::Matrix& matrix, std::uint64_t batch) {
  const bool is_close = batch == 1 || matrix.is_close();
  const std::uint64_t begin = (bytes_ + kMatrixAligned - 1) / kMatrixAligned * kMatrixAligned;
  bytes_ = begin;
  const std::uint64_t single = is_close ? matrix.stride_bytes() * (batch - 1) + matrix.bytes() : matrix.bytes();
  for (std::uint64_t i = 0; i < (is_close ? 1 : batch); ++i) {
    copies_.push_back({from + i * matrix.stride_bytes(), bytes_, single});
    bytes_ += single;
  }
  if (!is_close) matrix.stride = matrix.bytes() / size_of(matrix.type);
  parts_.push_back({begin, bytes_ - begin});
}

// The first step looks for an error that is pending in the thread: the other calls could hide it from the program. The
// last query lets copies be awaited with a limit, and the wait behind it makes them visible.
std::vector<ErrandStep> MatrixFetch::steps(const Errand& errand, const GemmCall& gemm, const ErrandCalls& calls) {
  std::vector<ErrandStep> out;
  names_.clear();
  const auto add = [&](const char* name, ErrandStep step) {
    names_.emplace_back(name);
    out.push_back(step);
  };
  const std::uint64_t stream = gemm.stream ? *gemm.stream : errand.word(kStreamWord).value;
  const auto behind = [&](std::uint64_t bit) { return gemm.stream ? 0 : std::uint64_t{1} << bit; };
  add("hipPeekAtLastError", {.function = calls.peek_error});
  if (!gemm.stream) {
    add(gemm.stream_getter,
        {.function = calls.stream_getter, .arguments = {gemm.handle, errand.word(kStreamWord).value}});
    add(gemm.mode_getter, {.function = calls.mode_getter,
                           .arguments = {gemm.handle, errand.word(kModeWord).value},
                           .must_be_zero = errand.word(kModeWord)});
  }
  add("hipStreamIsCapturing", {.function = calls.is_capturing,
                               .arguments = {stream, errand.word(kCapturingWord).value},
                               .behind_pointers = behind(0),
                               .must_be_zero = errand.word(kCapturingWord)});
  add("hipStreamQuery",
      {.function = calls.query, .arguments = {stream}, .behind_pointers = behind(0), .again_on = kStreamBusy});
  for (const Copy& copy : copies_)
    add("hipMemcpyAsync",
        {.function = calls.copy,
         .arguments = {(errand.data() + copy.offset).value, copy.from.value, copy.bytes, kCopyToHost, stream},
         .behind_pointers = behind(4)});
  add("hipStreamQuery",
      {.function = calls.query, .arguments = {stream}, .behind_pointers = behind(0), .again_on = kStreamBusy});
  add("hipStreamSynchronize", {.function = calls.synchronize, .arguments = {stream}, .behind_pointers = behind(0)});
  return out;
}

std::string MatrixFetch::why_not(const Errand::Outcome& outcome) const {
  if (outcome.plan.state == ErrandPlan::Succeeded) return {};
  if (outcome.plan.state != ErrandPlan::Failed || outcome.plan.done_steps >= names_.size())
    return "the thread left before its matrices were fetched";
  const std::string& name = names_[outcome.plan.done_steps];
  if (name == "hipPeekAtLastError") return "an earlier error of HIP was pending in the thread";
  if (name == "hipStreamQuery" && outcome.result == kStreamBusy) return "the stream had not finished after 10 s";
  if (outcome.result != 0) return fmt::format("{} returned {}", name, outcome.result);
  return name == "hipStreamIsCapturing" ? "the stream was being captured" : "alpha and beta are on the GPU";
}

Ticks::Ticks() : ticks_(__rdtsc()), ns_(boottime_ns()) {}

std::uint64_t Ticks::of(std::int64_t ns) const {
  constexpr std::int64_t kLeast = 1'000'000;
  std::int64_t passed;
  do passed = boottime_ns() - ns_;
  while (passed < kLeast);
  return static_cast<std::uint64_t>(static_cast<double>(__rdtsc() - ticks_) / static_cast<double>(passed) *
                                    static_cast<double>(ns));
}

}  // namespace fade
