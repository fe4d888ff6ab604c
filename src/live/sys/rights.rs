//! Capabilities that the program's file lends to every user who runs it (`setcap(8)`), raised for
//! single calls.
//!
//! A user who runs such a file has its capabilities for all that the process does: each path that
//! the user names would be opened with them. So [`settle`] takes them out of the effective set
//! before anything else, and [`with`] puts those that one call needs back for that call, in its
//! thread alone. The permitted set keeps them until [`forget`]. If nothing was lent (root, an
//! ordinary user, ambient capabilities, which their holder has in any program), all of this does
//! nothing.
//!
//! The process is not dumpable while anything is lent, and stays so: only root may trace it, take
//! its descriptors or read its memory (`__ptrace_may_access()`), even after some of its threads
//! have forgotten.

use super::check;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// A capability that calls of this room need (`capabilities(7)`), by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Right {
    /// To write files of tracefs that are root's.
    DacOverride = 1,
    /// To read files of tracefs.
    DacReadSearch = 2,
    /// To lock memory for rings.
    IpcLock = 14,
    /// To mount tracefs, to load BPF programs, and to make a user namespace where a user may not;
    /// to open events where `kernel.perf_event_paranoid` is 3.
    SysAdmin = 21,
    /// To lift the limit of locked memory, which BPF counts against before Linux 5.11.
    SysResource = 24,
    /// To open events that show the kernel.
    Perfmon = 38,
    /// To load BPF programs, together with [`Perfmon`](Self::Perfmon), and to read their maps
    /// before Linux 5.19.
    Bpf = 39,
}

/// The program's file has a set-user-ID or set-group-ID bit: paths that its caller names would be
/// opened with another user's rights.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the program's file has a set-user-ID or set-group-ID bit, and it does nothing with the rights of another user"
)]
pub struct SetIdError;

static LENT: AtomicBool = AtomicBool::new(false);

// `_LINUX_CAPABILITY_VERSION_3`, include/uapi/linux/capability.h.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

// The low 32 capabilities of each set, and then the high ones.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

type Sets = [Data; 2];

/// Takes the capabilities that the file lends out of the effective set. To be called first of all,
/// while there is one thread: capabilities are a thread's.
///
/// # Errors
/// [`SetIdError`].
///
/// # References
/// `AT_SECURE` in `getauxval(3)`; "Transformation of capabilities during execve()" in
/// `capabilities(7)`: the kernel clears the ambient set for such a file. The inheritable set is the
/// user's own, with the file or without it.
pub fn settle() -> Result<(), SetIdError> {
    let (user, group) = (nix::unistd::getuid(), nix::unistd::getgid());
    if user != nix::unistd::geteuid() || group != nix::unistd::getegid() {
        return Err(SetIdError);
    }
    // SAFETY: it takes a number and gives one.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let sets = sets().unwrap_or_default();
    let has_any = sets.iter().any(|half| half.permitted != 0);
    if user.is_root() || !is_secure || !has_any {
        return Ok(());
    }
    LENT.store(true, Ordering::Relaxed);
    // SAFETY: prctl takes numbers. `fs.suid_dumpable` may have made it dumpable.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    set_effective(sets, [0; 2]);
    Ok(())
}

/// Whether the program's file lent capabilities to its user, forgotten or not.
#[must_use]
pub fn are_lent() -> bool {
    LENT.load(Ordering::Relaxed)
}

/// Does something with rights that were lent, as far as they were.
pub fn with<T>(rights: &[Right], act: impl FnOnce() -> T) -> T {
    let _raised = Raised::new(rights);
    act()
}

/// Gives up for good all that was lent, in the calling thread and those that it comes to start.
pub fn forget() {
    forget_all_but(&[]);
}

/// As above, but for these.
pub fn forget_all_but(kept: &[Right]) {
    if are_lent()
        && let Ok(mut sets) = sets()
    {
        let kept = mask(kept);
        for (half, kept) in sets.iter_mut().zip(kept) {
            half.permitted &= kept;
        }
        set_effective(sets, [0; 2]);
    }
}

fn mask(rights: &[Right]) -> [u32; 2] {
    let all = rights
        .iter()
        .fold(0_u64, |all, right| all | 1 << *right as u32);
    [all as u32, (all >> 32) as u32]
}

/// Rights that are raised for as long as this value lives.
#[derive(Debug)]
pub(super) struct Raised(Option<[u32; 2]>);

impl Raised {
    pub(super) fn new(rights: &[Right]) -> Self {
        if !are_lent() {
            return Self(None);
        }
        let Ok(sets) = sets() else {
            return Self(None);
        };
        let [low, high] = sets;
        let before = [low.effective, high.effective];
        let [wanted_low, wanted_high] = mask(rights);
        let raised = [
            low.effective | (wanted_low & low.permitted),
            high.effective | (wanted_high & high.permitted),
        ];
        set_effective(sets, raised);
        Self(Some(before))
    }

    /// Leaves the capabilities as they are, for a child in another user namespace, where they have
    /// another meaning.
    pub(super) fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = self.0
            && let Ok(sets) = sets()
        {
            set_effective(sets, before);
        }
    }
}

fn sets() -> io::Result<Sets> {
    let (header, mut sets) = (header(), Sets::default());
    let (from, to) = (&raw const header, sets.as_mut_ptr());
    // SAFETY: version 3 has two elements, and the kernel writes both.
    check(unsafe { libc::syscall(libc::SYS_capget, from, to) })?;
    Ok(sets)
}

/// Sets no more than the thread may have, which the kernel never refuses. Were it to refuse to take
/// rights away, nothing may go on.
fn set_effective(mut sets: Sets, effective: [u32; 2]) {
    for (half, effective) in sets.iter_mut().zip(effective) {
        half.effective = effective;
    }
    let header = header();
    // SAFETY: version 3 has two elements, and the kernel reads both.
    let set = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    if set == -1 {
        // SAFETY: ends the process.
        unsafe { libc::_exit(126) }
    }
}

const fn header() -> Header {
    Header {
        version: VERSION,
        pid: 0,
    }
}
