// Entries whose first instruction cannot simply be copied elsewhere; functions follow each other without padding. Style
// after style is dealt out to the exported names, so every test of a call also tests one of them.
  .section .note.GNU-stack,"",@progbits
  .data
  .p2align 4
scratch:
  .quad 0, 0
zero:
  .long 0
  .section .data.rel.ro.helpers,"aw",@progbits
helper_slot:
  .quad helper
  .text
helper:
  ret
  .set style, 0

.macro entry name
  .pushsection .data.rel.ro.slots,"aw",@progbits
  .hidden standin_\name
slot_\name:
  .quad standin_\name
  .popsection
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
.if style == 0
  mov slot_\name(%rip), %rax
  jmp *%rax
.elseif style == 1
  lea standin_\name(%rip), %rax
  jmp *%rax
.elseif style == 2
  cmpl $0, zero(%rip)
  je standin_\name
  ud2
.elseif style == 3
  jmp 1f
  .fill 70, 1, 0xcc
1: jmp standin_\name
.elseif style == 4
  jmp standin_\name
.elseif style == 5
  jne standin_\name
  jmp standin_\name
.elseif style == 6
  call 1f
1: .cfi_adjust_cfa_offset 8
  pop %rax
  .cfi_adjust_cfa_offset -8
  lea standin_\name - 1b(%rax), %rax
  jmp *%rax
.elseif style == 7
  call *helper_slot(%rip)
  jmp standin_\name
.elseif style == 8
  jrcxz 1f
  jmp standin_\name
1: jmp standin_\name
.elseif style == 9
  loop 1f
1: lea 1(%rcx), %rcx
  jmp standin_\name
.elseif style == 10
  endbr64
  push %rbp
  .cfi_adjust_cfa_offset 8
  mov %rsp, %rbp
  pop %rbp
  .cfi_adjust_cfa_offset -8
  jmp standin_\name
.elseif style == 11
  push %rbp
  .cfi_adjust_cfa_offset 8
  mov %rsp, %rbp
  pop %rbp
  .cfi_adjust_cfa_offset -8
  jmp standin_\name
.elseif style == 12
  nop
  jmp standin_\name
.elseif style == 13
  endbr64
  notrack jmp *slot_\name(%rip)
.elseif style == 14
  call helper
  jmp standin_\name
.elseif style == 15
  movups scratch(%rip), %xmm15
  jmp standin_\name
.elseif style == 16
  movl $7, scratch(%rip)
  jmp standin_\name
.elseif style == 17
  lock incq scratch(%rip)
  jmp standin_\name
.elseif style == 18
  mov %fs:0, %rax
  jmp standin_\name
.elseif style == 19
  xchg %ax, %ax
  jmp standin_\name
.elseif style == 20
  pushq slot_\name(%rip)
  ret
.elseif style == 21
  jmp *slot_\name(%rip)
.elseif style == 22
  bnd jmp standin_\name
.elseif style == 23
  jecxz 1f
  jmp standin_\name
1: jmp standin_\name
.endif
  .cfi_endproc
  .size \name, . - \name
  .set style, (style + 1) % 24
.endm
