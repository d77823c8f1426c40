# The safety net: code that is copied into every watched process (System V x86-64, position independent, no libc). While
# fade lives, it sees each trap first, and only the gadgets and the guards' fall-through run. After fade's end, the
# kernel delivers SIGTRAP to the handler, which sends a thread at a site of fade into the site's slot. Offsets must
# agree with NetLayout in safety_net.hpp.

        .set NET_CODE,        0x400     # from the header
        .set NET_DATA,        -0x1000
        .set NET_TABLE_NOW,   0x20
        .set NET_RESTORER,    0x28
        .set NET_OUR_ACTION,  0x30
        .set NET_GUARDED,     0x78
        .set NET_RANGES,      0x80      # pairs of begin, end of slot areas; ends with a zero begin
        .set NET_TABLE_BITS,  14
        .set ACTION_HANDLER,  NET_DATA  # the SIGTRAP action that the program has set
        .set ACTION_FLAGS,    NET_DATA + 8
        .set ACTION_MASK,     NET_DATA + 24
        .set UC_RIP,          168       # ucontext_t.uc_mcontext.gregs[REG_RIP]
        .set UC_FLAGS,        176       # REG_EFL
        .set TRAP_FLAG_AT,    1         # of RFLAGS, the byte that has TF in its lowest bit
        .set SI_CODE,         8
        .set SI_KERNEL,       0x80
        .set TRAP_TRACE,      2         # si_code
        .set SIGTRAP,         5
        .set TRAP_BIT,        1 << 4
        .set LIBC_BITS,       3 << 31   # signals 32 and 33, reserved by libc
        .set SIG_UNBLOCK,     1
        .set SA_RESTORER_BIT, 26
        .set SA_RESETHAND_BIT, 31
        .set LIBC_MASK,       8         # struct sigaction of libc: handler, 128 bytes of mask, flags
        .set LIBC_FLAGS,      136
        .set SIGACTION_SIZE,  32        # size of the kernel's struct for rt_sigaction(2)
        .set CLONE_VM,        0x100
        .set CLEAR_SIGHAND_AT, 4        # CLONE_CLEAR_SIGHAND, 1 << 32: the byte, and its bit there
        .set CLEAR_SIGHAND,   1
        .set CLONE_ARGS_LEAST, 64       # of struct clone_args
        .set CLONE_ARGS_SIZES, 64
        .set EINVAL,          22
        .set SYS_rt_sigaction, 13
        .set SYS_rt_sigprocmask, 14
        .set SYS_rt_sigreturn, 15
        .set SYS_gettid,      186
        .set SYS_tkill,       200

        .section .rodata
        .globl fade_net_code, fade_net_code_end, fade_net_handler, fade_net_sigreturn, fade_net_syscall_ret
        .globl fade_net_sigaction, fade_net_sigmask, fade_net_may_trap, fade_net_clone
        .balign 16
fade_net_code:
# (rdi signal, rsi siginfo, rdx ucontext); all registers come back by rt_sigreturn
fade_net_handler:
        mov     UC_RIP(%rdx), %rax
        lea     fade_net_code - NET_CODE(%rip), %r8     # the header
        cmpl    $SI_KERNEL, SI_CODE(%rsi)
        jne     .Lin_slot
        mov     NET_TABLE_NOW(%r8), %rbx
        lea     -1(%rax), %rcx
        movabs  $0x9E3779B97F4A7C15, %r9
        imul    %rcx, %r9
        shr     $(64 - NET_TABLE_BITS), %r9
.Lprobe:
        mov     %r9, %r10
        shl     $4, %r10
        mov     (%rbx,%r10), %r11
        test    %r11, %r11
        jz      .Lin_slot
        cmp     %rcx, %r11
        je      .Lfound
        inc     %r9
        and     $((1 << NET_TABLE_BITS) - 1), %r9
        jmp     .Lprobe
.Lfound:
        mov     8(%rbx,%r10), %r11
        shl     $17, %r11               # the upper bits are for a later fade
        shr     $17, %r11
        jz      .Lforeign
        mov     %r11, UC_RIP(%rdx)
        ret
.Lin_slot:                              # redirected by a tracer that then died: continue there
        lea     NET_RANGES(%r8), %r9
.Lrange:
        mov     (%r9), %r10
        test    %r10, %r10
        jz      .Lforeign
        cmp     %r10, %rax
        jb      .Lnext_range
        cmp     8(%r9), %rax
        jb      .Ldone
.Lnext_range:
        add     $16, %r9
        jmp     .Lrange
.Lforeign:                              # not a site: do the same as without fade
        cmpl    $TRAP_TRACE, SI_CODE(%rsi)
        jne     .Lof_the_program
        testb   $1, UC_FLAGS + TRAP_FLAG_AT(%rdx)
        jz      .Ldone                  # a step of a tracer that died since: a program's own step has TF set
.Lof_the_program:
        mov     ACTION_HANDLER(%r8), %r12
        cmp     $1, %r12
        je      .Ldone                  # SIG_IGN
        ja      .Lchain
        sub     $40, %rsp               # SIG_DFL: set it and send the signal again
        xor     %eax, %eax
        mov     %rax, (%rsp)
        mov     %rax, 8(%rsp)
        mov     %rax, 16(%rsp)
        mov     %rax, 24(%rsp)
        mov     $SYS_rt_sigaction, %eax
        mov     $SIGTRAP, %edi
        mov     %rsp, %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        mov     $SYS_gettid, %eax
        syscall
        mov     %eax, %edi
        mov     $SYS_tkill, %eax
        mov     $SIGTRAP, %esi
        syscall
        add     $40, %rsp
.Ldone:
        ret
# into the program's handler, with its sa_mask; the handler returns past the net if it can
.Lchain:
        btl     $SA_RESETHAND_BIT, ACTION_FLAGS(%r8)
        jnc     .Lreturn_past
        movq    $0, ACTION_HANDLER(%r8)
.Lreturn_past:
        mov     NET_RESTORER(%r8), %rax
        test    %rax, %rax
        jz      .Lblock
        mov     %rax, (%rsp)
.Lblock:
        mov     %rdi, %rbx
        mov     %rsi, %r13
        mov     %rdx, %r14
        mov     ACTION_MASK(%r8), %rax
        and     $~TRAP_BIT, %rax
        push    %rax
        xor     %edi, %edi              # SIG_BLOCK
        mov     %rsp, %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $SYS_rt_sigprocmask, %eax
        syscall
        pop     %rax
        mov     %rbx, %rdi
        mov     %r13, %rsi
        mov     %r14, %rdx
        jmp     *%r12
fade_net_sigreturn:
        mov     $SYS_rt_sigreturn, %eax
        syscall
fade_net_syscall_ret:
        syscall
        ret

# The guards are between the slot of a libc function's first instruction and that instruction, whose address is in %r11.
# If SIGTRAP is not concerned they continue there, and change only %rax, %rcx, %r11 and flags.

fade_net_sigmask:                       # pthread_sigmask(edi how, rsi set, rdx old): SIGTRAP stays unblocked
        cmp     $SIG_UNBLOCK, %edi
        je      .Lcall
        test    %rsi, %rsi
        jz      .Lcall
        testb   $TRAP_BIT, (%rsi)
        jz      .Lcall
        mov     (%rsi), %rax
        movabs  $~(TRAP_BIT | LIBC_BITS), %r11
        and     %r11, %rax
        push    %rax
        mov     %rsp, %rsi
        mov     $8, %r10d
        mov     $SYS_rt_sigprocmask, %eax
        syscall
        pop     %r11
        neg     %eax                    # an error number
        ret

fade_net_sigaction:                     # sigaction(edi signal, rsi action, rdx old): the net keeps SIGTRAP's action
        cmp     $SIGTRAP, %edi
        jne     .Lcall
        lea     fade_net_code - NET_CODE(%rip), %r8
        test    %rsi, %rsi
        jz      .Lwish_read
        mov     (%rsi), %r9             # old may be the same place
        mov     LIBC_MASK(%rsi), %r10
        mov     LIBC_FLAGS(%rsi), %ecx
        btr     $SA_RESTORER_BIT, %ecx
.Lwish_read:
        test    %rdx, %rdx
        jz      .Lold_told
        mov     ACTION_HANDLER(%r8), %rax
        mov     %rax, (%rdx)
        mov     ACTION_MASK(%r8), %rax
        mov     %rax, LIBC_MASK(%rdx)
        mov     ACTION_FLAGS(%r8), %eax
        mov     %eax, LIBC_FLAGS(%rdx)
.Lold_told:
        test    %rsi, %rsi
        jz      .Lwish_kept
        mov     %r10, ACTION_MASK(%r8)
        mov     %rcx, ACTION_FLAGS(%r8)
        mov     %r9, ACTION_HANDLER(%r8)
.Lwish_kept:
        xor     %eax, %eax
        ret
.Lcall:
        jmp     *%r11

# Called from the pad at the loader's function for debuggers. Returns nonzero in %eax if an int3 is harmless: the kernel
# would deliver its SIGTRAP, and not to a handler that the program set before libc's guards were armed.
fade_net_may_trap:
        sub     $SIGACTION_SIZE, %rsp
        xor     %esi, %esi
        mov     %rsp, %rdx
        mov     $8, %r10d
        mov     $SYS_rt_sigprocmask, %eax
        syscall
        testb   $TRAP_BIT, (%rsp)
        jnz     .Lmust_not
        call    .Lask_action
        cmp     $1, %rax                # SIG_DFL, as in the child of a clone3 without handlers, or SIG_IGN
        jbe     .Lmust_not
        lea     fade_net_handler(%rip), %rcx
        cmp     %rcx, %rax
        je      .Lmay
        mov     fade_net_code - NET_CODE + NET_GUARDED(%rip), %eax
        jmp     .Lanswered
.Lmay:
        mov     $1, %eax
        jmp     .Lanswered
.Lmust_not:
        xor     %eax, %eax
.Lanswered:
        add     $SIGACTION_SIZE, %rsp
        ret

# The kernel's action for SIGTRAP into the 32 bytes above the return address; its handler into %rax.
.Lask_action:
        lea     8(%rsp), %rdx
        mov     $SIGTRAP, %edi
        xor     %esi, %esi
        mov     $8, %r10d
        mov     $SYS_rt_sigaction, %eax
        syscall
        mov     8(%rsp), %rax
        ret

# Runs after the system call of libc's syscall(2), whose result is in %rax. The arguments that the kernel preserves
# identify the child of a clone3: %rdi leads to a struct clone_args of %rsi bytes. A repeated system call also comes
# here, as clone3 after an interruption by a tracer.
fade_net_clone:
        test    %rax, %rax
        jnz     .Lcall
        lea     -CLONE_ARGS_LEAST(%rsi), %rcx
        cmp     $CLONE_ARGS_SIZES, %rcx
        jae     .Lcall
        mov     %r11, %r9
        mov     %rdi, %r8
        sub     $SIGACTION_SIZE, %rsp
        call    .Lask_action
        test    %rax, %rax
        jnz     .Lwas_no_child          # a handler, or SIG_IGN
        mov     $-1, %edi               # no way to set a mask: the kernel refuses it after it has read the mask
        mov     %r8, %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $SYS_rt_sigprocmask, %eax
        syscall
        cmp     $-EINVAL, %eax
        jne     .Lwas_no_child          # unreadable
        testb   $CLEAR_SIGHAND, CLEAR_SIGHAND_AT(%r8)
        jz      .Lwas_no_child
        testl   $CLONE_VM, (%r8)        # the program's setting is in its parent's memory then
        jnz     .Lbelief_kept
        cmpq    $1, fade_net_code - NET_CODE + ACTION_HANDLER(%rip)
        je      .Lbelief_kept           # SIG_IGN stays
        movq    $0, fade_net_code - NET_CODE + ACTION_HANDLER(%rip)
.Lbelief_kept:
        mov     $SIGTRAP, %edi
        lea     fade_net_code - NET_CODE + NET_OUR_ACTION(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $SYS_rt_sigaction, %eax
        syscall
.Lwas_no_child:
        add     $SIGACTION_SIZE, %rsp
        xor     %eax, %eax
        jmp     *%r9
fade_net_code_end:
        .section .note.GNU-stack,"",@progbits
