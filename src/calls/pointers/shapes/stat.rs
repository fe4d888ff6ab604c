//! How `struct stat` of a 32-bit program becomes the native one; x86 and arm have their own.

use super::Step::{self, At, Grow, Keep, Long, Words, Zero};

/// `struct stat64` of i386: its size, and what becomes of it.
#[cfg(target_arch = "x86_64")]
pub(super) const STAT64: (u16, &[Step]) = (
    96,
    &[
        Keep(8),
        At(88),
        Keep(8),
        At(20),
        Words(1),
        At(16),
        Keep(4),
        At(24),
        Keep(8),
        Zero(4),
        At(32),
        Keep(8),
        At(44),
        Keep(8),
        Words(1),
        Keep(8),
        Long,
        Words(1),
        Long,
        Words(1),
        Long,
        Words(1),
        Zero(24),
    ],
);
/// `struct stat64` of arm.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const STAT64: (u16, &[Step]) = (
    104,
    &[
        Keep(8),
        At(96),
        Keep(8),
        At(16),
        Keep(24),
        Zero(8),
        At(48),
        Keep(12),
        Zero(4),
        At(64),
        Keep(8),
        Long,
        Words(1),
        Long,
        Words(1),
        Long,
        Words(1),
        Zero(8),
    ],
);

/// `struct compat_stat`, of both.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const STAT: &[Step] = &[
    Words(2),
    Grow(2, 4),
    Grow(2, 4),
    Grow(2, 4),
    Grow(2, 4),
    Words(1),
    Zero(8),
    Words(1),
    Keep(4),
    Zero(4),
    Words(1),
    Long,
    Words(1),
    Long,
    Words(1),
    Long,
    Words(1),
    Zero(8),
];
#[cfg(target_arch = "x86_64")]
pub(super) const STAT: &[Step] = &[
    Words(2),
    At(10),
    Grow(2, 8),
    At(8),
    Grow(2, 4),
    At(12),
    Grow(2, 4),
    Grow(2, 4),
    Zero(4),
    Words(4),
    Long,
    Words(1),
    Long,
    Words(1),
    Long,
    Words(1),
    Zero(24),
];
