// decoy_user LIBRARY: loads a file that is called libamdhip64.so and is not the runtime.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  int (*answer)(void) = handle ? (int (*)(void))dlsym(handle, "decoy_answer") : NULL;
  printf("answer %d\n", answer ? answer() : -1);
}
