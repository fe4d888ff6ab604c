//! Calls that seccomp takes out of the kernel's hands.

use nix::errno::Errno;
use nix::libc;

use crate::kernel::{self, say};

/// A child installs a filter that kills, and walks into it.
pub(crate) fn killed() -> i32 {
    let child = kernel::fork_to(|| {
        kernel::no_core_file();
        install(libc::SECCOMP_RET_KILL_PROCESS);
        kernel::getpgid(1);
        0
    });
    let status = kernel::wait_for(child);
    say(&format!(
        "child pid={child:07} call=getpgid status={status}"
    ));
    0
}

/// The process itself is denied the call.
pub(crate) fn denied() -> i32 {
    install(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    // SAFETY: getpgid takes a number.
    let result = Errno::result(unsafe { libc::syscall(libc::SYS_getpgid, 0) });
    let words = kernel::result_words(result);
    say(&format!(
        "call tid={:07} name=getpgid {words}",
        kernel::tid()
    ));
    0
}

/// Makes calls with words that no program should, none of which the kernel ever acts on.
pub(crate) fn refused() -> i32 {
    map_arena();
    let calls: Vec<Refused> = std::io::stdin()
        .lines()
        .map(|line| refused_call(&line.expect("lines")))
        .collect();
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    install_on(libc::SYS_exit_group, libc::SECCOMP_RET_ALLOW, refuse);
    for call in calls {
        for (address, bytes) in call.memory {
            let to = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the line names a place in the arena, as the caller has to see to.
            unsafe { std::ptr::copy(bytes.as_ptr(), to, bytes.len()) };
        }
        let [number, a, b, c, d, e, f] = call.words;
        // SAFETY: the filter lets no call through but the one below.
        unsafe { libc::syscall(number, a, b, c, d, e, f) };
    }
    // SAFETY: the process ends; all other ways to end make calls before.
    unsafe { libc::syscall(libc::SYS_exit_group, 0) };
    1
}

const ARENA: usize = 0x1000_0000;
const PAGE: usize = 4096;

/// Every other one of 16 pages at a place that is the same in every run.
fn map_arena() {
    for page in (0..16).step_by(2) {
        let at = std::ptr::with_exposed_provenance_mut(ARENA + page * PAGE);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing is there, or the kernel refuses.
        let got = unsafe { libc::mmap(at, PAGE, protection, flags, -1, 0) };
        assert_eq!(got, at, "{}", Errno::last());
    }
}

/// A call to make: its number and its words, and what to put into memory before.
struct Refused {
    words: [i64; 7],
    memory: Vec<(usize, Vec<u8>)>,
}

/// The number of a call and its words, all of 64 bits without a sign, then places and bytes.
fn refused_call(line: &str) -> Refused {
    let (memory, words): (Vec<_>, Vec<_>) = line.split(' ').partition(|word| word.starts_with('@'));
    let mut words = words.into_iter().map(|word| word.parse::<u64>());
    Refused {
        words: std::array::from_fn(|_| match words.next() {
            Some(word) => word.expect("a number").cast_signed(),
            None => 0,
        }),
        memory: memory.into_iter().map(placed).collect(),
    }
}

/// `@address=hex`.
fn placed(word: &str) -> (usize, Vec<u8>) {
    let (address, digits) = word[1..].split_once('=').expect("an address and bytes");
    let of = |digits: &str| u8::from_str_radix(digits, 16).expect("a byte");
    let bytes = (0..digits.len() / 2).map(|at| of(&digits[2 * at..2 * at + 2]));
    (address.parse().expect("an address"), bytes.collect())
}

/// Executes a command as under the filters of containers that cannot read the flags of `clone3`.
pub(crate) fn without_clone3(program: &str, arguments: &[&str]) -> i32 {
    use std::os::unix::process::CommandExt;
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    install_on(libc::SYS_clone3, unknown, libc::SECCOMP_RET_ALLOW);
    let error = std::process::Command::new(program).args(arguments).exec();
    panic!("{program}: {error}");
}

/// Answers `getpgid` with the action and allows everything else.
fn install(action: u32) {
    install_on(libc::SYS_getpgid, action, libc::SECCOMP_RET_ALLOW);
}

/// Answers one call with an action, all others with the other.
fn install_on(number: libc::c_long, action: u32, otherwise: u32) {
    let number = u32::try_from(number).expect("a small number");
    // The offset of the number is 0 in `struct seccomp_data`.
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, action),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, otherwise),
    ];
    let filter = libc::sock_fprog {
        len: 4,
        filter: program.as_mut_ptr(),
    };
    nix::sys::prctl::set_no_new_privs().expect("no_new_privs");
    // SAFETY: the filter and its four statements live beyond the call, which copies them.
    let result = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const filter,
        )
    };
    Errno::result(result).expect("seccomp");
}

/// A BPF instruction: the jumps are how many to skip if true and if false.
fn statement(code: u32, if_true: u8, if_false: u8, operand: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: u16::try_from(code).expect("an opcode has 16 bits"),
        jt: if_true,
        jf: if_false,
        k: operand,
    }
}
