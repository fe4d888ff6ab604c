//! Has the calls of the workload held, in the last moment before its program.

use super::child::errno;
use crate::sys::gate::{
    Instruction, NEW_LISTENER, Parcel, SET_MODE_FILTER, WAIT_KILLABLE_RECV, said,
};
use libc::c_int;

/// What is laid out for it beforehand.
pub(super) struct Prepared {
    /// The end of the socket by which the listener goes to the harness.
    pub(super) socket: c_int,
    pub(super) filter: *const Instruction,
    pub(super) length: u16,
}

impl Prepared {
    /// Installs the filter, and sends its listener through the socket. From then on calls wait,
    /// but for those with the token.
    ///
    /// # Safety
    /// Only in a child; the filter has so many instructions.
    #[expect(
        clippy::multiple_unsafe_ops_per_block,
        reason = "a straight line of system calls"
    )]
    pub(super) unsafe fn install(&self, socket: c_int, token: u64) -> Result<(), c_int> {
        let program = libc::sock_fprog {
            len: self.length,
            filter: self.filter.cast_mut().cast(),
        };
        let mut flags = NEW_LISTENER | WAIT_KILLABLE_RECV;
        let mut byte = said::KILLABLE;
        // SAFETY: a whole sock_fprog, a whole msghdr, and numbers.
        unsafe {
            let number = libc::SYS_seccomp;
            let listener = loop {
                let got = libc::syscall(number, SET_MODE_FILTER, flags, &raw const program);
                if got != -1 {
                    break got as c_int;
                }
                match errno() {
                    libc::EINVAL if flags & WAIT_KILLABLE_RECV != 0 => {
                        flags &= !WAIT_KILLABLE_RECV;
                        byte &= !said::KILLABLE;
                    }
                    libc::EACCES if byte & said::NO_NEW_PRIVILEGES == 0 => {
                        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 {
                            return Err(errno());
                        }
                        byte |= said::NO_NEW_PRIVILEGES;
                    }
                    error => return Err(error),
                }
            };
            let mut vector = libc::iovec {
                iov_base: (&raw mut byte).cast(),
                iov_len: 1,
            };
            let mut parcel = Parcel::of(listener);
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut vector;
            message.msg_iovlen = 1;
            message.msg_control = (&raw mut parcel).cast();
            message.msg_controllen = size_of::<Parcel>() as _;
            let (number, how) = (libc::SYS_sendmsg, libc::MSG_NOSIGNAL);
            match libc::syscall(number, socket, &raw const message, how, 0, 0, token) {
                -1 => Err(errno()),
                _ => Ok(()),
            }
        }
    }
}

/// The filter that refuses calls.
pub(super) struct Refusing {
    pub(super) filter: *const Instruction,
    pub(super) length: u16,
}

impl Refusing {
    /// Installs the filter. From then on calls are refused, but for those with the token; it stands
    /// beside the one of the gate, and of both answers the kernel takes the harder.
    ///
    /// # Safety
    /// Only in a child; the filter has so many instructions.
    #[expect(
        clippy::multiple_unsafe_ops_per_block,
        reason = "a straight line of system calls"
    )]
    pub(super) unsafe fn install(&self, token: u64) -> Result<(), c_int> {
        let program = libc::sock_fprog {
            len: self.length,
            filter: self.filter.cast_mut().cast(),
        };
        let (number, mode) = (libc::SYS_seccomp, SET_MODE_FILTER);
        // SAFETY: a whole sock_fprog, and numbers.
        unsafe {
            // The gate may hold this very call.
            if libc::syscall(number, mode, 0, &raw const program, 0, 0, token) != -1 {
                return Ok(());
            }
            if errno() != libc::EACCES {
                return Err(errno());
            }
            // As what it is, it may have no filter without.
            if libc::syscall(
                libc::SYS_prctl,
                libc::PR_SET_NO_NEW_PRIVS,
                1,
                0,
                0,
                0,
                token,
            ) == -1
            {
                return Err(errno());
            }
            match libc::syscall(number, mode, 0, &raw const program, 0, 0, token) {
                -1 => Err(errno()),
                _ => Ok(()),
            }
        }
    }
}
