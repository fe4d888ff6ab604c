//! What only x86_64 has: the 32-bit entry from 64-bit code, the x32 bit, and `vfork` as a call of
//! its own.

use std::arch::asm;
use std::ffi::CStr;
use std::ptr;

use nix::libc;
use nix::unistd::Pid;

use crate::kernel::{self, say};

/// Numbers of the i386 table (arch/x86/entry/syscalls/syscall_32.tbl); what x86_64 has there is in
/// the comment.
mod i386 {
    /// write
    pub(crate) const EXIT: u32 = 1;
    /// stat
    pub(crate) const WRITE: u32 = 4;
    /// writev
    pub(crate) const GETPID: u32 = 20;
    /// exit
    pub(crate) const UMASK: u32 = 60;
    /// no call in either table
    pub(crate) const NONE: u32 = 9999;
}

/// Makes a call through the 32-bit gate; a kernel without it answers with `SIGSEGV`.
///
/// # Safety
///
/// The call's own arguments must be valid: addresses below 4 GiB, of memory that lives long enough.
unsafe fn through_int80(number: u32, arguments: [u32; 3]) -> i32 {
    let [first, second, third] = arguments;
    let result: i32;
    // SAFETY: the gate preserves all registers but rax, and r8 to r11 before Linux 4.17; rbx, which
    // the compiler keeps for itself, is put back.
    unsafe {
        asm!(
            "xchg rbx, {first:r}",
            "int 0x80",
            "xchg rbx, {first:r}",
            first = inout(reg) u64::from(first) => _,
            inlateout("eax") number => result,
            in("ecx") second,
            in("edx") third,
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
        );
    }
    result
}

/// What the gate's `write` prints.
const GREETING: &[u8] = b"greeting through=int80\n";

/// Four 32-bit calls that return, and a last one that does not.
pub(crate) fn int80() -> i32 {
    let buffer = low_copy_of(GREETING);
    let calls = [
        ("getpid", i386::GETPID, [0, 0, 0]),
        ("write", i386::WRITE, [1, buffer, GREETING.len() as u32]),
        ("umask", i386::UMASK, [0o22, 0, 0]),
        ("-", i386::NONE, [0, 0, 0]),
    ];
    for (name, number, arguments) in calls {
        // SAFETY: the buffer is mapped below 4 GiB and never unmapped; the others take no address.
        let result = unsafe { through_int80(number, arguments) };
        say(&format!(
            "call abi=i386 name={name} nr={number} ret={result}"
        ));
    }
    say(&format!("call abi=i386 name=exit nr={} ret=-", i386::EXIT));
    // SAFETY: exit takes a number; the process has one thread, so it ends here.
    unsafe { through_int80(i386::EXIT, [5, 0, 0]) };
    1
}

fn low_copy_of(text: &[u8]) -> u32 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let memory = unsafe { libc::mmap(ptr::null_mut(), text.len(), protection, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED, "mmap below 4 GiB");
    // SAFETY: the mapping is as long as the text, and has no other user.
    unsafe { ptr::copy_nonoverlapping(text.as_ptr(), memory.cast(), text.len()) };
    u32::try_from(memory.addr()).expect("MAP_32BIT means below 2 GiB")
}

/// `__X32_SYSCALL_BIT` and the number of getpid.
const X32_GETPID: i64 = 0x4000_0000 + libc::SYS_getpid;

/// One call with the x32 bit set; most kernels are built without that ABI and answer `ENOSYS`.
pub(crate) fn x32() -> i32 {
    let result = kernel::call_without_arguments(X32_GETPID);
    say(&format!(
        "call nr={X32_GETPID} {}",
        kernel::result_words(result)
    ));
    0
}

const VFORK_CALLS: u32 = 5;

/// The child borrows the parent's memory for five calls and becomes another program.
pub(crate) fn vfork() -> i32 {
    let child = vfork_and_execute(c"/bin/true", VFORK_CALLS);
    let status = kernel::wait_for(child);
    say(&format!(
        "child pid={child:07} call=getpgid count={VFORK_CALLS} path=/bin/true status={status}"
    ));
    0
}

/// Forks without a copy of the memory. In one piece of assembly, because a function that returns
/// twice on one stack is nothing that Rust knows.
fn vfork_and_execute(path: &CStr, calls: u32) -> Pid {
    let words = [path.as_ptr(), ptr::null()];
    let environment = [ptr::null::<u8>()];
    let child: i64;
    // SAFETY: the child touches no memory and leaves through execve or exit_group; its changes of
    // r12 are its own. The path and both arrays end with a null and outlive the call, as the parent
    // sleeps until then.
    unsafe {
        asm!(
            "mov eax, {vfork}",
            "syscall",
            "test eax, eax",
            "jnz 3f",
            "2:",
            "mov eax, {getpgid}",
            "xor edi, edi",
            "syscall",
            "dec r12d",
            "jnz 2b",
            "mov eax, {execve}",
            "mov rdi, r13",
            "mov rsi, r14",
            "mov rdx, r15",
            "syscall",
            "mov eax, {exit_group}",
            "mov edi, 127",
            "syscall",
            "3:",
            vfork = const libc::SYS_vfork,
            getpgid = const libc::SYS_getpgid,
            execve = const libc::SYS_execve,
            exit_group = const libc::SYS_exit_group,
            in("r12") u64::from(calls),
            in("r13") path.as_ptr(),
            in("r14") words.as_ptr(),
            in("r15") environment.as_ptr(),
            out("rax") child,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    assert!(child > 0, "vfork returned {child}");
    Pid::from_raw(i32::try_from(child).expect("a pid"))
}
