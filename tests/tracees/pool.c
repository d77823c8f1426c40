// A program with an allocator of its own: pool [LEAKS]. Takes and gives back a piece, lends one to the device, and
// keeps LEAKS pieces to its end. The allocator's memory is its own, so the runtime sees nothing of it.
#include "tracee.h"

__attribute__((noinline, visibility("default"))) int pool_take(void** piece, size_t bytes) {
  *piece = malloc(bytes);
  return *piece == NULL;
}

__attribute__((noinline, visibility("default"))) int pool_give(void* piece) {
  free(piece);
  return 0;
}

// The same address twice, under names of two sorts.
__attribute__((noinline, visibility("default"))) int pool_lend(void* piece, size_t bytes) {
  return piece == NULL || bytes == 0;
}

__attribute__((noinline, visibility("default"))) int pool_take_back(void* piece) { return piece == NULL; }

int main(int argc, char** argv) {
  const int leaks = number(argc, argv, 1, 0);
  void *piece = NULL, *kept = NULL;
  int failed = pool_take(&piece, 4096);
  failed += pool_lend(piece, 4096) + pool_take_back(piece) + pool_give(piece);
  for (int i = 0; i < leaks; ++i) failed += pool_take(&kept, 1 << 20);
  printf("%d failed\n", failed);
  return failed;
}
