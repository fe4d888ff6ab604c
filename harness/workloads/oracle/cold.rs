//! Constants that the kernel reads before anyone else does.
//!
//! A page of a program's file is mapped when it is touched for the first time; until then a tracer
//! that must not sleep finds nothing there. A fault maps the neighbouring pages as well
//! (fault-around, 64 KiB), so that each constant has more than that around it. That its page is
//! indeed not mapped, procfs says, which does not touch it.

use std::ffi::{CStr, CString, c_char, c_int, c_long};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr;

use nix::errno::Errno;
use nix::libc;

use crate::kernel::{self, say};

/// What a fault maps around the page that was touched; a power of two.
const WINDOW: usize = 64 << 10;
/// Longer than every string of this file.
const LENGTH: usize = 64;

/// A constant, far from everything else.
#[repr(C, align(4096))]
struct Cold<T> {
    _before: [u8; 2 * WINDOW],
    constant: T,
    _after: [u8; 2 * WINDOW],
}

impl<T> Cold<T> {
    const fn new(constant: T) -> Self {
        Self {
            _before: [b'-'; 2 * WINDOW],
            constant,
            _after: [b'-'; 2 * WINDOW],
        }
    }

    /// Its address, of which is said under this name whether its page is mapped.
    fn untouched(&'static self, name: &str) -> *const T {
        let address = &raw const self.constant;
        let mapped = u8::from(is_mapped(address.addr()));
        say(&format!("cold constant={name} mapped={mapped}"));
        address
    }
}

type Text = Cold<[u8; LENGTH]>;

const fn text(text: &CStr) -> Text {
    let bytes = text.to_bytes();
    let mut constant = [0; LENGTH];
    let mut at = 0;
    while at < bytes.len() {
        constant[at] = bytes[at];
        at += 1;
    }
    Cold::new(constant)
}

const fn unix_address(path: &CStr) -> Cold<libc::sockaddr_un> {
    let bytes = path.to_bytes();
    let mut sun_path = [0; 108];
    let mut at = 0;
    while at < bytes.len() {
        sun_path[at] = c_char::from_ne_bytes([bytes[at]]);
        at += 1;
    }
    Cold::new(libc::sockaddr_un {
        sun_family: libc::AF_UNIX as u16,
        sun_path,
    })
}

static OPENED: Text = text(c"/dev/../dev/null");
static MISSING: Text = text(c"/nonexistent/cold-open");
static OLD: Text = text(c"/nonexistent/cold-old");
static NEW: Text = text(c"/nonexistent/cold-new");
static NO_PROGRAM: Text = text(c"/nonexistent/cold-exec");
static ADDRESS: Cold<libc::sockaddr_un> = unix_address(c"/nonexistent/cold-socket");
static PROGRAM: Text = text(c"/bin/../bin/true");
static FIRST: Text = text(c"cold-first");
static SECOND: Text = text(c"cold-second");
static BELOW: Text = text(c"true");
static EMPTY: Text = text(c"");

/// Begins in one window and ends in the next, of which only the first is mapped when it is used.
#[repr(C, align(65536))]
struct Crossing {
    _before: [u8; 2 * WINDOW - CROSSING.len() / 2],
    constant: [u8; CROSSING.len()],
    _after: [u8; 2 * WINDOW],
}

const CROSSING: &[u8; 27] = b"/nonexistent/cold-crossing\0";

static CROSSED: Crossing = Crossing {
    _before: [b'-'; 2 * WINDOW - CROSSING.len() / 2],
    constant: *CROSSING,
    _after: [b'-'; 2 * WINDOW],
};

/// Whether the page of the address has an entry in the page table.
fn is_mapped(address: usize) -> bool {
    const PRESENT: u64 = 1 << 63;
    // SAFETY: sysconf takes a number.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size");
    let place = u64::try_from(address).expect("an address") / page * 8;
    let mut entry = [0; 8];
    let pagemap = File::open("/proc/self/pagemap").expect("/proc/self/pagemap");
    pagemap.read_exact_at(&mut entry, place).expect("an entry");
    u64::from_ne_bytes(entry) & PRESENT != 0
}

fn result(call: &str, result: c_long) {
    let words = kernel::result_words(Errno::result(result));
    say(&format!("call name={call} {words}"));
}

/// Gives each of the constants to the kernel once.
pub(crate) fn paths() -> i32 {
    let open = |path: *const c_char| {
        // SAFETY: the path ends with a zero byte and lives for ever.
        let descriptor =
            unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, libc::O_RDONLY) };
        result("openat", descriptor);
    };
    open(OPENED.untouched("opened").cast());
    open(MISSING.untouched("missing").cast());
    let crossed = &raw const CROSSED.constant;
    // SAFETY: the first byte of a constant, which is read so that its page, and not the next, is
    // mapped.
    unsafe { ptr::read_volatile(crossed.cast::<u8>()) };
    let [begin, end] = [crossed.addr(), crossed.addr() + CROSSING.len()]
        .map(is_mapped)
        .map(u8::from);
    say(&format!("crossing begin={begin} end={end}"));
    open(crossed.cast());
    let (old, new) = (OLD.untouched("old"), NEW.untouched("new"));
    // SAFETY: the paths end with a zero byte and live for ever.
    result("renameat2", unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            old,
            libc::AT_FDCWD,
            new,
            0,
        )
    });
    // SAFETY: a call that takes numbers.
    let socket: c_int = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) };
    let address = ADDRESS.untouched("address");
    // SAFETY: the address lives for ever and is as long as is said.
    result("connect", unsafe {
        libc::syscall(
            libc::SYS_connect,
            socket,
            address,
            size_of::<libc::sockaddr_un>(),
        )
    });
    let no_program = NO_PROGRAM.untouched("no-program");
    let nothing: [*const c_char; 1] = [ptr::null()];
    // SAFETY: the path and both vectors end as they must; where it succeeds, it does not return.
    result("execve", unsafe {
        libc::syscall(
            libc::SYS_execve,
            no_program,
            nothing.as_ptr(),
            nothing.as_ptr(),
        )
    });
    0
}

/// So many children that execute `true`, by a path and with arguments that neither they nor their
/// parent have touched.
pub(crate) fn execs(times: u64) -> i32 {
    let failed = (0..times).map(|_| kernel::wait_for(kernel::fork_to(exec)));
    i32::from(failed.filter(|status| *status != 0).count() > 0)
}

fn exec() -> i32 {
    let program = PROGRAM.untouched("program");
    let (first, second) = (FIRST.untouched("first"), SECOND.untouched("second"));
    let arguments: [*const c_char; 3] = [first.cast(), second.cast(), ptr::null()];
    let nothing: [*const c_char; 1] = [ptr::null()];
    // SAFETY: the path, the strings and both vectors end as they must; where it succeeds, it does
    // not return.
    unsafe {
        libc::syscall(
            libc::SYS_execve,
            program,
            arguments.as_ptr(),
            nothing.as_ptr(),
        )
    };
    127
}

/// Children that execute `true` with untouched arguments in vectors that are longer than a tracer
/// may be able to tell, and by a directory and a descriptor.
pub(crate) fn vectors() -> i32 {
    let many = || -> Vec<CString> {
        (0..70)
            .map(|place| owned(&format!("place-{place}")))
            .collect()
    };
    let long = || -> Vec<CString> {
        let lines = (0..7).map(|place| format!("{place}{}", "-".repeat(6000)));
        lines.map(|line| owned(&line)).collect()
    };
    let directory = || kernel_open(c"/bin");
    let program = || kernel_open(c"/bin/true");
    let children: [&dyn Fn() -> i32; 4] = [
        &|| exec_at(libc::AT_FDCWD, &PROGRAM, &many(), 0),
        &|| exec_at(libc::AT_FDCWD, &PROGRAM, &long(), 0),
        &|| exec_at(directory(), &BELOW, &[], 0),
        &|| exec_at(program(), &EMPTY, &[], libc::AT_EMPTY_PATH),
    ];
    let status = |child: &dyn Fn() -> i32| kernel::wait_for(kernel::fork_to(child));
    children.into_iter().map(status).max().unwrap_or_default()
}

fn owned(text: &str) -> CString {
    CString::new(text).expect("no zero byte")
}

fn kernel_open(path: &CStr) -> c_int {
    // SAFETY: the path ends with a zero byte.
    unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }
}

/// Executes a program whose first argument was never touched, others follow.
fn exec_at(directory: c_int, path: &'static Text, others: &[CString], flags: c_int) -> i32 {
    let (path, first) = (path.untouched("path"), FIRST.untouched("first"));
    let others = others.iter().map(|other| other.as_ptr());
    let arguments: Vec<*const c_char> = std::iter::once(first.cast())
        .chain(others)
        .chain([ptr::null()])
        .collect();
    let nothing: [*const c_char; 1] = [ptr::null()];
    // SAFETY: the path, the strings and both vectors end as they must; where it succeeds, it does
    // not return.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            directory,
            path,
            arguments.as_ptr(),
            nothing.as_ptr(),
            flags,
        )
    };
    127
}
