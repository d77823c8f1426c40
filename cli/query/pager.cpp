#include "cli/query/pager.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace fade::query {
namespace {

bool is_in(std::string_view folders, const std::string& name) {
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    if (::access((std::string(folder) + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// A first word with a shell's own signs in it is left to the shell.
bool can_run(const std::string& command, const char* path) {
  const std::string program = command.substr(0, command.find(' '));
  if (program.find_first_of("$`'\"\\(){}|&;<>=~*?") != program.npos) return true;
  return program.find('/') != program.npos ? ::access(program.c_str(), X_OK) == 0
                                           : is_in(path ? path : "/usr/bin:/bin", program);
}

[[noreturn]] void become_pager(const std::string& command, int input) {
  ::signal(SIGPIPE, SIG_DFL);
  ::setenv("LESS", "FRX",
           0);  // quit if one screen, colours, leave the page on the screen: unless the user says otherwise
  if (input != STDIN_FILENO) ::dup2(input, STDIN_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

std::string pager_command(const char* (*environment)(const char*)) {
  std::string command = "less";
  for (const char* name : {"PAGER", "FADE_PAGER"})
    if (const char* value = environment(name)) command = value;
  return command.empty() || command == "cat" || !can_run(command, environment("PATH")) ? std::string() : command;
}

Pager::~Pager() { (void)finish(); }

Result<void> Pager::write(std::string_view text) {
  if (pipe_) return pass_on(text);
  held_ += text;
  lines_ += static_cast<unsigned>(std::ranges::count(text, '\n'));
  if (tried_) return write_held();
  return lines_ >= rows_ ? start() : Result<void>{};  // the last row of the terminal is for the prompt
}

Result<void> Pager::start() {
  tried_ = true;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return write_held();
  const Fd input(ends[0]);
  Fd output(ends[1]);
  child_ = ::fork();
  if (child_ == 0) become_pager(command_, input.get());
  if (child_ < 0) return write_held();
  ::signal(SIGINT, SIG_IGN);  // it is for the pager; ending here would leave the terminal to two readers
  pipe_ = std::move(output);
  const std::string text = std::exchange(held_, {});
  return pass_on(text);
}

Result<void> Pager::pass_on(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(pipe_.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot write to the pager");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> Pager::write_held() {
  if (auto done = terminal_.write(std::exchange(held_, {})); !done) return done;
  return terminal_.flush();
}

Result<void> Pager::finish() {
  if (!pipe_) return write_held();
  pipe_ = Fd();
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  ::signal(SIGINT, SIG_DFL);
  return {};
}

}  // namespace fade::query
