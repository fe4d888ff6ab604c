//! What comes of the comparison of an argument: the same, another spelling, less, wrong.

use std::collections::{BTreeMap, BTreeSet};

use syscall_model::constants::tables;
use syscall_model::kinds::ArgKind;

use super::reasons;

/// What came of it, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finding {
    /// Letter by letter, or with the names in another order.
    Same,
    /// The same value, written otherwise: in another base, `NULL` for 0.
    Spelling,
    /// strace does not know the call or a name.
    Newer,
    /// One shows an argument that the other does not.
    Shown,
    /// A number where strace has names.
    Missing,
    /// The value, under a name that is not strace's for it.
    OtherName,
    /// Another value than the kernel takes.
    Wrong,
}

/// Which place of which call, and what both wrote there.
pub(super) struct Difference {
    pub(super) finding: Finding,
    pub(super) place: String,
    pub(super) text: String,
}

/// All names in strace's program.
pub(super) struct Witness {
    names: BTreeSet<String>,
    all: String,
}

impl Witness {
    pub(super) fn new(program: &[u8]) -> Self {
        let all = String::from_utf8_lossy(program).into_owned();
        let words = all.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names = words.map(str::to_owned).collect();
        Self { names, all }
    }

    /// The linker may keep a name as the end of a longer one.
    fn knows(&self, name: &str) -> bool {
        self.names.contains(name) || self.all.contains(&format!("{name}\0"))
    }
}

/// The width of each argument in bits, by the kernel's declarations.
pub(super) struct Declared(BTreeMap<(String, usize), u32>);

impl Declared {
    pub(super) fn read() -> Self {
        let text = include_str!("../../../fixtures/syscall-argument-kinds.txt");
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        let mut widths = BTreeMap::new();
        for (call, arguments) in lines {
            for argument in arguments.split(" | ") {
                let mut words = argument.splitn(3, ' ');
                let place = words.next().and_then(|place| place.parse().ok());
                let c_type = words.nth(1).and_then(|declared| declared.rsplit_once(' '));
                if let (Some(place), Some((c_type, _))) = (place, c_type) {
                    widths.insert((call.to_owned(), place), width(c_type));
                }
            }
        }
        Self(widths)
    }

    /// What the kernel takes of a word.
    fn taken(&self, call: &str, place: usize, words: &[u64; 6]) -> u64 {
        let width = self.0.get(&(call.to_owned(), place)).copied().unwrap_or(64);
        let width = reasons::width(call, place, words).unwrap_or(width);
        words[place] & low(width)
    }
}

fn low(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

fn width(c_type: &str) -> u32 {
    match c_type.trim_start_matches("const ") {
        pointer if pointer.contains('*') => 64,
        "umode_t" => 16,
        "int" | "unsigned int" | "unsigned" | "u32" | "__u32" | "__s32" | "pid_t" | "uid_t"
        | "gid_t" | "qid_t" | "key_t" | "rwf_t" | "mqd_t" | "timer_t" | "key_serial_t"
        | "clockid_t" => 32,
        enumeration if enumeration.starts_with("enum ") => 32,
        _ => 64,
    }
}

/// Compares all arguments of a call.
pub(super) fn compare(
    (name, words): (&str, &[u64; 6]),
    ours: &[(usize, ArgKind, String)],
    theirs: &str,
    witness: &Witness,
    declared: &Declared,
) -> Vec<Difference> {
    let difference = |finding, place: String, text: String| Difference {
        finding,
        place: format!("{name} {place}"),
        text,
    };
    let is_known = !theirs.starts_with("syscall_0x");
    let theirs = if is_known {
        arguments(theirs)
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    let theirs = reasons::in_order(name, theirs);
    if is_known && name != "clone" && ours.len() != theirs.len() {
        let ours: Vec<&str> = ours.iter().map(|(_, _, text)| text.as_str()).collect();
        let text = format!("{} ({})", ours.join(", "), theirs.join(", "));
        let place = format!("{} for {}", ours.len(), theirs.len());
        found.push(difference(Finding::Shown, place, text));
    }
    for (index, (place, kind, ours)) in ours.iter().enumerate() {
        let word = words[*place];
        let taken = declared.taken(name, *place, words);
        let theirs = theirs.get(index).copied();
        let mut finding = finding(*kind, ours, theirs, taken, witness);
        if finding == Finding::Shown && !is_known {
            finding = Finding::Newer;
        }
        let is_value = finding == Finding::OtherName;
        if is_value && reasons::is_right(name, *place, ours, words) {
            finding = Finding::Newer;
        }
        let of = reasons::command(name, *place, words);
        let text = format!("{word:#x} {ours} ({})", theirs.unwrap_or("nothing"));
        found.push(difference(finding, format!("{place}{of}"), text));
    }
    found
}

fn finding(
    kind: ArgKind,
    ours: &str,
    theirs: Option<&str>,
    taken: u64,
    witness: &Witness,
) -> Finding {
    if theirs == Some(ours) {
        return Finding::Same;
    }
    let value = value(kind, ours);
    let is_value = |width| value.map(|value| value & low(width)) == Some(taken & low(width));
    let is_short =
        value.is_some_and(|value| value as i64 >= i64::from(i32::MIN) && value >> 63 == 1);
    // A negative number of 32 bits.
    let is_right = is_value(64) || is_short && taken <= 0xffff_ffff && is_value(32);
    if value.is_some() && !is_right {
        return Finding::Wrong;
    }
    let Some(theirs) = theirs else {
        return Finding::Shown;
    };
    let (our, their) = (names(ours), names(theirs));
    let others: Vec<&&str> = our.difference(&their).collect();
    if others.iter().any(|name| witness.knows(name)) {
        return Finding::OtherName;
    }
    match (their.difference(&our).next(), others.first(), value) {
        (Some(_), ..) => Finding::Missing,
        (None, Some(_), _) => Finding::Newer,
        (None, None, Some(_)) => Finding::Spelling,
        (None, None, None) if same_parts(ours, theirs) => Finding::Spelling,
        (None, None, None) => Finding::Wrong,
    }
}

/// Whether the same parts stand there in any order.
fn same_parts(ours: &str, theirs: &str) -> bool {
    let parts = |text: &str| text.split('|').map(str::to_owned).collect::<BTreeSet<_>>();
    parts(ours) == parts(theirs)
}

/// The number that a text stands for: names and numbers with `|` between them; `None` for other
/// forms.
fn value(kind: ArgKind, text: &str) -> Option<u64> {
    let part = |part: &str| {
        if let Some((number, name)) = part.split_once("<<") {
            let shift = match name {
                "MAP_HUGE_SHIFT" | "MFD_HUGE_SHIFT" | "SHM_HUGE_SHIFT" => 26,
                _ => return None,
            };
            return number.parse::<u64>().ok().map(|number| number << shift);
        }
        match part {
            "NULL" => Some(0),
            "AT_FDCWD" => Some(-100i64 as u64),
            _ => number(part).or_else(|| named(kind, part)),
        }
    };
    text.split('|')
        .try_fold(0, |all, one| Some(all | part(one)?))
}

fn number(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return u64::from_str_radix(text, 8).ok();
    }
    let signed = text.parse::<i64>().ok().map(|number| number as u64);
    signed.or_else(|| text.parse().ok())
}

fn named(kind: ArgKind, name: &str) -> Option<u64> {
    let of = |set: &syscall_model::constants::Constants| {
        let mut names = set.names();
        names
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    match kind {
        ArgKind::Constants(set) => of(set).or_else(|| match set.name {
            "ioctl_commands" => of(&tables::IOCTL_NAMES),
            "clocks" => of(&tables::CLOCK_NAMES),
            "mount_flags" => of(&tables::MOUNT_FLAG_BITS),
            "personalities" => of(&tables::PERSONALITY_PARTS),
            _ => signal(name),
        }),
        _ => signal(name),
    }
}

fn signal(name: &str) -> Option<u64> {
    (1..=64).find(|number| {
        let known = syscall_model::signals::known_signal(*number as i32);
        known.is_some_and(|known| *known == *name)
    })
}

/// Words that look like names of constants.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
        .filter(|word| word.len() > 1 && *word != "NULL")
        .collect()
}

/// What stands between the parentheses, parted by commas that are in none.
pub(in super::super) fn arguments(call: &str) -> Vec<&str> {
    let inside = call.split_once('(').map_or(call, |(_, rest)| rest);
    let inside = inside.strip_suffix(')').unwrap_or(inside);
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in inside.char_indices() {
        let is_escaped = escaped;
        escaped = quoted && !is_escaped && letter == '\\';
        quoted ^= letter == '"' && !is_escaped;
        match letter {
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.extend(inside.get(start..at));
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.extend(inside.get(start..).filter(|rest| !rest.is_empty()));
    parts
}
