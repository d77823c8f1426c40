// fade-check-blas: computes products of matrices again. fade starts it as `serve`, with a socket as standard input.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "blas/dump.hpp"
#include "blas/service.hpp"

namespace {

using namespace fade;

constexpr const char* kUsage =
    "usage: fade-check-blas replay FOLDER\n"
    "       fade-check-blas --help | --version\n"
    "\n"
    "Computes a product again that fade-run --check blas has written to FOLDER.\n"
    "Prints the elements that differ.\n"
    "\n"
    "Status: 0 no element differs, 1 elements differ, 2 the folder cannot be read.\n";

int trouble(const Error& error) {
  fmt::print(stderr, "fade-check-blas: {}\n", error.text());
  return 2;
}

int replay(const std::string& folder) {
  const auto dump = blas::read_dump(folder);
  if (!dump) return trouble(dump.error());
  const blas::CpuBlas cpu;
  const auto found = blas::compare(dump->product, dump->matrices(), dump->tolerance, cpu);
  if (!found) return trouble(found.error());
  const blas::Product& p = dump->product;
  fmt::print("{} (call {}): {} {}, {} x {} x {}, batch {}, alpha {:g}, beta {:g}\n", dump->function, dump->call,
             blas::name_of(p.d.type), p.ops(), p.m, p.n, p.k, p.batch, p.alpha.real(), p.beta.real());
  fmt::print("{} of {} elements differ by more than {:g} + {:g} of the magnitude (computed with {})\n",
             found->differing, found->elements, dump->tolerance.absolute, dump->tolerance.relative, cpu.name());
  for (const blas::Difference& one : found->first) fmt::print("  {}\n", blas::shown(p, one));
  if (found->differing > found->first.size()) fmt::print("  ...\n  furthest: {}\n", blas::shown(p, found->worst));
  return found->differing == 0 ? 0 : 1;
}

int serve(std::string_view dumps) {
  std::uint64_t most = 0;
  std::from_chars(dumps.data(), dumps.data() + dumps.size(), most);
  blas::Service(most).run(STDIN_FILENO);
  return 0;
}

int say(std::string_view text) {
  fmt::print("{}", text);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version") return say(fmt::format("fade-check-blas {}\n", FADE_VERSION));
  if (word == "--help" || word == "-h") return say(kUsage);
  if (word == "replay" && argc == 3) return replay(argv[2]);
  if (word == "serve" && argc == 3) return serve(argv[2]);
  fmt::print(stderr, "{}", kUsage);
  return 2;
}
