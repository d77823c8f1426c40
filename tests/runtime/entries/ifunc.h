// Exported names are indirect functions: the dynamic linker calls the resolver below and binds callers to the body.
  .section .note.GNU-stack,"",@progbits
  .text

.macro entry name
  .hidden standin_\name
  .globl \name
  .type \name, @gnu_indirect_function
  .p2align 4
\name:
  .cfi_startproc
  endbr64
  lea standin_\name(%rip), %rax
  ret
  .cfi_endproc
  .size \name, . - \name
.endm
