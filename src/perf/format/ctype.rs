//! What the name of a C type alone says, for kernels of 64 bits.
//!
//! The table holds what `format` files of the captured kernels need: types narrower than the slot
//! of a system call's argument, and element types of arrays whose length only the record knows. Any
//! other type is as wide as its field.

use super::Width;

/// What is known of a type by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// `char`, whose arrays are text.
    Character,
    /// An integer of that width, signed or not; nothing is known of an `enum`'s sign.
    Integer(Width, Option<bool>),
    /// An address, spelt with `*` or hidden in a typedef.
    Pointer,
    /// `cpumask_t`.
    CpuMask,
    /// A `struct` or `union` by value.
    Structure,
    /// No more than its name.
    Nothing,
}

/// What the name of `c_type` says; qualifiers are ignored.
pub(super) fn known(c_type: &str) -> Known {
    if c_type.contains('*') {
        return Known::Pointer;
    }
    let mut words = c_type.split_whitespace().filter(|word| !is_qualifier(word));
    match (words.next(), words.next(), words.next()) {
        (Some("struct" | "union"), ..) => Known::Structure,
        (Some("enum"), ..) => Known::Integer(Width::W4, None),
        (Some("unsigned"), Some(rest), _) => match arithmetic(rest) {
            Known::Character => Known::Integer(Width::W1, Some(false)),
            Known::Integer(width, _) => Known::Integer(width, Some(false)),
            other => other,
        },
        (Some("signed"), Some("char"), _) => Known::Integer(Width::W1, Some(true)),
        (Some("signed"), Some(rest), _) => arithmetic(rest),
        (Some(first), ..) => match arithmetic(first) {
            Known::Nothing => typedef(first),
            known => known,
        },
        (None, ..) => Known::Nothing,
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "__user" | "__iomem" | "__rcu")
}

/// C's own types by their first word: `long` stands for `long long` and `long int` too.
fn arithmetic(word: &str) -> Known {
    match word {
        "char" => Known::Character,
        "short" => Known::Integer(Width::W2, Some(true)),
        "int" | "signed" => Known::Integer(Width::W4, Some(true)),
        "unsigned" => Known::Integer(Width::W4, Some(false)),
        "long" => Known::Integer(Width::W8, Some(true)),
        "bool" | "_Bool" => Known::Integer(Width::W1, Some(false)),
        _ => Known::Nothing,
    }
}

/// Typedefs of `include/linux/types.h`, `include/uapi/asm-generic/posix_types.h` and their like.
fn typedef(word: &str) -> Known {
    match word {
        "u8" | "__u8" | "uint8_t" => Known::Integer(Width::W1, Some(false)),
        "s8" | "__s8" | "int8_t" => Known::Integer(Width::W1, Some(true)),
        "u16" | "__u16" | "uint16_t" | "umode_t" => Known::Integer(Width::W2, Some(false)),
        "s16" | "__s16" | "int16_t" => Known::Integer(Width::W2, Some(true)),
        "u32" | "__u32" | "uint32_t" | "uint" | "uid_t" | "gid_t" | "qid_t" | "dev_t" | "gfp_t" => {
            Known::Integer(Width::W4, Some(false))
        }
        "s32" | "__s32" | "int32_t" | "pid_t" | "key_t" | "key_serial_t" | "clockid_t"
        | "timer_t" | "mqd_t" | "rwf_t" => Known::Integer(Width::W4, Some(true)),
        "u64" | "__u64" | "uint64_t" | "size_t" | "aio_context_t" => {
            Known::Integer(Width::W8, Some(false))
        }
        "s64" | "__s64" | "int64_t" | "ssize_t" | "loff_t" | "off_t" => {
            Known::Integer(Width::W8, Some(true))
        }
        "cap_user_header_t" | "cap_user_data_t" | "fl_owner_t" | "initcall_t"
        | "xfs_failaddr_t" | "__sighandler_t" => Known::Pointer,
        "cpumask_t" => Known::CpuMask,
        _ => Known::Nothing,
    }
}

/// The width of the numbers of a C type and whether they have a sign, where its name alone says it;
/// an address is unsigned.
///
/// ```
/// use perf_records::format::{Width, integer_type};
/// assert_eq!(integer_type("unsigned int"), Some((Width::W4, false)));
/// assert_eq!(integer_type("struct page"), None);
/// ```
#[must_use]
pub fn integer_type(c_type: &str) -> Option<(Width, bool)> {
    match known(c_type) {
        Known::Character => Some((Width::W1, true)),
        Known::Integer(width, signed) => Some((width, signed.unwrap_or(false))),
        Known::Pointer => Some((Width::W8, false)),
        Known::CpuMask | Known::Structure | Known::Nothing => None,
    }
}
