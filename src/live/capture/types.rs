//! Where the kernel's structures have their members, from its own description of its types (BTF).
//!
//! Only as much of it is read as two members take: structures that stand in the description
//! themselves, and members that stand in the structure itself.
//!
//! # References
//! `Documentation/bpf/btf.rst`.

const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
/// Sizes in bytes of a type's head, and of a structure's member.
const HEAD: usize = 12;
const MEMBER: usize = 12;

/// The offset in bytes of a member of a structure; `None` where the description does not say it, or
/// makes no sense.
pub(super) fn offset_of(btf: &[u8], structure: &str, member: &str) -> Option<i32> {
    let (types, names) = sections(btf)?;
    let mut rest = types;
    while !rest.is_empty() {
        let info = word(rest, 4)? as u32;
        let (n, kind) = ((info & 0xffff) as usize, info >> 24 & 0x1f);
        let size = HEAD + size_behind(kind, n)?;
        if kind == STRUCT && has_name(names, word(rest, 0)?, structure) {
            let has_bit_fields = info >> 31 == 1;
            let members = rest.get(HEAD..size)?;
            let found = members
                .chunks_exact(MEMBER)
                .find(|found| word(found, 0).is_some_and(|name| has_name(names, name, member)))?;
            let place = word(found, 8)? as u32;
            // Of a bit field the upper byte is its width.
            let bits = if has_bit_fields {
                place & 0xff_ffff
            } else {
                place
            };
            return i32::try_from(bits / 8).ok();
        }
        rest = rest.get(size..)?;
    }
    None
}

/// Where a task of x86_64 has `thread_info.status`, with the kernel's mark of a call by the 32-bit
/// convention.
pub(super) fn compat(btf: &[u8]) -> Option<i32> {
    let thread = offset_of(btf, "task_struct", "thread_info")?;
    let status = offset_of(btf, "thread_info", "status")?;
    cfg!(target_arch = "x86_64").then_some(thread + status)
}

/// The place of a function among the types, counted from 1; `None` where the description does not
/// have it.
pub(super) fn function(btf: &[u8], name: &str) -> Option<i32> {
    const FUNCTION: u32 = 12;
    let (types, names) = sections(btf)?;
    let mut rest = types;
    for place in 1.. {
        if rest.is_empty() {
            break;
        }
        let info = word(rest, 4)? as u32;
        let (n, kind) = ((info & 0xffff) as usize, info >> 24 & 0x1f);
        if kind == FUNCTION && has_name(names, word(rest, 0)?, name) {
            return Some(place);
        }
        rest = rest.get(HEAD + size_behind(kind, n)?..)?;
    }
    None
}

/// The types, and the names.
fn sections(btf: &[u8]) -> Option<(&[u8], &[u8])> {
    let magic = u16::from_ne_bytes(*btf.first_chunk()?);
    if magic != MAGIC {
        return None;
    }
    let header = word(btf, 4)?;
    let section = |place: usize| {
        let start = header.checked_add(word(btf, place)?)?;
        btf.get(start..start.checked_add(word(btf, place + 4)?)?)
    };
    Some((section(8)?, section(16)?))
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?);
    usize::try_from(word).ok()
}

fn has_name(names: &[u8], at: usize, name: &str) -> bool {
    let found = names.get(at..).unwrap_or_default();
    found
        .strip_prefix(name.as_bytes())
        .is_some_and(|rest| rest.first() == Some(&0))
}

/// How many bytes follow the head of a type of that kind, with so many parts.
fn size_behind(kind: u32, n: usize) -> Option<usize> {
    Some(match kind {
        // Pointers, forward declarations, typedefs, qualifiers, functions, floats, tags of types.
        2 | 7..=12 | 16 | 18 => 0,
        // Integers, variables, tags of declarations.
        1 | 14 | 17 => 4,
        // Arrays.
        3 => 12,
        // Structures, unions, sections, enumerations of 64 bits.
        4 | 5 | 15 | 19 => MEMBER * n,
        // Enumerations, the parameters of functions.
        6 | 13 => 8 * n,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `int`, then `struct task { int flags:3; int pid; }` and a function `first`, by hand from
    /// `Documentation/bpf/btf.rst`.
    fn description() -> Vec<u8> {
        let names = b"\0int\0task\0flags\0pid\0first\0";
        let types: [u32; 16] = [
            1,
            0x0100_0000,
            4,
            0x0100_0020, // int
            5,
            0x8400_0002,
            8, // struct task, of two members, with bit fields
            10,
            1,
            0x0300_0000, // flags:3
            16,
            1,
            32, // pid
            20,
            0x0c00_0000,
            0, // first()
        ];
        let mut bytes = Vec::new();
        bytes.extend(MAGIC.to_ne_bytes());
        bytes.extend([1, 0]);
        let header = [
            24,
            0,
            size_of_val(&types) as u32,
            size_of_val(&types) as u32,
            names.len() as u32,
        ];
        for word in header.iter().chain(&types) {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(names);
        bytes
    }

    #[test]
    fn a_member_is_found_by_its_name_in_a_structure_by_its_name() {
        let btf = description();
        assert_eq!(offset_of(&btf, "task", "pid"), Some(4));
        assert_eq!(offset_of(&btf, "task", "flags"), Some(0));
        assert_eq!(offset_of(&btf, "task", "pi"), None);
        assert_eq!(offset_of(&btf, "int", "pid"), None);
    }

    #[test]
    fn a_function_is_found_by_its_name_and_no_other_type_is_taken_for_one() {
        let btf = description();
        assert_eq!(function(&btf, "task"), None);
        assert_eq!(function(&btf, "pid"), None);
        assert_eq!(function(&btf, "first"), Some(3));
    }

    #[test]
    fn a_description_cut_anywhere_says_nothing_or_the_truth() {
        let btf = description();
        for end in 0..btf.len() {
            let cut = btf.get(..end).unwrap();
            assert!(matches!(offset_of(cut, "task", "pid"), None | Some(4)));
        }
    }
}
