//! How the words of a 32-bit call are those of the native call that it is a form of.
//!
//! Registers of 32 bits carry a place in a file as two words, and old calls find their arguments in
//! memory. So the words of such a call are put where the native call has them when it is entered,
//! and what is not in a register stays unknown: nothing is said of it.
//!
//! i386: `arch/x86/kernel/sys_ia32.c`, `sys_llseek()`, `kernel/uid16.c`; arm:
//! `arch/arm64/kernel/sys32.c` and its `include/asm/unistd32.h`, where two words that are one begin
//! at an even register.

use super::many;
use super::names::{self, Abi};
use super::relatives;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Where a native argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The word at this place.
    At(u8),
    /// The lower and the upper half at these places.
    Both(u8, u8),
    /// The word at this place in units of 4096.
    Pages(u8),
    /// An id of 16 bits, all ones for none (`low2highuid()`).
    Id16(u8),
    /// It has no such argument, and does what the native call does for this.
    Is(u64),
    /// It is in memory, or no such argument is there.
    Unknown,
}

/// Where all arguments of a call come from, and whether its result is the native one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) words: &'static [Word],
    /// Whether arguments behind these stand where the native call has them.
    pub(super) rest: bool,
    pub(super) returns: bool,
}

pub(super) const SAME: Layout = Layout {
    words: &[],
    rest: true,
    returns: true,
};

/// Nothing of it is in registers.
pub(super) const HIDDEN: Layout = Layout {
    words: &[],
    rest: false,
    returns: true,
};

pub(super) const fn are(words: &'static [Word]) -> Layout {
    Layout {
        words,
        rest: false,
        returns: true,
    }
}

/// The same words, another result.
pub(super) const fn but_its_result(layout: Layout) -> Layout {
    Layout {
        returns: false,
        ..layout
    }
}

/// What differs from the native call; all else is the same.
const I386: &[(&str, Layout)] = {
    use Word::{At, Both, Id16, Is, Pages, Unknown};
    const LENGTH: Layout = are(&[At(0), Both(1, 2)]);
    const MOVED: Layout = are(&[At(0), At(1), At(2), Both(3, 4)]);
    const SIZED: Layout = are(&[At(0), At(2)]);
    const OWNED: Layout = are(&[At(0), Id16(1), Id16(2)]);
    const IDS: Layout = are(&[Id16(0), Id16(1), Id16(2)]);
    &[
        ("_llseek", but_its_result(are(&[At(0), Both(2, 1), At(4)]))),
        ("chown", OWNED),
        ("clone", are(&[At(0), At(1), At(2), At(4), At(3)])),
        ("fadvise64", are(&[At(0), Both(1, 2), At(3), At(4)])),
        ("fadvise64_64", are(&[At(0), Both(1, 2), Both(3, 4), At(5)])),
        ("fallocate", are(&[At(0), At(1), Both(2, 3), Both(4, 5)])),
        (
            "fanotify_mark",
            are(&[At(0), At(1), Both(2, 3), At(4), At(5)]),
        ),
        ("fchown", OWNED),
        ("fstatfs64", SIZED),
        ("ftruncate64", LENGTH),
        ("getegid", but_its_result(SAME)),
        ("geteuid", but_its_result(SAME)),
        ("getgid", but_its_result(SAME)),
        ("getuid", but_its_result(SAME)),
        ("ipc", but_its_result(HIDDEN)),
        ("lchown", OWNED),
        ("lookup_dcookie", are(&[Both(0, 1), At(2), At(3)])),
        ("mmap", HIDDEN),
        ("mmap2", are(&[At(0), At(1), At(2), At(3), At(4), Pages(5)])),
        ("nice", are(&[Is(0), Is(0), Unknown])),
        ("pread64", MOVED),
        ("pwrite64", MOVED),
        ("readahead", are(&[At(0), Both(1, 2), At(3)])),
        ("readdir", but_its_result(SAME)),
        ("select", HIDDEN),
        ("setfsgid", IDS),
        ("setfsuid", IDS),
        ("setgid", IDS),
        ("setregid", IDS),
        ("setresgid", IDS),
        ("setresuid", IDS),
        ("setreuid", IDS),
        ("setuid", IDS),
        ("sgetmask", but_its_result(HIDDEN)),
        ("sigaction", are(&[At(0), At(1), At(2), Unknown])),
        (
            "signal",
            but_its_result(are(&[At(0), Unknown, Unknown, Unknown])),
        ),
        ("sigpending", are(&[At(0), Unknown])),
        ("sigprocmask", are(&[At(0), At(1), At(2), Unknown])),
        ("sigsuspend", HIDDEN),
        ("socketcall", HIDDEN),
        ("ssetmask", but_its_result(HIDDEN)),
        ("statfs64", SIZED),
        ("stime", HIDDEN),
        (
            "sync_file_range",
            are(&[At(0), Both(1, 2), Both(3, 4), At(5)]),
        ),
        ("truncate64", LENGTH),
        ("umount", are(&[At(0), Is(0)])),
        ("waitpid", are(&[At(0), At(1), At(2), Is(0)])),
    ]
};

/// The same for arm, with the calls that aarch64 has under another name; of those of them that are
/// not listed nothing else is known.
const ARM: &[(&str, Layout)] = {
    use Word::{At, Both, Id16, Is, Pages, Unknown};
    const LENGTH: Layout = are(&[At(0), Both(2, 3)]);
    const MOVED: Layout = are(&[At(0), At(1), At(2), Both(4, 5)]);
    const SIZED: Layout = are(&[At(0), At(2)]);
    const OWNED: Layout = are(&[At(0), Id16(1), Id16(2)]);
    const IDS: Layout = are(&[Id16(0), Id16(1), Id16(2)]);
    const HERE: Word = Is(libc::AT_FDCWD as u32 as u64);
    const NONE: Word = Is(0);
    const NO_FOLLOW: Word = Is(libc::AT_SYMLINK_NOFOLLOW as u64);
    const CREATED: Word = Is((libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64);
    const NAMED: Layout = are(&[HERE, At(0), At(1)]);
    const NAMED_TWICE: Layout = are(&[HERE, At(0), HERE, At(1), NONE]);
    const LOOKED_AT: Layout = are(&[HERE, At(0), At(1), NONE]);
    const OF_FOUR: Layout = are(&[At(0), At(1), At(2), At(3), NONE, NONE]);
    &[
        ("_llseek", but_its_result(are(&[At(0), Both(2, 1), At(4)]))),
        (
            "_newselect",
            are(&[At(0), At(1), At(2), At(3), Unknown, NONE]),
        ),
        ("access", NAMED),
        (
            "arm_fadvise64_64",
            are(&[At(0), Both(2, 3), Both(4, 5), At(1)]),
        ),
        ("chmod", NAMED),
        ("chown", are(&[HERE, At(0), Id16(1), Id16(2), NONE])),
        ("chown32", are(&[HERE, At(0), At(1), At(2), NONE])),
        ("creat", are(&[HERE, At(0), CREATED, At(1)])),
        ("dup2", are(&[At(0), At(1), NONE])),
        ("epoll_create", are(&[NONE])),
        ("epoll_wait", OF_FOUR),
        ("eventfd", are(&[At(0), NONE])),
        ("fallocate", are(&[At(0), At(1), Both(2, 3), Both(4, 5)])),
        (
            "fanotify_mark",
            are(&[At(0), At(1), Both(2, 3), At(4), At(5)]),
        ),
        ("fchown", OWNED),
        ("fstatfs64", SIZED),
        ("ftruncate64", LENGTH),
        ("futimesat", are(&[At(0), At(1), Unknown, NONE])),
        ("getdents", are(&[At(0), Unknown, At(2)])),
        ("getegid", but_its_result(SAME)),
        ("geteuid", but_its_result(SAME)),
        ("getgid", but_its_result(SAME)),
        ("getuid", but_its_result(SAME)),
        ("inotify_init", are(&[NONE])),
        ("lchown", are(&[HERE, At(0), Id16(1), Id16(2), NO_FOLLOW])),
        ("lchown32", are(&[HERE, At(0), At(1), At(2), NO_FOLLOW])),
        ("link", NAMED_TWICE),
        ("lookup_dcookie", are(&[Both(0, 1), At(2), At(3)])),
        ("lstat", are(&[HERE, At(0), At(1), NO_FOLLOW])),
        ("lstat64", are(&[HERE, At(0), At(1), NO_FOLLOW])),
        ("mkdir", NAMED),
        ("mknod", are(&[HERE, At(0), At(1), At(2)])),
        ("mmap2", are(&[At(0), At(1), At(2), At(3), At(4), Pages(5)])),
        ("open", are(&[HERE, At(0), At(1), At(2)])),
        ("pipe", are(&[At(0), NONE])),
        ("poll", are(&[At(0), At(1), Unknown, NONE, NONE])),
        ("pread64", MOVED),
        ("pwrite64", MOVED),
        ("readahead", are(&[At(0), Both(2, 3), At(4)])),
        ("readlink", are(&[HERE, At(0), At(1), At(2)])),
        ("recv", OF_FOUR),
        ("rename", NAMED_TWICE),
        ("rmdir", are(&[HERE, At(0), Is(libc::AT_REMOVEDIR as u64)])),
        ("send", OF_FOUR),
        ("setfsgid", IDS),
        ("setfsuid", IDS),
        ("setgid", IDS),
        ("setregid", IDS),
        ("setresgid", IDS),
        ("setresuid", IDS),
        ("setreuid", IDS),
        ("setuid", IDS),
        ("sigaction", are(&[At(0), At(1), At(2), Unknown])),
        ("signalfd", are(&[At(0), At(1), At(2), NONE])),
        ("sigpending", are(&[At(0), Unknown])),
        ("sigprocmask", are(&[At(0), At(1), At(2), Unknown])),
        ("stat", LOOKED_AT),
        ("stat64", LOOKED_AT),
        ("statfs64", SIZED),
        ("symlink", are(&[At(0), HERE, At(1)])),
        (
            "sync_file_range2",
            are(&[At(0), Both(2, 3), Both(4, 5), At(1)]),
        ),
        ("truncate64", LENGTH),
        ("ugetrlimit", SAME),
        ("unlink", are(&[HERE, At(0), NONE])),
        ("utimes", are(&[HERE, At(0), Unknown, NONE])),
    ]
};

/// How the words of a call are the native ones; `None` where they are, or nothing native is known.
pub(super) fn layout(abi: Abi, number: i32) -> Option<&'static Layout> {
    static OF_I386: LazyLock<HashMap<u32, Layout>> = LazyLock::new(|| by_number(Abi::I386, I386));
    static OF_ARM: LazyLock<HashMap<u32, Layout>> = LazyLock::new(|| by_number(Abi::Arm, ARM));
    if many::place(abi, number).is_some() {
        return many::of(number).map(|told| &told.layout);
    }
    let all = match abi {
        Abi::I386 => &OF_I386,
        Abi::Arm => &OF_ARM,
        Abi::X86_64 | Abi::X32 | Abi::Aarch64 => return None,
    };
    all.get(&u32::try_from(number).ok()?)
}

fn by_number(abi: Abi, known: &[(&str, Layout)]) -> HashMap<u32, Layout> {
    let native = match abi {
        Abi::Arm => Abi::Aarch64,
        _ => Abi::X86_64,
    };
    let of = |name: &str| {
        let listed = known.iter().find(|(other, _)| *other == name);
        match listed {
            Some((_, layout)) => *layout,
            // aarch64 has these by another name with other arguments, if they are not those of a
            // newer form.
            None if abi == Abi::Arm && is_of_old(native, name) => but_its_result(HIDDEN),
            None => SAME,
        }
    };
    names::all(abi).map(|(nr, name)| (nr, of(name))).collect()
}

/// Whether a call of the native table has taken its place that is not just another width of it.
fn is_of_old(native: Abi, name: &str) -> bool {
    let is_width = ["32", "64", "_time64"].iter().any(|end| {
        let short = name.strip_suffix(end);
        short.is_some_and(|short| names::number(native, short).is_some())
    });
    !is_width && !relatives::natives(native, name).is_empty()
}

/// The convention and number of the call in whose places the words of a call are put: of one that
/// aarch64 has under another name alone that one, of any other the call itself.
pub(super) fn form(abi: Abi, number: i32) -> (Abi, i32) {
    let native = || {
        let layout = layout(abi, number)?;
        let is_given = |word: &Word| matches!(word, Word::Is(_));
        let name = names::name_of(abi, number).filter(|_| layout.words.iter().any(is_given))?;
        let [native, ..] = relatives::natives(Abi::Aarch64, name)[..] else {
            return None;
        };
        let number = names::number(Abi::Aarch64, native)?;
        Some((Abi::Aarch64, number as i32))
    };
    match abi {
        Abi::Arm => native().unwrap_or((abi, number)),
        _ => (abi, number),
    }
}

/// In which register of a call an argument of the native call is; `None` where it is in none, or is
/// another number there.
pub(super) fn raw_place(abi: Abi, number: i32, native: u8) -> Option<u8> {
    let Some(layout) = layout(abi, number) else {
        return Some(native);
    };
    match layout.words.get(usize::from(native)) {
        Some(Word::At(place)) => Some(*place),
        Some(_) => None,
        None => layout.rest.then_some(native),
    }
}

/// Which argument of the native call is in this register.
pub(super) fn native_place(abi: Abi, number: i32, raw: u8) -> Option<u8> {
    (0..6).find(|native| raw_place(abi, number, *native) == Some(raw))
}

/// The words of a call where the native call has them; the registers of a 32-bit call have no upper
/// half.
pub fn native_words(abi: Abi, number: i32, words: [u64; 6]) -> [u64; 6] {
    let Some(layout) = layout(abi, number) else {
        return words;
    };
    let low = words.map(|word| word & 0xffff_ffff);
    if u32::try_from(number).is_ok_and(|number| many::which(abi, number).is_some()) {
        return low;
    }
    let at = |place: u8| low.get(usize::from(place)).copied().unwrap_or_default();
    let mut native = low;
    for (to, word) in native.iter_mut().zip(layout.words) {
        *to = match *word {
            Word::At(place) => at(place),
            Word::Both(low, high) => at(high) << 32 | at(low),
            Word::Pages(place) => at(place) << 12,
            Word::Id16(place) => match at(place) & 0xffff {
                0xffff => 0xffff_ffff,
                id => id,
            },
            Word::Is(word) => word,
            Word::Unknown => 0,
        };
    }
    native
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, words: [u64; 6]) -> [u64; 6] {
        let number = names::number(Abi::I386, name).expect("a call of i386");
        native_words(Abi::I386, number as i32, words)
    }

    #[test]
    fn a_length_of_two_words_is_one() {
        let words = words("ftruncate64", [3, 1, 2, 9, 9, 9]);
        assert_eq!(&words[..2], [3, 2 << 32 | 1]);
    }

    #[test]
    fn the_upper_half_of_a_register_is_no_part_of_a_32_bit_word() {
        assert_eq!(words("close", [1 << 32 | 3, 0, 0, 0, 0, 0])[0], 3);
        assert_eq!(words("setuid", [0x10000, 0, 0, 0, 0, 0])[0], 0);
        assert_eq!(words("setuid", [0xffff, 0, 0, 0, 0, 0])[0], 0xffff_ffff);
        assert_eq!(words("setuid32", [0x10000, 0, 0, 0, 0, 0])[0], 0x10000);
    }

    #[test]
    fn the_words_of_the_native_convention_are_its_own() {
        let number = names::number(Abi::X86_64, "ftruncate").expect("a number") as i32;
        let given = [3, u64::MAX, 0, 0, 0, 0];
        assert_eq!(native_words(Abi::X86_64, number, given), given);
    }

    #[test]
    fn a_cookie_of_two_words_is_one() {
        for abi in [Abi::I386, Abi::Arm] {
            let number = names::number(abi, "lookup_dcookie").expect("a number") as i32;
            let native = native_words(abi, number, [1, 2, 0x1000, 64, 9, 9]);
            assert_eq!(&native[..3], [2 << 32 | 1, 0x1000, 64], "{abi:?}");
        }
    }

    #[test]
    fn an_id_cut_to_16_bits_is_not_the_native_result() {
        for abi in [Abi::I386, Abi::Arm] {
            for (name, is_native) in [("getuid", false), ("getegid", false), ("getuid32", true)] {
                let number = names::number(abi, name).expect("a number") as i32;
                let returns = layout(abi, number).is_none_or(|layout| layout.returns);
                assert_eq!(returns, is_native, "{abi:?} {name}");
            }
        }
    }

    #[test]
    fn a_path_of_arm_stands_where_the_native_call_has_it() {
        let place = |name: &str, native| {
            let number = names::number(Abi::Arm, name).expect("a call of arm") as i32;
            raw_place(Abi::Arm, number, native)
        };
        for call in [
            "access", "chmod", "creat", "lstat64", "mkdir", "open", "rmdir", "unlink",
        ] {
            assert_eq!((place(call, 0), place(call, 1)), (None, Some(0)), "{call}");
        }
        for call in ["link", "rename"] {
            assert_eq!(place(call, 1), Some(0), "{call}");
            assert_eq!(place(call, 3), Some(1), "{call}");
        }
        assert_eq!(
            (place("symlink", 0), place("symlink", 2)),
            (Some(0), Some(1))
        );
        assert_eq!(
            (place("openat", 1), place("unlinkat", 1)),
            (Some(1), Some(1))
        );
    }

    #[test]
    fn a_call_whose_words_stand_as_in_another_call_has_the_form_of_that() {
        let form = |abi, name: &str| {
            let number = names::number(abi, name).expect("a call") as i32;
            let (abi, number) = form(abi, number);
            names::name_of(abi, number)
        };
        for (name, native) in [
            ("unlink", "unlinkat"),
            ("rename", "renameat"),
            ("creat", "openat"),
            ("lstat64", "newfstatat"),
            ("send", "sendto"),
            ("dup2", "dup3"),
            // Nothing is put elsewhere.
            ("fstat64", "fstat64"),
            ("mmap2", "mmap2"),
            ("openat", "openat"),
            // What they do is not all in their words.
            ("fork", "fork"),
        ] {
            assert_eq!(form(Abi::Arm, name), Some(native), "{name}");
        }
        for name in ["unlink", "umount", "waitpid"] {
            assert_eq!(form(Abi::I386, name), Some(name));
        }
    }

    #[test]
    fn what_is_said_of_a_call_is_said_of_one_that_there_is() {
        for (abi, known) in [(Abi::I386, I386), (Abi::Arm, ARM)] {
            for (name, layout) in known {
                assert!(names::number(abi, name).is_some(), "{abi:?} {name}");
                assert!(layout.words.len() <= 6, "{name}");
            }
        }
    }
}
