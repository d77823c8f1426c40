// A function that nobody returns from: where a return address would stand its caller has put a pointer to data.
#include <stdio.h>

__asm__(
    "        .text\n"
    "        .balign 16\n"
    "        .globl odd\n"
    "        .type odd, @function\n"
    "odd:    xor %eax, %eax\n"
    "        add $8, %rsp\n"
    "        jmp *%rdx\n"
    "        .size odd, . - odd\n"
    "        .type call_odd, @function\n"
    "call_odd:\n"
    "        sub $8, %rsp\n"
    "        lea 1f(%rip), %rdx\n"
    "        push %rdi\n"
    "        jmp odd\n"
    "1:      add $8, %rsp\n"
    "        ret\n"
    "        .size call_odd, . - call_odd\n");
void call_odd(void* data);

int main(void) {
  static unsigned char in_data[4] = {0x90, 0x90, 0x90, 0x90};
  unsigned char on_stack[4] = {0x90, 0x90, 0x90, 0x90};
  for (int i = 0; i < 3; ++i) {
    call_odd(on_stack);
    call_odd(in_data);
  }
  printf("%02x %02x\n", on_stack[0], in_data[0]);
}
