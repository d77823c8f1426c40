# The code of an errand (errand.hpp): a thread makes a list of calls and goes back, all by itself. It is copied into the
# program, position independent. Offsets must agree with ErrandPlan and ErrandStep.

        .set STATE,           0         # ErrandPlan
        .set COUNT,           8
        .set DONE_STEPS,      16
        .set AT_END,          24
        .set PATIENCE,        32        # ticks of the TSC
        .set STEPS,           128
        .set ARGUMENTS,       8         # ErrandStep
        .set BEHIND_POINTERS, 56
        .set MUST_BE_ZERO,    64
        .set RESULT,          72
        .set AGAIN_ON,        80
        .set STEP_SIZE,       88
        .set RUNS,            1
        .set SUCCEEDED,       2
        .set FAILED,          3
        .set SYS_rt_sigreturn, 15

        .section .rodata
        .globl fade_errand_code, fade_errand_code_end
        .balign 16
fade_errand_code:                       # (rdi plan); rsp is at a ReturnFrame
        sub     $8, %rsp
        mov     %rdi, %rbx
        movq    $RUNS, STATE(%rbx)
        lea     STEPS(%rbx), %r12
        mov     COUNT(%rbx), %r13
        rdtsc
        shl     $32, %rdx
        lea     (%rax,%rdx), %r14       # the end of patience
        add     PATIENCE(%rbx), %r14
.Lnext:
        test    %r13, %r13
        jz      .Lsucceeded
        .set    bit, 0
        .irp    register, rdi, rsi, rdx, rcx, r8, r9
        mov     ARGUMENTS + 8 * bit(%r12), %\register
        btl     $bit, BEHIND_POINTERS(%r12)
        jnc     1f
        mov     (%\register), %\register
1:
        .set    bit, bit + 1
        .endr
        cld
        xor     %eax, %eax
        call    *(%r12)
        mov     %eax, RESULT(%r12)
        test    %eax, %eax
        jz      2f
        cmp     AGAIN_ON(%r12), %eax
        jne     .Lfailed
        rdtsc
        shl     $32, %rdx
        add     %rdx, %rax
        cmp     %r14, %rax
        ja      .Lfailed
        mov     $64, %eax
1:      pause
        dec     %eax
        jnz     1b
        jmp     .Lnext
2:      mov     MUST_BE_ZERO(%r12), %rax
        test    %rax, %rax
        jz      3f
        cmpl    $0, (%rax)
        jne     .Lfailed
3:      incq    DONE_STEPS(%rbx)
        add     $STEP_SIZE, %r12
        dec     %r13
        jmp     .Lnext
.Lfailed:
        movq    $FAILED, STATE(%rbx)
        cmpq    $0, DONE_STEPS(%rbx)
        je      .Lback
        jmp     .Lend
.Lsucceeded:
        movq    $SUCCEEDED, STATE(%rbx)
.Lend:
        mov     AT_END(%rbx), %rax
        test    %rax, %rax
        jz      .Lback
        call    *%rax
.Lback:
        add     $16, %rsp               # the frame without its return address
        mov     $SYS_rt_sigreturn, %eax
        syscall
        ud2
fade_errand_code_end:

        .section .note.GNU-stack, "", @progbits
