// Calls HIP and prints its user ids: run from a set-uid copy.
#include "tracee.h"

int main(void) {
  some_calls(2);
  printf("uid %d euid %d secure %d\n", (int)getuid(), (int)geteuid(), secure_getenv("HOME") == NULL);
}
