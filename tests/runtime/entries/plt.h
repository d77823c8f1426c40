// Entries that are one indirect jump.
  .section .note.GNU-stack,"",@progbits
  .text

.macro entry name
  .pushsection .data.rel.ro.slots,"aw",@progbits
  .hidden standin_\name
slot_\name:
  .quad standin_\name
  .popsection
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  jmp *slot_\name(%rip)
  .cfi_endproc
  .size \name, . - \name
.endm
