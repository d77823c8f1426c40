#include "faded/options.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "ipc/client.hpp"

namespace fade::service {
namespace {

constexpr unsigned kModes = 0777;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The folder from systemd, else the usual folder for such data.
std::string usual_state_dir() {
  if (const std::string given = variable("STATE_DIRECTORY"); !given.empty()) return given.substr(0, given.find(':'));
  if (::geteuid() == 0) return "/var/lib/fade";
  if (const std::string home = variable("XDG_STATE_HOME"); home.starts_with('/')) return home + "/fade";
  return variable("HOME") + "/.local/state/fade";
}

// A program beside the worker, which is beside this program as in an installation elsewhere, else where packages put
// it.
std::string program_beside(const std::filesystem::path& folder, const std::string& name) {
  std::error_code failure;
  for (const auto& place : {folder / name, folder / "../query" / name})  // the second is that of a build
    if (std::filesystem::exists(place, failure)) return place.string();
  return "/usr/bin/" + name;
}

std::string usual_worker() {
  std::error_code failure;
  return program_beside(std::filesystem::read_symlink("/proc/self/exe", failure).parent_path(), "fade-attach");
}

Result<unsigned> user_id(const std::string& word) {
  unsigned uid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), uid);
  if (error == std::errc{} && end == word.data() + word.size()) return uid;
  if (const passwd* user = ::getpwnam(word.c_str())) return user->pw_uid;
  return fail(fmt::format("--allow-uid: there is no user '{}'", word));
}

Result<void> make_absolute(std::string& path) {
  std::error_code failure;
  path = std::filesystem::absolute(path, failure).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return failure ? fail("cannot use the path " + path, failure.message()) : Result<void>{};
}

// Paths are made absolute: the daemon may run in another folder.
Result<std::vector<std::string>> push_words(Settings& s) {
  if (s.push.empty()) return std::vector<std::string>{};
  if (s.push.find('@') != s.push.npos)
    return fail("--push: the address has a user or a password in it", "all users can read command lines",
                "--push-user NAME --push-password-file FILE", EINVAL);
  std::vector<std::string> out{program_beside(std::filesystem::path(s.worker).parent_path(), "fade-query"), "push",
                               s.push};
  if (!s.push_user.empty()) out.insert(out.end(), {"--user", s.push_user});
  for (auto& [option, path] : {std::pair{"--password-file", &s.push_password_file}, {"--ca", &s.push_ca}}) {
    if (path->empty()) continue;
    if (auto made = make_absolute(*path); !made) return tl::unexpected(made.error());
    out.insert(out.end(), {option, *path});
  }
  return out;
}

Result<void> read_mode(std::string_view option, const std::string& text, unsigned& mode) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error == std::errc{} && end == text.data() + text.size() && mode <= kModes) return {};
  return fail(fmt::format("{}: '{}' are no permissions", option, text), {}, "write them like 0660");
}

}  // namespace

const cli::Program& program() {
  static const cli::Program kProgram{
      .name = "faded",
      .section = "daemon",
      .environment = "FADED_OPTIONS",
      .usage = "[OPTIONS]",
      .about = "Record running programs for those who ask with fadectl; each session in a process of its own.",
      .examples = {{"systemctl enable --now faded.socket", "the daemon of this machine, started when it is needed"},
                   {"systemctl --user enable --now faded.socket", "your own, for your own programs"},
                   {"faded --socket /tmp/f.sock --state-dir /tmp/f", "without systemd"}}};
  return kProgram;
}

std::vector<cli::Option> rows(Settings& s) {
  using namespace cli;
  const std::string_view where = "Places", metrics = "Metrics", limits = "Limits", push = "ClickHouse";
  constexpr std::int64_t kMost = 10'000;
  return {
      {where, "--socket", "PATH",
       "listen here, where systemd does not hand over a socket [/run/fade/faded.sock, or in XDG_RUNTIME_DIR]",
       Text{&s.socket}, Shown::Help, Completes::File},
      {where, "--socket-mode", "MODE", "permissions of that socket, octal [0600]", Text{&s.socket_mode}},
      {where, "--state-dir", "DIR", "keep sessions and recordings here [/var/lib/fade, or ~/.local/state/fade]",
       Text{&s.state_dir}, Shown::Help, Completes::Directory},
      {where, "--worker", "PROGRAM", "what does the tracing [fade-attach beside this program]", Text{&s.worker},
       Shown::HelpAll, Completes::File},
      {metrics, "--metrics-listen", "ADDRESS",
       "offer metrics (OpenMetrics, for Prometheus) here: 127.0.0.1:PORT, or the path of a Unix socket",
       Text{&s.metrics_listen}, Shown::Help},
      {metrics, "--metrics-mode", "MODE", "permissions of that Unix socket, octal [0600]", Text{&s.metrics_mode}},
      {push, "--push", "URL", "send each recording to this ClickHouse server while it is made (fade-query push)",
       Text{&s.push}, Shown::Help},
      {push, "--push-user", "NAME", "on that server [CLICKHOUSE_USER]", Text{&s.push_user}},
      {push, "--push-password-file", "FILE", "its first line is the password [CLICKHOUSE_PASSWORD]",
       Text{&s.push_password_file}, Shown::HelpAll, Completes::File},
      {push, "--push-ca", "FILE", "authorities that may sign the server's certificate [those of the system]",
       Text{&s.push_ca}, Shown::HelpAll, Completes::File},
      {limits, "--max-sessions", "N", "that run at once [64]", Number{&s.most_sessions, 1, kMost}, Shown::Help},
      {limits, "--max-sessions-per-user", "N", "of them of one user [16]", Number{&s.most_sessions_per_user, 1, kMost},
       Shown::Help},
      {limits, "--allow-uid", "LIST", "serve only these users, and root: names or numbers [whoever can connect]",
       List{&s.allowed_users}, Shown::Help},
      {"Checks", "--check-config", "", "read the options and end", Flag{&s.check_config}},
  };
}

Result<void> finish(Settings& s) {
  if (s.socket.empty()) s.socket = ipc::own_socket_path();
  if (s.state_dir.empty()) s.state_dir = usual_state_dir();
  if (s.worker.empty()) s.worker = usual_worker();
  for (std::string* path : {&s.socket, &s.state_dir, &s.worker})
    if (auto made = make_absolute(*path); !made) return made;
  if (auto read = read_mode("--socket-mode", s.socket_mode, s.mode); !read) return read;
  if (auto read = read_mode("--metrics-mode", s.metrics_mode, s.mode_of_metrics); !read) return read;
  if (!s.metrics_listen.empty()) {
    auto address = metrics_address(s.metrics_listen);
    if (!address) return tl::unexpected(address.error());
    s.metrics = std::move(*address);
  }
  auto words = push_words(s);
  if (!words) return tl::unexpected(words.error());
  s.push_words = std::move(*words);
  for (const std::string& word : s.allowed_users) {
    const auto uid = user_id(word);
    if (!uid) return tl::unexpected(uid.error());
    s.allowed_uids.push_back(*uid);
  }
  return {};
}

}  // namespace fade::service
