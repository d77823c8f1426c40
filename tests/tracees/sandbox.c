// Forbids itself mmap on pain of death, then calls HIP for the first time.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tracee.h"

int main(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  int count = 0;
  MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
  for (int i = 0; i < 3; ++i) HIP_OK(hipGetDeviceCount(&count));
  if (write(STDOUT_FILENO, "alive\n", 6) != 6) return 1;
  _exit(count == 2 ? 0 : 1);
}
