//! Operations handed to the kernel through an io_uring, without a library (`io_uring(7)`).

use std::ffi::{CStr, c_void};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::errno::Errno;
use nix::libc;

use crate::kernel::say;

/// `struct io_uring_params` with its two structures of offsets.
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
    /// head, tail, ring_mask, ring_entries, flags, dropped, array, resv1.
    sq_off: [u32; 8],
    sq_user_addr: u64,
    /// head, tail, ring_mask, ring_entries, overflow, cqes, flags, resv1.
    cq_off: [u32; 8],
    cq_user_addr: u64,
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sqe {
    opcode: u8,
    flags: u8,
    ioprio: u16,
    fd: i32,
    off: u64,
    addr: u64,
    len: u32,
    op_flags: u32,
    user_data: u64,
    rest: [u64; 3],
}

const NOP: u8 = 0;
const FSYNC: u8 = 3;
const OPENAT: u8 = 18;
const CLOSE: u8 = 19;
const READ: u8 = 22;
const WRITE: u8 = 23;

const IOSQE_IO_LINK: u8 = 1 << 2;
const IORING_SETUP_SQPOLL: u32 = 1 << 1;
const IORING_ENTER_GETEVENTS: u32 = 1 << 0;
const IORING_ENTER_SQ_WAKEUP: u32 = 1 << 1;
const IORING_OFF_SQES: i64 = 0x1000_0000;
const ENTRIES: u32 = 8;

/// How many milliseconds the kernel's thread looks for work before it sleeps: longer than the whole
/// workload takes.
const IDLE: u32 = 60_000;

const PATH: &CStr = c"uring.txt";
const TEXT: &[u8; 6] = b"hello\n";

/// Opens, writes, syncs, reads and closes a file, one operation after the other, and then submits
/// three linked ones that do nothing together. `polled`: a thread of the kernel's takes the
/// submissions, and no call is made for them.
pub(crate) fn uring(polled: bool) -> i32 {
    let flags = if polled { IORING_SETUP_SQPOLL } else { 0 };
    let mut ring = match Ring::new(flags) {
        Ok(ring) => ring,
        Err(errno) => {
            say(&format!("setup errno={errno:?}"));
            return crate::UNSUPPORTED;
        }
    };
    let mut read = [0_u8; TEXT.len()];
    let open = Sqe {
        opcode: OPENAT,
        fd: libc::AT_FDCWD,
        addr: PATH.as_ptr() as u64,
        len: 0o600,
        op_flags: (libc::O_RDWR | libc::O_CREAT) as u32,
        ..Sqe::default()
    };
    let fd = ring.run("OPENAT", &[open]);
    let on_file = |opcode, addr: *const c_void, len: usize| Sqe {
        opcode,
        fd,
        addr: addr as u64,
        len: len as u32,
        ..Sqe::default()
    };
    ring.run("WRITE", &[on_file(WRITE, TEXT.as_ptr().cast(), TEXT.len())]);
    ring.run("FSYNC", &[on_file(FSYNC, std::ptr::null(), 0)]);
    let buffer = read.as_mut_ptr().cast_const().cast();
    ring.run("READ", &[on_file(READ, buffer, TEXT.len())]);
    ring.run("CLOSE", &[on_file(CLOSE, std::ptr::null(), 0)]);
    let nop = |flags| Sqe {
        opcode: NOP,
        flags,
        ..Sqe::default()
    };
    ring.run("NOP", &[nop(IOSQE_IO_LINK), nop(IOSQE_IO_LINK), nop(0)]);
    say(&format!("read same={}", read == *TEXT));
    0
}

/// `struct io_uring_rsrc_register`.
#[repr(C)]
struct Registered {
    nr: u32,
    flags: u32,
    resv2: u64,
    data: u64,
    tags: u64,
    /// What no kernel knows.
    more: u64,
}

/// `struct io_uring_rsrc_update2`.
#[repr(C)]
struct Updated {
    offset: u32,
    resv: u32,
    data: u64,
    tags: u64,
    nr: u32,
    resv2: u32,
}

/// Registers files and buffers with tags, changes them, and restricts what a ring may do; some of
/// it is refused.
pub(crate) fn registered() -> i32 {
    let ring = match Ring::new(0) {
        Ok(ring) => ring,
        Err(errno) => {
            say(&format!("setup errno={errno:?}"));
            return crate::UNSUPPORTED;
        }
    };
    let (files, skipped) = ([0_i32, 1, -1], [-2_i32, 2, -1]);
    let text = *TEXT;
    let buffers = [
        [text.as_ptr() as u64, text.len() as u64],
        [text.as_ptr() as u64, 1],
    ];
    let (tags, none) = ([7_u64, 0xffff_ffff_ffff, 0], std::ptr::null::<u64>());
    let all = |nr, data: *const c_void, tags: *const u64, more| Registered {
        nr,
        flags: 0,
        resv2: 0,
        data: data as u64,
        tags: tags as u64,
        more,
    };
    let change = |nr, data: *const c_void, tags: *const u64| Updated {
        offset: 1,
        resv: 0,
        data: data as u64,
        tags: tags as u64,
        nr,
        resv2: 0,
    };
    let (files, skipped) = (files.as_ptr().cast(), skipped.as_ptr().cast());
    let buffers = buffers.as_ptr().cast();
    for (operation, given, size) in [
        (13, all(3, files, tags.as_ptr(), 0), 32),
        (13, all(3, files, none, 5), 40),
        (13, all(0, files, none, 0), 32),
        (13, all(3, files, none, 0), 31),
        (15, all(2, buffers, tags.as_ptr(), 0), 32),
        (15, all(2, buffers, std::ptr::dangling(), 0), 32),
    ] {
        ring.register(operation, (&raw const given).cast(), size);
    }
    for (operation, given) in [
        (14, change(2, skipped, none)),
        (14, change(2, skipped, tags.as_ptr())),
        (16, change(1, buffers, tags.as_ptr())),
    ] {
        ring.register(operation, (&raw const given).cast(), 32);
    }
    // `struct io_uring_restriction[]`.
    let restrictions: [[u8; 16]; 3] = [[0, 0, 2], [1, 0, READ], [2, 0, IOSQE_IO_LINK]].map(|one| {
        let mut whole = [0; 16];
        whole[..3].copy_from_slice(&one);
        whole
    });
    ring.register(11, restrictions.as_ptr().cast(), 3);
    0
}

/// A ring and its mappings, which last as long as the process.
struct Ring {
    fd: RawFd,
    params: Params,
    rings: *mut u8,
    sqes: *mut Sqe,
    submitted: u32,
}

impl Ring {
    fn new(flags: u32) -> Result<Self, Errno> {
        let mut params = Params {
            flags,
            sq_thread_idle: IDLE,
            ..Params::default()
        };
        // SAFETY: the structure is the kernel's and lives beyond the call.
        let fd = Errno::result(unsafe {
            libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut params)
        })?;
        let fd = RawFd::try_from(fd).expect("a descriptor");
        let [.., cqes, _, _] = params.cq_off;
        let submissions = params.sq_off[6] + params.sq_entries * 4;
        // Both rings are one mapping (IORING_FEAT_SINGLE_MMAP, Linux 5.4).
        let length = submissions.max(cqes + params.cq_entries * 16);
        let rings = map(fd, length as usize, 0)?.cast();
        let n_sqes = params.sq_entries as usize;
        let sqes = map(fd, n_sqes * size_of::<Sqe>(), IORING_OFF_SQES)?.cast();
        Ok(Self {
            fd,
            params,
            rings,
            sqes,
            submitted: 0,
        })
    }

    /// Whatever the kernel says to it.
    fn register(&self, operation: u32, given: *const c_void, n: u32) {
        let call = libc::SYS_io_uring_register;
        // SAFETY: what is registered has no memory that anything else uses, and the kernel checks
        // the addresses.
        unsafe { libc::syscall(call, self.fd, operation, given, n) };
    }

    /// A word of the mapping that both sides change.
    fn shared(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: the kernel gave the offset, which lies in the mapping and is aligned; the mapping
        // is never taken away.
        unsafe { AtomicU32::from_ptr(self.rings.add(offset as usize).cast()) }
    }

    /// Submits the operations together, waits for all of them, says what was submitted, and returns
    /// the last one's result.
    fn run(&mut self, name: &str, operations: &[Sqe]) -> i32 {
        let [_, tail, mask, _, flags, _, array, _] = self.params.sq_off;
        let mask = self.shared(mask).load(Ordering::Relaxed);
        let start = self.shared(tail).load(Ordering::Relaxed);
        let n = operations.len() as u32;
        for (operation, at) in operations.iter().zip(start..) {
            let place = at & mask;
            self.submitted += 1;
            let sqe = Sqe {
                user_data: u64::from(self.submitted),
                ..*operation
            };
            // SAFETY: the place is below the number of entries, and the kernel has taken what stood
            // there.
            unsafe { self.sqes.add(place as usize).write(sqe) };
            self.shared(array + place * 4)
                .store(place, Ordering::Relaxed);
            say(&format!(
                "submit name={name} user_data={} flags={}",
                sqe.user_data, sqe.flags
            ));
        }
        let [completed, ..] = self.params.cq_off;
        let done = self.shared(completed).load(Ordering::Relaxed);
        self.shared(tail).store(start + n, Ordering::SeqCst);
        let mut how = IORING_ENTER_GETEVENTS;
        if self.shared(flags).load(Ordering::SeqCst) & 1 != 0 {
            how |= IORING_ENTER_SQ_WAKEUP;
        }
        // SAFETY: without IORING_ENTER_EXT_ARG the call takes numbers and a null pointer.
        let entered = Errno::result(unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd,
                n,
                n,
                how,
                std::ptr::null::<c_void>(),
                0,
            )
        });
        assert_eq!(entered, Ok(i64::from(n)), "io_uring_enter");
        self.complete(done, n)
    }

    /// Takes so many completions from the ring and returns the last one's result.
    fn complete(&self, done: u32, n: u32) -> i32 {
        let [head, tail, mask, _, _, cqes, ..] = self.params.cq_off;
        assert_eq!(self.shared(tail).load(Ordering::Acquire), done + n);
        let last = (done + n - 1) & self.shared(mask).load(Ordering::Relaxed);
        // The result is behind the eight bytes of `user_data`.
        let result = self.shared(cqes + last * 16 + 8).load(Ordering::Relaxed);
        self.shared(head).store(done + n, Ordering::Release);
        let result = result.cast_signed();
        assert!(result >= 0, "{}", Errno::from_raw(-result));
        result
    }
}

fn map(fd: RawFd, length: usize, offset: i64) -> Result<*mut c_void, Errno> {
    // SAFETY: a new mapping at a place of the kernel's choice touches no memory that is in use.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            fd,
            offset,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    Ok(address)
}
