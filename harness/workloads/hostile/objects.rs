//! Descriptors, limits, and objects of the kernel that no file system shows.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::AsRawFd;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::kernel::{address, call, orphan, wait_for_ever, word};

/// Ends with none of the descriptors that it was given.
pub(crate) fn closes_descriptors() -> i32 {
    call(libc::SYS_close_range, &[0, u32::MAX as usize]).expect("close_range");
    wait_for_ever()
}

/// Has as many as it may.
pub(crate) fn exhausts_descriptors() -> i32 {
    setrlimit(Resource::RLIMIT_NOFILE, 4096, 4096).expect("setrlimit");
    let mut open = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => return i32::from(error.raw_os_error() != Some(libc::EMFILE)),
        }
    }
}

/// Raises what it can, lowers all of it to nothing, and leaves a child with that.
pub(crate) fn plays_with_limits() -> i32 {
    let all = [
        Resource::RLIMIT_NOFILE,
        Resource::RLIMIT_FSIZE,
        Resource::RLIMIT_CORE,
        Resource::RLIMIT_NPROC,
        Resource::RLIMIT_MEMLOCK,
        Resource::RLIMIT_STACK,
        Resource::RLIMIT_AS,
    ];
    for resource in all {
        let _refused = setrlimit(resource, libc::RLIM_INFINITY, libc::RLIM_INFINITY);
        let (_, hard) = getrlimit(resource).expect("getrlimit");
        setrlimit(resource, hard, hard).expect("setrlimit");
    }
    orphan(|| {
        for resource in all {
            setrlimit(resource, 0, 0).expect("setrlimit");
        }
        wait_for_ever()
    });
    0
}

/// A process may set the limits of any process of the same user, process 1 included. It leaves the
/// limit of CPU time, by which the kernel would end process 1 at its next tick, and with it the
/// caller.
pub(crate) fn limits_init() -> i32 {
    let none = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let limits = (&raw const none) as usize;
    for resource in (0..16).filter(|resource| *resource != libc::RLIMIT_CPU as usize) {
        let _refused = call(libc::SYS_prlimit64, &[1, resource, limits, 0]);
    }
    let idle = libc::sched_param { sched_priority: 0 };
    let policy = libc::SCHED_IDLE as usize;
    let _refused = call(
        libc::SYS_sched_setscheduler,
        &[1, policy, (&raw const idle) as usize],
    );
    let _refused = call(libc::SYS_setpriority, &[libc::PRIO_PROCESS as usize, 1, 19]);
    0
}

/// Memory, a queue and semaphores that stay until they are removed.
pub(crate) fn system_v_ipc() -> i32 {
    let key = 0x6861_726e;
    let flags = (libc::IPC_CREAT | libc::IPC_EXCL | 0o666) as usize;
    call(libc::SYS_shmget, &[key, 1 << 16, flags]).expect("shmget");
    call(libc::SYS_msgget, &[key, flags]).expect("msgget");
    call(libc::SYS_semget, &[key, 4, flags]).expect("semget");
    0
}

/// The same by the names of POSIX.
pub(crate) fn posix_ipc() -> i32 {
    let name = c"harness-hostile";
    let flags = (libc::O_CREAT | libc::O_EXCL | libc::O_RDWR) as usize;
    call(libc::SYS_mq_open, &[address(name), flags, 0o666, 0]).expect("mq_open");
    std::fs::write("/dev/shm/harness-hostile", [0; 1 << 16]).expect("shared memory");
    0
}

/// Keys in every keyring that it has.
pub(crate) fn keys() -> i32 {
    let rings = [
        libc::KEY_SPEC_THREAD_KEYRING,
        libc::KEY_SPEC_PROCESS_KEYRING,
        libc::KEY_SPEC_SESSION_KEYRING,
        libc::KEY_SPEC_USER_KEYRING,
        libc::KEY_SPEC_USER_SESSION_KEYRING,
    ];
    let (kind, name, secret): (&CStr, &CStr, [u8; 512]) = (c"user", c"harness-hostile", [0; 512]);
    let key = |ring: i32| {
        let words = [
            address(kind),
            address(name),
            secret.as_ptr() as usize,
            secret.len(),
        ];
        call(libc::SYS_add_key, &[&words[..], &[word(ring)]].concat())
    };
    key(libc::KEY_SPEC_PROCESS_KEYRING).expect("add_key");
    for ring in rings {
        let _refused = key(ring);
    }
    0
}

/// Ends while the kernel still works for it: a read of a pipe without a writer.
pub(crate) fn pending_io_uring() -> i32 {
    // `struct io_uring_params`: of its words only the places of the queue's parts are looked at.
    let mut params = [0_u32; 30];
    let ring = match call(libc::SYS_io_uring_setup, &[8, params.as_mut_ptr() as usize]) {
        Ok(ring) => ring,
        // Where an administrator forbids it, there is nothing to be hostile with.
        Err(nix::errno::Errno::EPERM | nix::errno::Errno::ENOSYS) => return 0,
        Err(error) => panic!("io_uring_setup: {error}"),
    };
    let map = |offset: usize| {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_POPULATE) as usize;
        call(libc::SYS_mmap, &[0, 4096, protection, flags, ring, offset]).expect("mmap")
    };
    let (queue, entries) = (map(0), map(0x1000_0000));
    let (reader, writer) = nix::unistd::pipe().expect("pipe");
    let mut buffer = [0_u8; 64];
    // `struct io_uring_sqe`: opcode (READ) in the first byte, the descriptor in the second half of
    // the first word, no offset, address, length.
    let descriptor = reader.as_raw_fd().cast_unsigned();
    let entry = [
        22 | u64::from(descriptor) << 32,
        u64::MAX,
        buffer.as_mut_ptr() as u64,
        buffer.len() as u64,
    ];
    let store = |at: usize, value: u32| {
        // SAFETY: the place lies in the mapping of the ring, which lives as long as the process.
        unsafe { std::ptr::with_exposed_provenance_mut::<u32>(at).write_volatile(value) };
    };
    for (number, word) in entry.iter().enumerate() {
        store(entries + 8 * number, *word as u32);
        store(entries + 8 * number + 4, (*word >> 32) as u32);
    }
    // The tail of the queue and its array of indices: second and seventh word of `sq_off`.
    store(queue + params[16] as usize, 0);
    store(queue + params[11] as usize, 1);
    assert_eq!(
        call(libc::SYS_io_uring_enter, &[ring, 1]),
        Ok(1),
        "submitted"
    );
    std::mem::forget((reader, writer));
    0
}

/// Looks for a terminal to type into.
pub(crate) fn terminal() -> i32 {
    const TIOCSTI: usize = 0x5412;
    const TIOCSCTTY: usize = 0x540e;
    for path in [
        "/dev/tty",
        "/dev/console",
        "/dev/pts/0",
        "/dev/tty1",
        "/dev/stderr",
    ] {
        if let Ok(file) = File::options().read(true).open(path) {
            let descriptor = word(file.as_raw_fd());
            let _refused = call(libc::SYS_ioctl, &[descriptor, TIOCSCTTY, 1]);
            let byte = b' ';
            let _refused = call(
                libc::SYS_ioctl,
                &[descriptor, TIOCSTI, (&raw const byte) as usize],
            );
        }
    }
    0
}

/// Touches memory whose pages it has to bring itself, and never does (`userfaultfd(2)`).
pub(crate) fn faults_for_ever() -> i32 {
    const UFFD_USER_MODE_ONLY: usize = 1;
    const UFFDIO_API: usize = 0xc018_aa3f;
    const UFFDIO_REGISTER: usize = 0xc020_aa00;
    let Ok(fault) = call(libc::SYS_userfaultfd, &[UFFD_USER_MODE_ONLY]) else {
        // Not every kernel is built with it.
        wait_for_ever();
    };
    let api: [u64; 3] = [0xaa, 0, 0];
    call(libc::SYS_ioctl, &[fault, UFFDIO_API, api.as_ptr() as usize]).expect("UFFDIO_API");
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
    let page = call(libc::SYS_mmap, &[0, 4096, protection, flags, usize::MAX]).expect("mmap");
    // Start, length, mode (missing pages), what is possible.
    let range: [u64; 4] = [page as u64, 4096, 1, 0];
    call(
        libc::SYS_ioctl,
        &[fault, UFFDIO_REGISTER, range.as_ptr() as usize],
    )
    .expect("UFFDIO_REGISTER");
    // SAFETY: the page is mapped and readable, and only this function uses it.
    let byte = unsafe { std::ptr::with_exposed_provenance::<u8>(page).read_volatile() };
    i32::from(byte)
}
