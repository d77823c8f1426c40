# The safety net: code that is copied into every watched process (System V x86-64, position independent, no libc).
# While fade lives, it sees each trap first and none of this runs but the system call gadgets. When fade is gone, the
# kernel delivers SIGTRAP to the handler, which sends a thread that stands at one of our sites on into its slot.
# Offsets of the header and of the table must agree with safety_net.hpp.

        .set NET_OLD_HANDLER, 0x18
        .set NET_RANGES,      0x20      # pairs of begin, end of slot areas; ends with a zero begin
        .set NET_CODE,        0x200
        .set NET_TABLE,       0x1000
        .set NET_TABLE_BITS,  14
        .set UC_RIP,          168       # ucontext_t.uc_mcontext.gregs[REG_RIP]
        .set SI_CODE,         8
        .set SI_KERNEL,       0x80

        .section .rodata
        .globl fade_net_code, fade_net_code_end, fade_net_handler, fade_net_sigreturn, fade_net_syscall_ret
        .balign 16
fade_net_code:
fade_net_handler:                       # (rdi signal, rsi siginfo, rdx ucontext)
        mov     UC_RIP(%rdx), %rax
        lea     fade_net_code - NET_CODE(%rip), %r8     # base of the net
        cmpl    $SI_KERNEL, SI_CODE(%rsi)
        jne     .Lin_slot
        lea     -1(%rax), %rcx
        movabs  $0x9E3779B97F4A7C15, %r9
        imul    %rcx, %r9
        shr     $(64 - NET_TABLE_BITS), %r9
.Lprobe:
        mov     %r9, %r10
        shl     $4, %r10
        mov     NET_TABLE(%r8,%r10), %r11
        test    %r11, %r11
        jz      .Lin_slot
        cmp     %rcx, %r11
        je      .Lfound
        inc     %r9
        and     $((1 << NET_TABLE_BITS) - 1), %r9
        jmp     .Lprobe
.Lfound:
        mov     NET_TABLE+8(%r8,%r10), %r11
        test    %r11, %r11
        jz      .Lforeign
        mov     %r11, UC_RIP(%rdx)
        ret
.Lin_slot:                              # redirected by a tracer that then died: go on there
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
.Lforeign:                              # not ours: what would have happened without us
        mov     NET_OLD_HANDLER(%r8), %rax
        cmp     $1, %rax
        je      .Ldone                  # SIG_IGN
        ja      .Lchain
        sub     $40, %rsp               # SIG_DFL: set it and send the signal again
        xor     %eax, %eax
        mov     %rax, (%rsp)
        mov     %rax, 8(%rsp)
        mov     %rax, 16(%rsp)
        mov     %rax, 24(%rsp)
        mov     $13, %eax               # rt_sigaction
        mov     $5, %edi
        mov     %rsp, %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        mov     $186, %eax              # gettid
        syscall
        mov     %eax, %edi
        mov     $200, %eax              # tkill
        mov     $5, %esi
        syscall
        add     $40, %rsp
.Ldone:
        ret
.Lchain:
        jmp     *%rax
fade_net_sigreturn:
        mov     $15, %eax
        syscall
fade_net_syscall_ret:
        syscall
        ret
fade_net_code_end:
        .section .note.GNU-stack,"",@progbits
