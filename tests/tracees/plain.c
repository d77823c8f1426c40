// No HIP at all: built for 64 and 32 bits and statically. Prints who it is.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  printf("plain %zu-bit, %d arguments, uid %d euid %d\n", sizeof(void*) * 8, argc - 1, (int)getuid(), (int)geteuid());
  return argc > 1 && argv[1][0] == '7' ? 7 : 0;
}
