// A thread sleeps in each system call that a stop could end early, until the input ends. Prints those that returned
// before.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "tracee.h"

static atomic_int ending, ended;
static int never[2], semaphores, messages, file, listener, timed[2], timed_listener;
static pid_t child;
static const struct timespec hour = {3600, 0};

static long in_read(void) {
  char c;
  return read(never[0], &c, 1);
}
static long in_poll(void) { return poll(&(struct pollfd){never[0], POLLIN, 0}, 1, 3600000); }
static long in_poll_for_ever(void) { return poll(&(struct pollfd){never[0], POLLIN, 0}, 1, -1); }
static long in_ppoll(void) { return ppoll(&(struct pollfd){never[0], POLLIN, 0}, 1, &hour, NULL); }
static long in_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(never[0], &set);
  return select(never[0] + 1, &set, NULL, NULL, &(struct timeval){3600, 0});
}
static long in_epoll_wait(void) {
  struct epoll_event event;
  return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, 3600000);
}
static long in_epoll_pwait(void) {
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  return epoll_pwait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1, &none);
}
static long in_nanosleep(void) { return nanosleep(&hour, NULL); }
static long in_clock_nanosleep(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 3600;
  return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
static long in_pause(void) { return pause(); }
static long in_sigsuspend(void) {
  sigset_t none;
  sigemptyset(&none);
  return sigsuspend(&none);
}
static long in_sigtimedwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return sigtimedwait(&set, NULL, &hour);
}
static long in_futex(void) {
  static int word;
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static long in_futex_with_a_limit(void) {
  static int word;
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &hour, NULL, 0);
}
static long in_semop(void) { return syscall(SYS_semop, semaphores, &(struct sembuf){0, -1, 0}, 1); }
static long in_semtimedop(void) { return semtimedop(semaphores, &(struct sembuf){0, -1, 0}, 1, &hour); }
static long in_msgrcv(void) {
  struct {
    long type;
    char text[8];
  } message;
  return msgrcv(messages, &message, sizeof message.text, 0, 0);
}
static long in_accept(void) { return accept(listener, NULL, NULL); }
static long in_accept_with_a_limit(void) { return accept(timed_listener, NULL, NULL); }
static long in_recv_with_a_limit(void) {
  char c;
  return recv(timed[0], &c, 1, 0);
}
static long in_read_with_a_limit(void) {
  char c;
  return read(timed[1], &c, 1);
}
static long in_waitpid(void) { return waitpid(child, NULL, 0); }
static long in_flock(void) {
  const int mine = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);  // another open file: the lock is not shared
  return flock(mine, LOCK_EX);
}

static const struct sleep {
  const char* name;
  long (*body)(void);
} sleeps[] = {{"read", in_read},
              {"poll", in_poll},
              {"poll for ever", in_poll_for_ever},
              {"ppoll", in_ppoll},
              {"select", in_select},
              {"epoll_wait", in_epoll_wait},
              {"epoll_pwait", in_epoll_pwait},
              {"nanosleep", in_nanosleep},
              {"clock_nanosleep", in_clock_nanosleep},
              {"pause", in_pause},
              {"sigsuspend", in_sigsuspend},
              {"sigtimedwait", in_sigtimedwait},
              {"futex", in_futex},
              {"futex with a limit", in_futex_with_a_limit},
              {"semop", in_semop},
              {"semtimedop", in_semtimedop},
              {"msgrcv", in_msgrcv},
              {"accept", in_accept},
              {"accept with a limit", in_accept_with_a_limit},
              {"recv with a limit", in_recv_with_a_limit},
              {"read with a limit", in_read_with_a_limit},
              {"waitpid", in_waitpid},
              {"flock", in_flock}};
enum { most = sizeof sleeps / sizeof *sleeps };

static void* fall_asleep(void* arg) {
  const struct sleep* sleep = arg;
  const long result = sleep->body();
  if (!ending) {
    printf("%s returned %ld: %m\n", sleep->name, result);
    fflush(stdout);
  }
  ++ended;
  return NULL;
}

// Removes what would outlive us, however we end. The thread in waitpid waits for it.
static void start_janitor(void) {
  int ends[2];
  char c;
  MUST(!pipe(ends));
  if ((child = fork()) != 0) {
    close(ends[0]);
    return;
  }
  close(ends[1]);
  signal(SIGINT, SIG_IGN);
  while (read(ends[0], &c, 1) > 0) continue;
  semctl(semaphores, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, NULL);
  _exit(0);
}

static int make_listener(void) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_un nameless = {.sun_family = AF_UNIX};
  MUST(!bind(fd, (const struct sockaddr*)&nameless, sizeof nameless.sun_family) &&
       !listen(fd, 1));  // the kernel names it
  return fd;
}

static void limit(int fd) {
  MUST(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){3600, 0}, sizeof(struct timeval)));
}

static void on_wake(int signal) { (void)signal; }

int main(void) {
  pthread_t threads[most];
  char c;
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  messages = msgget(IPC_PRIVATE, 0600);
  MUST(semaphores >= 0 && messages >= 0 && !pipe(never) && !socketpair(AF_UNIX, SOCK_STREAM, 0, timed));
  start_janitor();
  file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  MUST(!flock(file, LOCK_EX));
  listener = make_listener();
  timed_listener = make_listener();
  limit(timed_listener);
  limit(timed[0]);
  limit(timed[1]);
  sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_wake}, NULL);
  some_calls(2);
  for (int i = 0; i < most; ++i) MUST(!pthread_create(&threads[i], NULL, fall_asleep, (void*)&sleeps[i]));
  printf("ready\n");
  fflush(stdout);
  while (read(STDIN_FILENO, &c, 1) > 0) some_calls(1);
  const int early = ended;
  ending = 1;
  while (ended < most) {  // a signal may come before the call that it is to end
    for (int i = 0; i < most; ++i) pthread_kill(threads[i], SIGUSR2);
    usleep(1000);
  }
  some_calls(1);
  printf("%d of %d returned early\n", early, (int)most);
}
