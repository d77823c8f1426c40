// A seccomp filter for one system call.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracee.h"

// flags: SECCOMP_FILTER_FLAG_TSYNC for all threads, 0 for this one and those it makes.
static inline void answer_with(unsigned number, unsigned flags, unsigned answer) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  MUST(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter));
}

static inline void forbid(unsigned number, unsigned flags) { answer_with(number, flags, SECCOMP_RET_KILL_PROCESS); }
