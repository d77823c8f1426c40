// sigtrap_waited HOW FROM: a SIGTRAP that is blocked, and taken without a handler. HOW: signalfd, poll (a signalfd that
// is polled), wait (sigtimedwait(2) with nothing to wait for), sleep (sigwaitinfo(2) in another thread while it comes),
// pending (sigpending(2)), epoll. FROM: raise, kill, queue (to itself), child (another process sends it).
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "tracee.h"

static sigset_t traps;

static void say(const siginfo_t* info, pid_t sender) {
  printf("signal %d, code %d, from %s, value %d\n", info->si_signo, info->si_code,
         info->si_pid == sender ? "the sender" : "somebody", info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
}

static void in_signalfd(int fd, pid_t sender) {
  struct signalfd_siginfo told = {0};
  const ssize_t got = read(fd, &told, sizeof told);
  if (got != sizeof told) {
    printf("read: %zd %m\n", got);
    return;
  }
  siginfo_t info = {.si_signo = (int)told.ssi_signo, .si_code = told.ssi_code};
  info.si_pid = (pid_t)told.ssi_pid;
  if (info.si_code == SI_QUEUE) info.si_value.sival_int = told.ssi_int;
  say(&info, sender);
}

static pid_t from_child(pid_t to, int when) {
  const pid_t child = fork();
  if (!child) {
    char c;
    if (read(when, &c, 1) != 1) _exit(1);
    usleep(20000);  // it may sleep by then, or not
    _exit(kill(to, SIGTRAP) != 0);
  }
  return child;
}

static pid_t sleeper_tid;

static void until_it_sleeps(void) {
  char path[64], line[64] = "";
  while (strncmp(line, "128 ", 4)) {  // rt_sigtimedwait
    FILE* file = NULL;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", *(volatile pid_t*)&sleeper_tid);
    if (sleeper_tid && (file = fopen(path, "r")) && !fgets(line, sizeof line, file)) line[0] = 0;
    if (file) fclose(file);
    usleep(1000);
  }
}

static void* sleeper(void* unused) {
  siginfo_t info;
  (void)unused;
  sleeper_tid = gettid();
  const int got = sigwaitinfo(&traps, &info);
  printf("waited: %d\n", got);
  return NULL;
}

int main(int argc, char** argv) {
  const char *how = argc > 1 ? argv[1] : "signalfd", *from = argc > 2 ? argv[2] : "raise";
  const int sleeps = !strcmp(how, "sleep"), by_child = !strcmp(from, "child");
  int go[2], status = 0;
  pid_t sender = getpid();
  pthread_t thread;
  some_calls(2);
  sigemptyset(&traps);
  sigaddset(&traps, SIGTRAP);
  MUST(!pthread_sigmask(SIG_BLOCK, &traps, NULL) && !pipe(go));
  const int fd = signalfd(-1, &traps, by_child ? 0 : SFD_NONBLOCK);
  if (by_child) sender = from_child(getpid(), go[0]);
  if (sleeps) MUST(!pthread_create(&thread, NULL, sleeper, NULL));
  some_calls(2);
  if (sleeps) until_it_sleeps();
  if (by_child) MUST(write(go[1], "", 1) == 1);
  if (!strcmp(from, "raise")) raise(SIGTRAP);
  if (!strcmp(from, "kill")) kill(getpid(), SIGTRAP);
  if (!strcmp(from, "queue")) sigqueue(getpid(), SIGTRAP, (union sigval){.sival_int = 42});
  if (!strcmp(how, "pending")) {
    sigset_t now;
    MUST(!sigpending(&now));
    printf("pending %d\n", sigismember(&now, SIGTRAP));
  }
  if (!strcmp(how, "poll")) printf("poll %d\n", poll(&(struct pollfd){fd, POLLIN, 0}, 1, 30000));
  if (!strcmp(how, "epoll")) {
    struct epoll_event event = {.events = EPOLLIN};
    const int set = epoll_create1(0);
    MUST(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
    printf("epoll %d\n", epoll_wait(set, &event, 1, 30000));
  }
  if (!strcmp(how, "wait")) {
    siginfo_t info = {0};
    const struct timespec now = {by_child ? 30 : 0, 0};
    const int got = sigtimedwait(&traps, &info, &now);
    if (got > 0) say(&info, sender);
    else printf("sigtimedwait: %m\n");
  } else if (sleeps) {
    MUST(!pthread_join(thread, NULL));
  } else {
    in_signalfd(fd, sender);
  }
  if (by_child) MUST(waitpid(sender, &status, 0) == sender && status == 0);
  struct sigaction action;
  MUST(!sigaction(SIGTRAP, NULL, &action));
  sigset_t mask;
  MUST(!pthread_sigmask(SIG_BLOCK, NULL, &mask));
  printf("%s, %s\n", sigismember(&mask, SIGTRAP) ? "blocked" : "not blocked",
         action.sa_handler == SIG_DFL ? "default" : "handled");
  some_calls(2);
  if (argc > 3) {  // what is left goes its natural way
    raise(SIGTRAP);
    MUST(!pthread_sigmask(SIG_UNBLOCK, &traps, NULL));
  }
}
