// The exports of the stand-in HSA, in the form of AMD's: each loads the address of a table and jumps through it. AMD's
// libraries since 6.1 have an endbr64 in front. BARE: without it, and without the functions that 5.2.3 lacks.

  .macro thunk name, offset, is_bool_on_stack = 0
  .text
  .globl \name
  .type \name, @function
  .balign 16
\name:
#ifndef BARE
  endbr64
#endif
  .if \is_bool_on_stack
  movzbl 0x20(%rsp), %eax
  mov %eax, 0x20(%rsp)
  .endif
  mov table_at(%rip), %rax
  jmp *\offset(%rax)
  .size \name, . - \name
  .section .data.rel.local
  .org table - standin_table_begin + \offset
  .quad standin_body_of_\name
  .endm

  .section .data.rel.local
  .balign 8
standin_table_begin:
table_at:
  .quad table
table:

  thunk hsa_system_get_info, 0x20
  thunk hsa_amd_profiling_get_dispatch_time, 0x30
  thunk hsa_amd_profiling_get_async_copy_time, 0x38
  thunk hsa_queue_create, 0x40
  thunk hsa_amd_profiling_set_profiler_enabled, 0x48
  thunk hsa_amd_profiling_async_copy_enable, 0x50
  thunk hsa_signal_store_screlease, 0x58
  thunk hsa_queue_destroy, 0x60
  thunk hsa_amd_memory_async_copy, 0x88
#ifndef BARE
  thunk hsa_amd_memory_async_copy_on_engine, 0x90, 1
#endif
  thunk hsa_queue_add_write_index_screlease, 0xd0
  thunk hsa_executable_get_symbol_by_name, 0x2f0
  thunk hsa_executable_symbol_get_info, 0x2f8

  .text
  .balign 16
  .section .note.GNU-stack, "", @progbits
