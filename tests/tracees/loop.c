// loop [ROUNDS]: plain calls from one thread.
#include "tracee.h"

int main(int argc, char** argv) {
  some_calls(number(argc, argv, 1, 100));
  printf("done\n");
}
