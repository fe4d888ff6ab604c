//! What a child finds laid out when it is made: it may not allocate.

use super::{ResourceLimit, Step, gate};
use crate::sys::landlock::Ruled;
use libc::{c_char, c_int};
use std::ffi::CStr;
use std::time::Duration;

/// Everything the child reads, as plain pointers and numbers.
pub(super) struct Prepared<'a> {
    pub(super) program: *const c_char,
    pub(super) argv: *const *const c_char,
    pub(super) envp: *const *const c_char,
    pub(super) directory: *const c_char,
    pub(super) stdio: [c_int; 3],
    /// On the bare host: all that stays open, sorted, these two included.
    pub(super) kept: &'a [c_int],
    pub(super) go: c_int,
    pub(super) status: c_int,
    pub(super) obituary: Option<c_int>,
    pub(super) gate: Option<gate::Prepared>,
    pub(super) refusing: Option<gate::Refusing>,
    pub(super) ruled: Option<&'a Ruled>,
    pub(super) own_session: bool,
    pub(super) is_as_ours: bool,
    pub(super) umask: Option<u32>,
    pub(super) fixed_addresses: bool,
    pub(super) limits: *const ResourceLimit,
    pub(super) n_limits: usize,
    pub(super) token: u64,
    /// Whether it is born of the starter, whose signals have no dispositions.
    pub(super) is_of_starter: bool,
    pub(super) own: Option<InitOf<'a>>,
    /// The upper end of a stack for the main process of a world.
    pub(super) stack: *mut u128,
}

/// What the init of a world reads of it.
#[derive(Clone, Copy)]
pub(super) struct InitOf<'a> {
    pub(super) steps: &'a [Step<&'a CStr>],
    /// Its numbers: user, main group, all groups.
    pub(super) user: Option<(u32, u32, &'a [u32])>,
    pub(super) words: Option<(usize, usize)>,
    pub(super) lasts: Option<Duration>,
}
