// Functions of the "hard" variant that end within a few bytes, or whose result shows whether their first instruction
// did what it says. None counts itself: callers use fade_standin_add(). tests/tracees/hard_entries.c knows what each
// must return.
  .section .note.GNU-stack,"",@progbits
  .data
  .p2align 3
stored: .long 0
five: .byte 5
  .section .data.rel.ro.special,"aw",@progbits
whence_slot: .quad whence
seven_slot: .quad seven
  .text

.macro special name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
.endm
.macro finish name
  .cfi_endproc
  .size \name, . - \name
.endm

whence:
  mov (%rsp), %rax
  ret
seven:
  mov $7, %eax
  ret

special hipProfilerStop  // one byte
  ret
finish hipProfilerStop

special hipProfilerStart  // three bytes
  xor %eax, %eax
  ret
finish hipProfilerStart

special hipCtxGetFlags  // jc rel8: the caller's carry
  jc 1f
  xor %eax, %eax
  ret
1: mov $1, %eax
  ret
finish hipCtxGetFlags

special hipCtxGetCacheConfig  // jc rel32
  .byte 0x0f, 0x82
  .long 1f - . - 4
  xor %eax, %eax
  ret
1: mov $1, %eax
  ret
finish hipCtxGetCacheConfig

special hipCtxSetCacheConfig  // jrcxz: 1 where rcx is 0
  jrcxz 1f
  xor %eax, %eax
  ret
1: mov $1, %eax
  ret
finish hipCtxSetCacheConfig

special hipCtxSetSharedMemConfig  // jecxz looks at the low half only
  jecxz 1f
  xor %eax, %eax
  ret
1: mov $1, %eax
  ret
finish hipCtxSetSharedMemConfig

special hipCtxGetSharedMemConfig  // loop: rcx - 1, and 100 more where the branch is taken
  loop 1f
  lea (%rcx), %eax
  ret
1: lea 100(%rcx), %eax
  ret
finish hipCtxGetSharedMemConfig

special hipCtxDisablePeerAccess  // loope
  loope 1f
  lea (%rcx), %eax
  ret
1: lea 100(%rcx), %eax
  ret
finish hipCtxDisablePeerAccess

special hipCtxEnablePeerAccess  // loopne
  loopne 1f
  lea (%rcx), %eax
  ret
1: lea 100(%rcx), %eax
  ret
finish hipCtxEnablePeerAccess

special hipCtxSynchronize  // call to the next instruction: 0 where the pushed address is the real one
  call 1f
1: .cfi_adjust_cfa_offset 8
  pop %rax
  .cfi_adjust_cfa_offset -8
  lea 1b(%rip), %rdx
  sub %rdx, %rax
  ret
finish hipCtxSynchronize

special hipCtxGetDevice  // call rel32: 0 where the callee saw the real return address
  call whence
1: lea 1b(%rip), %rdx
  sub %rdx, %rax
  ret
finish hipCtxGetDevice

special hipCtxGetCurrent  // call through memory
  call *whence_slot(%rip)
1: lea 1b(%rip), %rdx
  sub %rdx, %rax
  ret
finish hipCtxGetCurrent

special hipCtxPopCurrent  // an immediate behind the RIP-relative displacement: 1
  cmpb $5, five(%rip)
  mov $0, %eax
  sete %al
  ret
finish hipCtxPopCurrent

special hipCtxPushCurrent  // a RIP-relative store: 9
  movl $9, stored(%rip)
  mov stored(%rip), %eax
  ret
finish hipCtxPushCurrent

special hipCtxSetCurrent  // jmp rel8: 3
  jmp 1f
  .fill 90, 1, 0xcc
1: mov $3, %eax
  ret
finish hipCtxSetCurrent

special hipCtxDestroy  // jmp through memory: 7
  jmp *seven_slot(%rip)
finish hipCtxDestroy

special hipDeviceReset  // thread-local base: 0
  mov %fs:0, %rax
  sub %fs:0, %rax
  ret
finish hipDeviceReset

special hipDeviceSetCacheConfig  // lea: 0
  lea 1f(%rip), %rax
1: lea 1b(%rip), %rdx
  sub %rdx, %rax
  ret
finish hipDeviceSetCacheConfig
