//! Processes that mean to outlive the main one.

use std::fs::File;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use nix::libc;

use crate::kernel::{call, fork, kill, orphan, reap, wait_for_ever};

/// The daemon's main process has ended, and it has init for its parent.
pub(crate) fn double_fork() -> i32 {
    orphan(|| wait_for_ever());
    0
}

/// As `daemon(3)`: a session of its own, no folder in use, output thrown away.
pub(crate) fn session() -> i32 {
    orphan(|| {
        call(libc::SYS_setsid, &[]).expect("setsid");
        orphan(|| {
            std::env::set_current_dir("/").expect("the root");
            nix::unistd::dup2_stdout(File::options().write(true).open("/dev/null").expect("null"))
                .expect("dup2");
            wait_for_ever()
        });
        wait_for_ever()
    });
    0
}

/// Neither the end of a pipe nor a lock tells of this one.
pub(crate) fn closes_everything() -> i32 {
    orphan(|| {
        call(libc::SYS_close_range, &[0, u32::MAX as usize]).expect("close_range");
        wait_for_ever()
    });
    0
}

/// Who reads its output to the end reads for ever.
pub(crate) fn holds_output() -> i32 {
    orphan(|| {
        crate::kernel::say("still here");
        wait_for_ever()
    });
    0
}

/// A stopped process takes no signal but `SIGKILL` and `SIGCONT`.
pub(crate) fn stops_itself() -> i32 {
    let (reader, writer) = nix::unistd::pipe().expect("pipe");
    orphan(|| {
        nix::unistd::write(&writer, b"x").expect("write");
        kill(std::process::id().cast_signed(), libc::SIGSTOP).expect("kill");
        wait_for_ever()
    });
    nix::unistd::read(&reader, &mut [0]).expect("read");
    0
}

/// A new process every moment, and the old one gone: who kills by number comes too late.
pub(crate) fn hops() -> i32 {
    orphan(|| {
        loop {
            // The child goes round, the parent ends.
            match call(libc::SYS_clone, &[libc::SIGCHLD as usize]) {
                Ok(0) | Err(_) => {}
                Ok(_) => return 0,
            }
        }
    });
    0
}

/// Files of `/proc` about it belong to root, and it cannot be traced.
pub(crate) fn is_not_dumpable() -> i32 {
    orphan(|| {
        nix::sys::prctl::set_dumpable(false).expect("prctl");
        nix::sys::prctl::set_name(c"[kthreadd]").expect("prctl");
        wait_for_ever()
    });
    0
}

/// Each of these is an object of the kernel with a life of its own.
pub(crate) fn holds_objects() -> i32 {
    orphan(|| {
        let path = c".";
        let inotify = call(libc::SYS_inotify_init1, &[0]).expect("inotify_init1");
        let watch = [
            inotify,
            crate::kernel::address(path),
            libc::IN_ALL_EVENTS as usize,
        ];
        call(libc::SYS_inotify_add_watch, &watch).expect("inotify_add_watch");
        let epoll = call(libc::SYS_epoll_create1, &[0]).expect("epoll_create1");
        let event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: 0,
        };
        let add = [
            epoll,
            libc::EPOLL_CTL_ADD as usize,
            inotify,
            (&raw const event) as usize,
        ];
        call(libc::SYS_epoll_ctl, &add).expect("epoll_ctl");
        let timer = call(libc::SYS_timerfd_create, &[0, 0]).expect("timerfd_create");
        // Every microsecond: interval and first time, each in seconds and nanoseconds.
        let times: [i64; 4] = [0, 1000, 0, 1000];
        call(
            libc::SYS_timerfd_settime,
            &[timer, 0, times.as_ptr() as usize],
        )
        .expect("timerfd");
        let name = c"hostile";
        call(libc::SYS_memfd_create, &[crate::kernel::address(name), 0]).expect("memfd_create");
        call(libc::SYS_eventfd2, &[0, 0]).expect("eventfd2");
        wait_for_ever()
    });
    0
}

/// A name that is in no folder, and a port.
pub(crate) fn listens() -> i32 {
    let name = SocketAddr::from_abstract_name("harness-hostile").expect("a name");
    let socket = UnixListener::bind_addr(&name).expect("an abstract name that is free");
    let server = TcpListener::bind("127.0.0.1:4242").expect("a port that is free");
    orphan(|| wait_for_ever());
    drop((socket, server));
    0
}

/// Its descendants' orphans come to the main process and not to init, and ask to die with it by a
/// signal that they ignore.
pub(crate) fn of_a_subreaper() -> i32 {
    nix::sys::prctl::set_child_subreaper(true).expect("prctl");
    let middle = fork(|| {
        fork(|| {
            // SAFETY: to ignore a signal runs no code of this program.
            unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM).expect("prctl");
            wait_for_ever()
        });
        0
    });
    reap(middle);
    0
}
