// Functions that jump into each other instead of calling: tail_calls [LOOPS]. Each prints what it gave.
//   tail_first -> tail_second -> tail_third    a chain: x + 3
//   tail_ping <-> tail_pong                    a loop of x jumps: 7
//   tail_self -> tail_self                     x jumps into itself: 9
//   tail_deep                                  calls itself x times, and from the last one jumps into tail_third
#include "tracee.h"

__asm__(
    "        .text\n"
    "        .macro function name\n"
    "        .balign 16\n"
    "        .globl \\name\n"
    "        .type \\name, @function\n"
    "\\name:\n"
    "        .endm\n"
    "function tail_first\n"
    "        lea 1(%rdi), %edi\n"
    "        jmp tail_second\n"
    "        .size tail_first, . - tail_first\n"
    "function tail_second\n"
    "        jmp tail_third\n"
    "        .size tail_second, . - tail_second\n"
    "function tail_third\n"
    "        lea 2(%rdi), %eax\n"
    "        ret\n"
    "        .size tail_third, . - tail_third\n"
    "function tail_ping\n"
    "        mov $7, %eax\n"
    "        dec %edi\n"
    "        jns tail_pong\n"
    "        ret\n"
    "        .size tail_ping, . - tail_ping\n"
    "function tail_pong\n"
    "        mov $7, %eax\n"
    "        dec %edi\n"
    "        jns tail_ping\n"
    "        ret\n"
    "        .size tail_pong, . - tail_pong\n"
    "function tail_self\n"
    "        mov $9, %eax\n"
    "        dec %edi\n"
    "        jns tail_self\n"
    "        ret\n"
    "        .size tail_self, . - tail_self\n"
    "function tail_deep\n"
    "        test %edi, %edi\n"
    "        jz tail_third\n"
    "        sub $8, %rsp\n"
    "        dec %edi\n"
    "        call tail_deep\n"
    "        inc %eax\n"
    "        add $8, %rsp\n"
    "        ret\n"
    "        .size tail_deep, . - tail_deep\n");
int tail_first(int), tail_third(int), tail_ping(int), tail_self(int), tail_deep(int);

int main(int argc, char** argv) {
  const int loops = number(argc, argv, 1, 1000);
  for (int i = 0; i < 10; ++i) MUST(tail_first(i) == i + 3);
  MUST(tail_third(0) == 2);
  MUST(tail_ping(loops) == 7);
  MUST(tail_self(loops) == 9);
  MUST(tail_deep(5) == 7);
  printf("jumped\n");
}
