// Entries of ROCm 6 and later: save the argument registers, fetch the dispatch table, jump through the function's slot.
  .section .note.GNU-stack,"",@progbits
  .section .data.rel.ro.dispatch,"aw",@progbits
dispatch_table:
  .quad 0
  .set slot, 8
  .text
get_dispatch_table:
  endbr64
  lea dispatch_table(%rip), %rax
  ret

.macro entry name
  .pushsection .data.rel.ro.dispatch,"aw",@progbits
  .hidden standin_\name
  .quad standin_\name
  .popsection
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  endbr64
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdx
  .cfi_adjust_cfa_offset 8
  push %rcx
  .cfi_adjust_cfa_offset 8
  push %r8
  .cfi_adjust_cfa_offset 8
  push %r9
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call get_dispatch_table
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %r9
  .cfi_adjust_cfa_offset -8
  pop %r8
  .cfi_adjust_cfa_offset -8
  pop %rcx
  .cfi_adjust_cfa_offset -8
  pop %rdx
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  jmp *slot(%rax)
  .cfi_endproc
  .size \name, . - \name
  .set slot, slot + 8
.endm
