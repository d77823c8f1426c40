// Loads a library and leaves it loaded: opens LIBRARY
#include <dlfcn.h>

#include "tracee.h"

int main(int argc, char** argv) { return argc > 1 && dlopen(argv[1], RTLD_NOW) ? 0 : 1; }
