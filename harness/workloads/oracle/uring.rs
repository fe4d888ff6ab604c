//! A file by way of io_uring, with one submission at a time and nothing between this program and
//! the kernel.
//!
//! The layouts are those of `include/uapi/linux/io_uring.h`.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::errno::Errno;
use nix::libc;

use crate::UNSUPPORTED;
use crate::kernel::say;

const OP_FSYNC: u8 = 3;
const OP_OPENAT: u8 = 18;
const OP_CLOSE: u8 = 19;
const OP_READ: u8 = 22;
const OP_WRITE: u8 = 23;

const OFF_SQ_RING: libc::off_t = 0;
const OFF_CQ_RING: libc::off_t = 0x800_0000;
const OFF_SQES: libc::off_t = 0x1000_0000;
const ENTER_GETEVENTS: u32 = 1;

#[repr(C)]
#[derive(Default)]
struct SqOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    resv1: u32,
    user_addr: u64,
}

#[repr(C)]
#[derive(Default)]
struct CqOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    overflow: u32,
    cqes: u32,
    flags: u32,
    resv1: u32,
    user_addr: u64,
}

#[repr(C)]
#[derive(Default)]
struct Params {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    sq_thread_cpu: u32,
    sq_thread_idle: u32,
    features: u32,
    wq_fd: u32,
    resv: [u32; 3],
    sq: SqOffsets,
    cq: CqOffsets,
}

/// A submission.
#[repr(C)]
#[derive(Default)]
struct Sqe {
    opcode: u8,
    flags: u8,
    ioprio: u16,
    fd: i32,
    offset: u64,
    address: u64,
    length: u32,
    /// Of the operation: here, of the open.
    op_flags: u32,
    user_data: u64,
    rest: [u64; 3],
}

/// A completion.
#[repr(C)]
#[derive(Clone, Copy)]
struct Cqe {
    user_data: u64,
    result: i32,
    _flags: u32,
}

struct Ring {
    descriptor: c_int,
    params: Params,
    submissions: *mut c_void,
    completions: *mut c_void,
    entries: *mut Sqe,
    submitted: u64,
}

impl Ring {
    fn new() -> Result<Self, Errno> {
        let mut params = Params::default();
        // SAFETY: the parameters are as the kernel has them, and live until it returns.
        let descriptor = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, &raw mut params) };
        let descriptor = c_int::try_from(Errno::result(descriptor)?).expect("a descriptor");
        let of_submissions = params.sq.array as usize + 4 * params.sq_entries as usize;
        let of_completions =
            params.cq.cqes as usize + size_of::<Cqe>() * params.cq_entries as usize;
        let of_entries = size_of::<Sqe>() * params.sq_entries as usize;
        Ok(Self {
            submissions: map(descriptor, of_submissions, OFF_SQ_RING)?,
            completions: map(descriptor, of_completions, OFF_CQ_RING)?,
            entries: map(descriptor, of_entries, OFF_SQES)?.cast(),
            descriptor,
            params,
            submitted: 0,
        })
    }

    /// Submits the only entry, waits, and returns what came of it.
    fn run(&mut self, name: &str, mut entry: Sqe) -> i32 {
        self.submitted += 1;
        entry.user_data = self.submitted;
        // SAFETY: the rings are mapped as long as this lives, and the offsets are those that the
        // kernel gave for them. Nothing is in flight, so that the kernel does not read the entry
        // while it is written.
        let completion = unsafe {
            let index = |ring: *mut c_void, offset: u32| {
                &*ring.byte_add(offset as usize).cast::<AtomicU32>()
            };
            let tail = index(self.submissions, self.params.sq.tail);
            let slot = tail.load(Ordering::Relaxed) & (self.params.sq_entries - 1);
            self.entries.add(slot as usize).write(entry);
            index(self.submissions, self.params.sq.array + 4 * slot).store(slot, Ordering::Relaxed);
            tail.fetch_add(1, Ordering::Release);
            let nothing: *const c_void = ptr::null();
            let entered = libc::syscall(
                libc::SYS_io_uring_enter,
                self.descriptor,
                1,
                1,
                ENTER_GETEVENTS,
                nothing,
                0,
            );
            assert_eq!(entered, 1, "io_uring_enter");
            let head = index(self.completions, self.params.cq.head);
            let seen = head.load(Ordering::Relaxed);
            assert_ne!(
                index(self.completions, self.params.cq.tail).load(Ordering::Acquire),
                seen,
                "a completion"
            );
            let completions = self
                .completions
                .byte_add(self.params.cq.cqes as usize)
                .cast::<Cqe>();
            let completion = completions
                .add((seen & (self.params.cq_entries - 1)) as usize)
                .read();
            head.store(seen.wrapping_add(1), Ordering::Release);
            completion
        };
        assert_eq!(completion.user_data, self.submitted);
        say(&format!(
            "uring operation={name} result={}",
            completion.result
        ));
        completion.result
    }
}

fn map(descriptor: c_int, length: usize, offset: libc::off_t) -> Result<*mut c_void, Errno> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length,
            protection,
            flags,
            descriptor,
            offset,
        )
    };
    if address == libc::MAP_FAILED {
        Err(Errno::last())
    } else {
        Ok(address)
    }
}

/// Opens, writes, syncs, reads and closes a file in the working directory.
pub(crate) fn a_file() -> i32 {
    let mut ring = match Ring::new() {
        Ok(ring) => ring,
        Err(errno) => {
            say(&format!("uring operation=setup result={}", -(errno as i32)));
            return UNSUPPORTED;
        }
    };
    let path: *const c_char = c"written-by-uring".as_ptr();
    let text = *b"a line\n";
    let mut buffer = [0_u8; 16];
    let file = ring.run(
        "IORING_OP_OPENAT",
        Sqe {
            opcode: OP_OPENAT,
            fd: libc::AT_FDCWD,
            address: path.addr() as u64,
            length: 0o600,
            op_flags: (libc::O_RDWR | libc::O_CREAT).cast_unsigned(),
            ..Sqe::default()
        },
    );
    let of_file = |opcode| Sqe {
        opcode,
        fd: file,
        ..Sqe::default()
    };
    let written = ring.run(
        "IORING_OP_WRITE",
        Sqe {
            address: text.as_ptr().addr() as u64,
            length: text.len() as u32,
            ..of_file(OP_WRITE)
        },
    );
    let synced = ring.run("IORING_OP_FSYNC", of_file(OP_FSYNC));
    let read = ring.run(
        "IORING_OP_READ",
        Sqe {
            address: buffer.as_mut_ptr().addr() as u64,
            length: buffer.len() as u32,
            ..of_file(OP_READ)
        },
    );
    let closed = ring.run("IORING_OP_CLOSE", of_file(OP_CLOSE));
    i32::from([written, synced, read, closed] != [7, 0, 7, 0] || !buffer.starts_with(&text))
}
