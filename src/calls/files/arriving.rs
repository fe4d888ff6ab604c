//! Descriptors that come otherwise than by a call which says what it opens.
//!
//! Every way by which a number can come to mean something, or something else, and what is made of
//! it:
//!
//! | way | followed as |
//! |---|---|
//! | `open`, `socket`, `pipe`, `dup`, ... | what it opens; unknown where the name was not read |
//! | `pidfd_getfd` | unknown: it may be any description of any process |
//! | `SCM_RIGHTS`, `SCM_PIDFD` by `recvmsg`, `recvmmsg`, `socketcall` | every number that is not known as open becomes unknown, also where the call fails with `EFAULT`, before which they are installed |
//! | `SECCOMP_IOCTL_NOTIF_ADDFD` | the number that it returns is unknown in every table; while it runs all numbers are |
//! | `SO_PEERPIDFD`, `TIOCGPTPEER`, `SIOCGSKNS`, `SIOCKCMCLONE`, and every request of `ioctl` of drivers (binder, drm, vfio, kvm, fuse, autofs, nsfs, ...) | every number that is not known as open becomes unknown |
//! | `io_uring`: opening, accepting, receiving, `FIXED_FD_INSTALL`; closing | from the submission on, or from the making of a ring whose submissions are not seen, nothing that a ring may open or close is known; direct descriptors are no numbers, and `MSG_RING` passes only these |
//! | `fanotify`, `userfaultfd`: events have descriptors | from the making of one on, or the coming of an unknown descriptor that may be one, numbers that are not known as open are unknown |
//! | `bpf`, `perf_event_open`, ... | an object; a BPF program that is run as a call (`BPF_PROG_TEST_RUN`) opens and closes any |
//! | `fork`, `clone`, `CLONE_FILES`, `unshare`, `CLOSE_RANGE_UNSHARE` | a copy, the same table, or perhaps one of both |
//! | `exec` | what closes on exec is closed |
//! | a tracer that has a task make calls (`ptrace`) | the task's own calls: they are seen where it makes them, with the arguments that the kernel uses |
//! | `kcmp` and procfs | nothing changes by looking; `/proc/PID/fd/N` is opened like a path |
//!
//! Not seen: the program that an `exec` opens for its interpreter (`binfmt_misc` with the flag
//! `O`), and what a security module closes at an `exec` (`flush_unauthorized_files()`). Both take a
//! machine that is set up so; no workload in a sandbox can do that.

use super::super::Call;
use super::effects::Over;
use super::lookup::State;
use super::table::{Number, Range};
use super::tables::{At, Tables};

impl Tables {
    /// A call returned another descriptor of something that is open elsewhere.
    pub(super) fn arrived(&mut self, over: Over<'_>, number: u32, call: &mut Call) {
        call.files.set_result(State::Unknown);
        let range = Range::one(number);
        self.change(over.at, range, |table| table.set(number, Number::Unknown));
        self.reads_open(over.at);
    }

    /// Descriptors of anything may have come, under numbers that are told in memory only.
    pub(super) fn received(&mut self, at: At) {
        self.forget_closed(at);
        // Reading from one of these may open more.
        self.reads_open(at);
    }

    /// A BPF program made calls, which have no records.
    pub(super) fn ran(&mut self, at: At) {
        self.ring_works(at, true, true);
    }

    /// A call that installs a descriptor in another task's table is over; it returned the number,
    /// or failed.
    pub(super) fn installed_elsewhere(&mut self, at: At, number: Option<u32>) {
        self.installing.retain(|thread| *thread != at.thread);
        let Some(number) = number else { return };
        let range = Range::one(number);
        for (_, table) in self.tables.iter_mut() {
            table.forget(range);
            table.disturb(range, at.thread);
            table.reads_open = true;
        }
    }

    /// Nothing is known any more of any table.
    pub(super) fn forget_everywhere(&mut self) {
        for (_, table) in self.tables.iter_mut() {
            table.forget_all();
        }
    }
}
