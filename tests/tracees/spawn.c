// posix_spawn, system and popen of programs with and without HIP.
#include <spawn.h>
#include <sys/wait.h>

#include "tracee.h"

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 1) {
    some_calls(number(argc, argv, 1, 1));
    return 6;
  }
  char* arguments[] = {argv[0], "3", NULL};
  char command[4096], line[64] = "";
  pid_t pid;
  int status = 0;
  some_calls(1);
  MUST(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
  MUST(waitpid(pid, &status, 0) == pid);
  printf("spawned %d\n", WEXITSTATUS(status));
  fflush(stdout);
  snprintf(command, sizeof command, "'%s' 2; exit $((1 + $?))", argv[0]);
  printf("system %d\n", WEXITSTATUS(system(command)));
  FILE* pipe = popen("echo through a pipe", "r");
  MUST(pipe && fgets(line, sizeof line, pipe));
  printf("%s", line);
  printf("closed %d\n", pclose(pipe));
  some_calls(1);
}
