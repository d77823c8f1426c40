#include "session/blas/blas_check.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

namespace fade {
namespace {

constexpr std::int64_t kStreamPatience = 10'000'000'000;               // for the stream, ns
constexpr std::uint64_t kMostBytesComputing = std::uint64_t{1} << 30;  // bytes that wait for the other process
constexpr std::size_t kMostRequests = 64, kMostJobs = 16, kMostLeftReasons = 1000;
constexpr std::chrono::seconds kLastWait{60};

constexpr std::string_view kCalled[] = {"hipPeekAtLastError",   "hipGetLastError",          "hipStreamIsCapturing",
                                        "hipStreamQuery",       "hipStreamSynchronize",     "hipMemcpyAsync",
                                        "rocblas_get_stream",   "rocblas_get_pointer_mode", "hipblasGetStream",
                                        "hipblasGetPointerMode"};

bool overlap(const GemmCall& gemm) {
  const auto range = [&](RemoteAddr at, const blas::Matrix& matrix) {
    return RemoteRange{at, at + (gemm.product.batch - 1) * matrix.stride_bytes() + matrix.bytes()};
  };
  const RemoteRange d = range(gemm.d, gemm.product.d);
  const auto meets = [&](const RemoteRange& other) { return other.begin < d.end && d.begin < other.end; };
  return meets(range(gemm.a, gemm.product.a)) || meets(range(gemm.b, gemm.product.b));
}

std::uint64_t bytes_of_batch(const GemmCall& gemm) {
  const blas::Product& p = gemm.product;
  std::uint64_t out = 0;
  for (const blas::Matrix* one : {&p.a, &p.b, &p.d}) out += one->bytes();
  if (p.uses_c()) out += p.c.bytes();
  return out;
}

// A batch with gaps needs a copy for each matrix.
std::uint64_t batch_to_check(const blas::Product& p) {
  const bool is_close = p.a.is_close() && p.b.is_close() && p.d.is_close() && (!p.uses_c() || p.c.is_close());
  return is_close ? p.batch : std::min(p.batch, MatrixFetch::kMostSingle);
}

}  // namespace

bool is_called_by_errands(const probes::Probe& probe) {
  return std::ranges::find(kCalled, std::string_view(probe.symbol)) != std::end(kCalled);
}

BlasCheck::BlasCheck(EventSink& sink, const SessionClock& clock, StackCapture& stacks, const blas::CheckRule& rule,
                     std::string program)
    : sink_(sink),
      clock_(clock),
      stacks_(stacks),
      rule_(rule),
      program_(std::move(program)),
      rate_(rule.bytes_per_second) {}

void BlasCheck::begin(const std::string& recording) {
  recording_ = recording;
  if (!rule_.is_on) return;
  if (const auto started = helper_.start(program_, rule_.dumps); !started)
    log::error("--check blas: {}", started.error().sentence());
  sink_.notice(Lifecycle{
      .at = clock_.now(),
      .kind = "note",
      .detail = fmt::format("--check blas: for one of {} products, the thread that made it calls HIP to fetch the "
                            "matrices; it may wait for the GPU up to 10 s",
                            rule_.every)});
}

BlasCheck::State& BlasCheck::state_of(const Inferior& inferior) {
  State& state = states_[inferior.id];
  if (state.execs != inferior.execs) state = {.execs = inferior.execs};
  return state;
}

void BlasCheck::left_out(ProcessId process, FunctionId function, const std::string& reason) {
  const auto key = std::tuple(process, function, reason);
  if (left_.size() < kMostLeftReasons || left_.contains(key)) ++left_[key];
}

// ---------------------------------------------------------------- at the entry

// Libraries call each other: only the outermost product counts.
bool BlasCheck::is_chosen(const Thread& thread, const OpenCall& call) {
  for (const OpenCall& outer : thread.calls.all())
    if (outer.is_product && outer.sp >= call.sp) return false;
  return state_of(*thread.inferior).products++ % rule_.every == 0;
}

BlasCheck::Job* BlasCheck::waiting_job(const Thread& thread, const Entry&, const OpenCall& call) {
  const auto found = jobs_.find(thread.id);
  if (found == jobs_.end()) return nullptr;
  for (Job& job : found->second)
    if (job.sp == call.sp && job.entry == call.entry) return &job;
  return nullptr;
}

bool BlasCheck::at_entry(Thread& thread, const Entry& entry, OpenCall& call) {
  call.is_product = entry.needs.gemm;
  if (!entry.needs.gemm || !helper_.is_running()) return false;
  if (Job* const job = waiting_job(thread, entry, call); job && std::exchange(job->is_fetched, false)) return false;
  if (!is_chosen(thread, call)) return false;
  auto job = new_job(thread, entry, call);
  if (!job) return false;
  const bool needs_c = job->gemm.loses_c();
  if (needs_c) {
    const auto sent = send_off(thread, *job, true);
    if (!sent) left_out(*job, sent.error().sentence());
    return sent.has_value();
  }
  keep(thread, std::move(*job));
  return false;
}

std::optional<BlasCheck::Job> BlasCheck::new_job(Thread& thread, const Entry& entry, const OpenCall& call) {
  auto gemm = read_gemm(thread, entry, call, state_of(*thread.inferior).objects);
  Job out{.sp = call.sp,
          .entry = call.entry,
          .process = thread.inferior->id,
          .function = entry.function,
          .name = entry.probe->symbol,
          .library = entry.library};
  std::string why;
  if (gemm) {
    out.gemm = std::move(*gemm);
    out.batch = out.gemm.product.batch;
    out.gemm.product.batch = batch_to_check(out.gemm.product);
    why = why_not_now(thread, out);
  } else {
    why = gemm.error().message;
  }
  if (why.empty()) return out;
  left_out(out, why);
  return std::nullopt;
}

std::string BlasCheck::why_not_now(const Thread& thread, const Job& job) {
  const std::uint64_t one = bytes_of_batch(job.gemm), batch = job.gemm.product.batch;
  if (one > rule_.most_bytes / batch) return fmt::format("its matrices have more bytes than most= allows");
  if (overlap(job.gemm)) return "its result overlaps its operands";
  if (auto allowed = thread.space().may_call(thread.tid); !allowed) return allowed.error().sentence();
  if (computing_.size() >= kMostRequests || computing_bytes_ + one * batch > kMostBytesComputing)
    return "earlier products are still being computed";
  if (!rate_.take(one * batch, clock_.now())) return "rate= allows no more bytes a second";
  return {};
}

// Calls that the thread has left otherwise are forgotten.
void BlasCheck::keep(const Thread& thread, Job job) {
  auto& jobs = jobs_[thread.id];
  std::erase_if(jobs, [&](const Job& one) { return one.sp <= job.sp; });
  if (jobs.size() < kMostJobs) jobs.push_back(std::move(job));
}

// ---------------------------------------------------------------- errands

// The stop is reaped first, so that no SIGTRAP meets the thread at an address that is not fade's if fade dies now.
Result<void> BlasCheck::send_off(Thread& thread, Job& job, bool at_entry) {
  const std::int64_t since = clock_.now();
  MatrixFetch fetch;
  blas::Product& p = job.gemm.product;
  if (at_entry) {
    job.c_shape = p.c;
    fetch.add(job.gemm.c, *job.c_shape, p.batch);
  } else {
    fetch.add(job.gemm.a, p.a, p.batch);
    fetch.add(job.gemm.b, p.b, p.batch);
    fetch.add(job.gemm.d, p.d, p.batch);
    if (p.uses_c() && !job.c_shape) fetch.add(job.gemm.c, p.c, p.batch);
  }
  const auto calls = ErrandCalls::find(*thread.inferior, job.library, job.gemm);
  if (!calls) return tl::unexpected(calls.error());
  const Tracee tracee(thread.tid);
  const auto errand = Errand::prepare(thread.space().call_in(thread.tid), fetch.bytes());
  if (!errand) return tl::unexpected(errand.error());
  const auto steps = fetch.steps(*errand, job.gemm, *calls);
  const auto here = tracee.registers();
  const OurCode our_code = thread.space().our_code();
  const auto own = here ? our_code.own_registers(*here) : std::nullopt;
  const auto again = here ? our_code.hit_again(*here) : std::nullopt;
  Tracer::reap_stop(thread.tid);
  if (!own || !again ||
      !errand->send(thread.memory(), thread.tid, *own, steps, calls->last_error, ticks_.of(kStreamPatience))) {
    errand->unmap(thread.space().call_in(thread.tid));
    return fail("the thread's stack or registers cannot be used");
  }
  thread.is_on_errand = true;
  thread.trap.passed = {};
  trips_.insert_or_assign(thread.id,
                          Trip{*errand, std::move(fetch), again->site, again->sp, at_entry, since, std::move(job)});
  return {};
}

void BlasCheck::cannot_depart() {
  if (const auto job = std::exchange(returned_, std::nullopt)) left_out(*job, "another call begins where it returns");
}

bool BlasCheck::meets(Thread& thread, RemoteAddr site, RemoteAddr sp) {
  const auto found = trips_.find(thread.id);
  if (found == trips_.end()) {
    thread.is_on_errand = false;
    return false;
  }
  Trip& trip = found->second;
  if (site != trip.site || sp != trip.sp) {
    if (sp < trip.sp) return true;  // a call of the errand
    left_out(trip.job, "the thread left before its matrices were fetched");
    thread.is_on_errand = false;
    trips_.erase(found);
    return false;
  }
  Trip back = std::move(trip);
  trips_.erase(found);
  thread.is_on_errand = false;
  const bool is_at_entry = back.is_at_entry;
  came_back(thread, back);
  return !is_at_entry;
}

void BlasCheck::came_back(Thread& thread, Trip& trip) {
  const auto outcome = trip.errand.outcome(thread.memory());
  std::string why = outcome ? trip.fetch.why_not(*outcome) : "its matrices could not be read";
  Job& job = trip.job;
  if (trip.is_at_entry) {
    job.is_fetched = true;
    if (why.empty()) {
      job.c.resize(trip.fetch.bytes());
      if (thread.memory().read(trip.errand.data(), job.c) < job.c.size()) why = "its matrices could not be read";
    }
    job.why_not = std::move(why);
    trip.errand.unmap(thread.space().call_in(thread.tid));
    job.held_ns = clock_.now() - trip.since;
    return keep(thread, std::move(job));
  }
  if (why.empty()) compute(thread, trip);
  else left_out(job, why);
  trip.errand.unmap(thread.space().call_in(thread.tid));
}

// ---------------------------------------------------------------- at the return

void BlasCheck::at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  if (entry.needs.gemm_parts && !(call.record.flags & kFailed)) {
    state_of(*thread.inferior).objects.learn(entry, call);
    return;
  }
  Job* const waiting = entry.needs.gemm ? waiting_job(thread, entry, call) : nullptr;
  if (!waiting) return;
  Job job = std::move(*waiting);
  auto& jobs = jobs_[thread.id];
  jobs.erase(jobs.begin() + (waiting - jobs.data()));
  if (call.record.flags & kFailed) job.why_not = "the call failed";
  if (!job.why_not.empty()) return left_out(job, job.why_not);
  const auto& choice = stacks_.policy().choice();
  if (call.record.stack == 0 && (choice.native || choice.python))
    call.record.stack = stacks_.at_return(thread, registers, call.return_address);
  job.seen.call = call.record.id;
  job.seen.function = entry.function;
  job.seen.thread = thread.id;
  job.seen.caller = call.record.caller;
  job.seen.stack = call.record.stack;
  job.seen.at = clock_.now();
  returned_ = std::move(job);
}

void BlasCheck::after_returns(Thread& thread) {
  if (!returned_) return;
  Job job = *std::exchange(returned_, std::nullopt);
  if (const auto sent = send_off(thread, job, false); !sent) left_out(job, sent.error().sentence());
}

// The bytes go straight from the program into a file in memory that the other process maps.
void BlasCheck::compute(const Thread& thread, Trip& trip) {
  Job& job = trip.job;
  blas::Product& p = job.gemm.product;
  const std::uint64_t fetched = trip.fetch.bytes(), size = fetched + job.c.size();
  const Fd file(::memfd_create("fade-check", MFD_CLOEXEC));
  void* const at = file && ::ftruncate(file.get(), static_cast<off_t>(size)) == 0
                       ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)
                       : MAP_FAILED;
  if (at == MAP_FAILED) return left_out(job, "fade had no memory for its matrices");
  const std::span<std::byte> into(static_cast<std::byte*>(at), size);
  const bool is_read = thread.memory().read(trip.errand.data(), into.first(fetched)) == fetched;
  std::ranges::copy(job.c, into.begin() + static_cast<std::ptrdiff_t>(fetched));
  ::munmap(at, size);
  if (!is_read) return left_out(job, "its matrices could not be read");
  blas::Request request{.id = ++last_request_,
                        .product = p,
                        .tolerance = rule_.tolerance(p.precise),
                        .a = trip.fetch.part(0),
                        .b = trip.fetch.part(1),
                        .d = trip.fetch.part(2),
                        .dump = rule_.dumps == 0 ? "" : fmt::format("{}.check-{}", recording_, job.seen.call.value()),
                        .function = job.name,
                        .call = job.seen.call.value(),
                        .pid = thread.inferior->pid.value(),
                        .tid = thread.tid.value()};
  if (job.c_shape) {
    request.product.c = *job.c_shape;
    request.c = {fetched, job.c.size()};
  } else if (p.uses_c()) {
    request.c = trip.fetch.part(3);
  }
  if (!helper_.send(request, file)) return left_out(job, "fade-check-blas did not take it");
  ProductChecked seen = job.seen;
  seen.held_ns = job.held_ns + clock_.now() - trip.since;
  seen.type = blas::name_of(p.d.type);
  seen.ops = p.ops();
  seen.m = p.m;
  seen.n = p.n;
  seen.k = p.k;
  seen.batch = job.batch;
  seen.checked = p.batch;
  seen.bytes = size;
  computing_bytes_ += size;
  computing_.emplace(request.id, std::move(seen));
}

// ---------------------------------------------------------------- answers

void BlasCheck::take_answers(std::chrono::milliseconds patience) {
  for (blas::Answer& answer : helper_.answers(patience)) {
    const auto found = computing_.find(answer.id);
    if (found == computing_.end()) continue;
    ProductChecked seen = std::move(found->second);
    computing_.erase(found);
    computing_bytes_ -= seen.bytes;
    seen.problem = std::move(answer.problem);
    seen.elements = answer.elements;
    seen.differing = answer.differing;
    if (answer.differing > 0) {
      seen.row = answer.first.row;
      seen.column = answer.first.column;
      seen.matrix = answer.first.matrix;
      seen.got = answer.first.got.real();
      seen.wanted = answer.first.wanted.real();
      seen.worst = answer.worst.by();
      seen.limit = answer.worst_limit;
    }
    seen.shown = std::move(answer.shown);
    seen.folder = std::move(answer.folder);
    seen.blas = std::move(answer.blas);
    if (!answer.dump_problem.empty()) log::error("--check blas: {}", answer.dump_problem);
    sink_.notice(std::move(seen));
  }
}

void BlasCheck::thread_ended(const Thread& thread, bool process_ended) {
  if (const auto trip = trips_.find(thread.id); trip != trips_.end()) {
    left_out(trip->second.job, "the thread ended before its matrices were fetched");
    trips_.erase(trip);
  }
  jobs_.erase(thread.id);
  if (process_ended) states_.erase(thread.inferior->id);
}

void BlasCheck::report(bool at_end) {
  if (!rule_.is_on) return;
  take_answers({});
  const std::int64_t until = clock_.now() + std::chrono::nanoseconds(kLastWait).count();
  while (at_end && !computing_.empty() && helper_.is_running() && clock_.now() < until)
    take_answers(std::chrono::milliseconds(100));
  if (at_end) {
    for (auto& [id, seen] : computing_) {
      seen.problem = "fade-check-blas has not answered";
      sink_.notice(std::move(seen));
    }
    computing_.clear();
    for (const auto& [thread, trip] : trips_) left_out(trip.job, "fade left before its matrices were fetched");
  }
  for (const auto& [key, calls] : std::exchange(left_, {})) {
    const auto& [process, function, reason] = key;
    sink_.notice(ProductsLeft{process, function, reason, calls});
  }
}

}  // namespace fade
