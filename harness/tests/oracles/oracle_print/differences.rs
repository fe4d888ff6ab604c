//! Where perf's text and ours differ, and why. The kernel's own text decides: it is the format's
//! author.

use perf_records::format::Format;

/// A difference that is known: who errs and how, which formats have it, and what is done to both
/// texts so that it does not show.
type Known = (&'static str, fn(&Format) -> bool, fn(&str) -> String);

const KNOWN: &[Known] = &[
    // vsnprintf() of the kernel writes the prefix of a zero, printf(3) does not; `%#016lx` counts
    // it.
    (
        "perf: no 0x before a zero of %#x",
        |format| format.print_fmt.contains("%#"),
        without_zeros,
    ),
    // The kernel's helpers take an unsigned long, into which an int is extended.
    (
        "perf: a negative int without a name is not extended",
        prints_names,
        without_extension,
    ),
    (
        "perf: the width of a number without a name",
        |format| format.print_fmt.contains("%-8s"),
        without_blanks,
    ),
    (
        "perf: nothing for another family",
        |format| format.print_fmt.contains("%pIS"),
        |text| text.replace("(einval)", ""),
    ),
    (
        "perf 7.2: the CPUs of a mask as a list",
        |format| format.print_fmt.contains("__get_cpumask("),
        with_lists,
    ),
    // What follows takes the arguments that the %c have left.
    (
        "perf 6.1: knows no %c",
        |format| format.print_fmt.contains("[%c"),
        |text| text.split('[').next().unwrap_or_default().to_owned(),
    ),
];

/// Why the texts differ, where that is known.
pub(crate) fn why(name: &str, format: &Format, ours: &str, theirs: &str) -> Option<&'static str> {
    if theirs.contains("[FAILED TO PARSE]") {
        return Some("perf: cannot parse");
    }
    let (mut ours, mut theirs) = (ours.trim_end().to_owned(), theirs.trim_end().to_owned());
    let mut last = None;
    for (why, applies, normal) in KNOWN {
        if applies(format) {
            let before = (ours.clone(), theirs.clone());
            (ours, theirs) = (normal(&ours), normal(&theirs));
            if before != (ours.clone(), theirs.clone()) {
                last = Some(*why);
            }
            if ours == theirs {
                return last;
            }
        }
    }
    if format.print_fmt.contains("%z") && numbers_are_cut(&ours, &theirs) {
        return Some("perf: cuts the numbers of %z");
    }
    if has_unknown_names(format) && without_names(format, &ours) == without_names(format, &theirs) {
        return Some(
            "both: names of numbers that only the kernel knows; perf takes them for 0 or -1",
        );
    }
    let has_negative = format.print_fmt.contains("{ -") || format.print_fmt.contains("{ (-");
    if has_negative && without_names(format, &ours) == without_names(format, &theirs) {
        return Some("perf: a negative number in a table");
    }
    BY_NAME
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, why)| *why)
}

/// Events whose differences no rule tells.
const BY_NAME: &[(&str, &str)] = &[
    ("alarmtimer:alarmtimer_cancel", SHIFT),
    ("alarmtimer:alarmtimer_fired", SHIFT),
    ("alarmtimer:alarmtimer_start", SHIFT),
    ("alarmtimer:alarmtimer_suspend", SHIFT),
    (
        "btrfs:raid56_read",
        "perf: takes `a - b + 1` for `a - (b + 1)`",
    ),
    (
        "dev:devres_log",
        "both: the text is not in the record; perf does not fill `%3s` up",
    ),
    ("ext4:ext4_mballoc_alloc", SHIFT),
    (
        "fs_dax:dax_pmd_insert_mapping",
        "perf: takes 1ULL << 63 for a negative number, and finds its name in any",
    ),
    ("i2c:i2c_result", SIGN),
    (
        "iomap:iomap_dio_complete",
        "perf: cuts the numbers of %zd, and their signs",
    ),
    (
        "kvm:kvm_nested_vmenter",
        "perf: takes `!a ? b : c ? d : e` for `!(a ? b : c ? d : e)`",
    ),
    ("kvm:kvm_pvclock_update", SIGN),
    ("kvm:kvm_userspace_exit", SIGN),
    ("kvm:kvm_wait_lapic_expire", SIGN),
    ("kvmmmu:kvm_mmu_set_spte", SIGN),
    ("netfs:netfs_failure", CUT),
    ("netfs:netfs_read", CUT),
    ("netfs:netfs_sreq", CUT),
    ("ras:aer_event", ARRAY),
    ("regmap:regmap_bulk_read", BEYOND),
    ("regmap:regmap_bulk_write", BEYOND),
    ("sched:sched_skip_cpuset_numa", "perf: knows no %*pbl"),
    ("smbus:smbus_reply", "perf: knows no %*ph of a field"),
    ("smbus:smbus_result", SIGN),
    ("smbus:smbus_write", "perf: knows no %*ph of a field"),
    ("sock:sock_recv_length", SIGN),
    ("sock:sock_send_length", SIGN),
    (
        "spi:spi_setup",
        "perf: takes `a & ((b) | (c))` for `a & (b) | (c)`",
    ),
    (
        "thermal:thermal_power_devfreq_get_power",
        "perf: multiplies numbers of 32 bits in 64",
    ),
    ("thermal_power_allocator:thermal_power_allocator", ARRAY),
    ("timer:itimer_state", SIGN),
    (
        "timer:timer_start",
        "perf: takes `a & (b | c)` for `a & b | c`",
    ),
    ("xfs:xfs_exchmaps_defer", HIGHEST),
    ("xfs:xfs_exchmaps_final_estimate", HIGHEST),
    ("xfs:xfs_exchmaps_initial_estimate", HIGHEST),
    ("xfs:xfs_exchmaps_recover", HIGHEST),
    ("xfs:xfs_exchrange_flush", HIGHEST),
    ("xfs:xfs_exchrange_mappings", HIGHEST),
    ("xfs:xfs_exchrange_prep", HIGHEST),
    (
        "xfs:xfs_force_shutdown",
        "perf: leaves out the name of no bit, which the kernel finds in any number but 0",
    ),
];

const ARRAY: &str = "perf 6.1: an array is its numbers, without braces";

const BEYOND: &str = "perf: reads on behind the array that is printed";

const CUT: &str = "perf: cuts the numbers of %zx, and the signs of others";

const SHIFT: &str = "perf: shifts an int as if it had 64 bits";
const SIGN: &str = "perf: no number is less than 0";
const HIGHEST: &str = "perf: shows the name of bit 63 where no bit is set";

fn prints_names(format: &Format) -> bool {
    format.print_fmt.contains("__print_symbolic") || format.print_fmt.contains("__print_flags")
}

/// Whether a table's number is an enumerator's name.
pub(crate) fn has_unknown_names(format: &Format) -> bool {
    let entries = format.print_fmt.split('{').skip(1);
    let numbers = entries.filter_map(|entry| entry.split(['"', '}']).next());
    numbers.into_iter().any(|number| {
        let words = number
            .split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
        words.into_iter().any(|word| {
            word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && !is_type(word)
        })
    })
}

fn is_type(word: &str) -> bool {
    matches!(
        word,
        "unsigned"
            | "long"
            | "int"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "gfp_t"
            | "blk_opf_t"
            | "__force"
    )
}

fn without_zeros(text: &str) -> String {
    words(text)
        .into_iter()
        .map(|word| {
            if word
                .trim_start_matches("0x")
                .bytes()
                .all(|byte| byte == b'0')
            {
                "0"
            } else {
                word
            }
        })
        .collect()
}

fn without_extension(text: &str) -> String {
    words(text)
        .into_iter()
        .map(|word| {
            word.strip_prefix("0xffffffff")
                .filter(|low| low.len() == 8)
                .map_or(word.to_owned(), |low| {
                    format!("0x{}", low.trim_start_matches('0'))
                })
        })
        .collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// With the numbers of the bits in the place of masks, which are words of eight digits with commas
/// between them.
fn with_lists(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let (name, mask) = word.split_once('=')?;
        let is_mask = mask.split(',').all(|word| word.len() == 8);
        let parts = mask
            .split(',')
            .map(|part| u32::from_str_radix(part, 16).ok());
        let parts: Vec<u32> = parts.rev().collect::<Option<_>>().filter(|_| is_mask)?;
        Some(format!("{name}={}", list(&parts)))
    });
    let pairs = text.split(' ').zip(words);
    let words = pairs.map(|(word, list)| list.unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

/// The numbers of the bits, those in a row as the first and the last; the lowest word first.
fn list(words: &[u32]) -> String {
    let bits = 0..words.len() * 32;
    let set: Vec<usize> = bits
        .filter(|bit| words[bit / 32] >> (bit % 32) & 1 == 1)
        .collect();
    let rows = set.chunk_by(|one, next| one + 1 == *next);
    let rows = rows.map(|row| match row {
        [one] => one.to_string(),
        _ => format!("{}-{}", row[0], row[row.len() - 1]),
    });
    rows.collect::<Vec<_>>().join(",")
}

/// The runs of letters and digits, and what stands between them.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_ascii_alphanumeric();
        let end = rest
            .find(|character: char| character.is_ascii_alphanumeric() != is_word)
            .unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

/// Whether each number that differs is, in theirs, the low 32 bits of ours.
fn numbers_are_cut(ours: &str, theirs: &str) -> bool {
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let (ours, theirs) = (words(ours), words(theirs));
    let mut pairs = ours
        .iter()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs);
    ours.len() == theirs.len()
        && pairs.all(|(ours, theirs)| match (number(ours), number(theirs)) {
            (Some(ours), Some(theirs)) => ours & 0xffff_ffff == theirs,
            _ => false,
        })
}

/// Without whatever may stand for a number that has names.
fn without_names(format: &Format, text: &str) -> String {
    let mut text = text.to_owned();
    let mut names: Vec<&str> = format
        .print_fmt
        .split('"')
        .skip(3)
        .step_by(2)
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        text = text.replace(name, "");
    }
    words(&text)
        .into_iter()
        .filter(|word| !word.starts_with("0x"))
        .flat_map(str::chars)
        .filter(|letter| !" |".contains(*letter))
        .collect()
}
