//! Flags and commands as numbers: a witness that is older than a name shows the number.

use syscall_model::constants::tables;

/// The text with each value that is made of names of these sets, and of numbers in hexadecimal, as
/// one number. Sets are given by what their names begin with.
pub(crate) fn in_numbers(text: &str, sets: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_of_value = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '|';
        let length = match rest.find(|it| !is_of_value(it)) {
            Some(0) => first.len_utf8(),
            Some(length) => length,
            None => rest.len(),
        };
        let (word, behind) = rest.split_at(length);
        match number(word, sets) {
            Some(number) => out.push_str(&format!("{number:#x}")),
            None => out.push_str(word),
        }
        rest = behind;
    }
    out
}

fn number(word: &str, sets: &str) -> Option<u64> {
    let parts = word.split('|').map(|part| {
        let digits = part.strip_prefix("0x");
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let of_names = tables::ALL.iter().filter(|set| set.name.starts_with(sets));
        let mut names = of_names.flat_map(|set| set.names());
        let named = || {
            names
                .find(|(name, _)| *name == part)
                .map(|(_, value)| value)
        };
        number.or_else(named).or((part == "0").then_some(0))
    });
    parts.sum()
}

#[test]
fn what_newer_names_stand_for_is_a_number() {
    let ours = "{flags=BPF_F_RDONLY|BPF_F_PATH_FD|0x1, n=3, t=BPF_ANY, \"BPF\"}";
    let theirs = "{flags=BPF_F_RDONLY|0x4001, n=3, t=0, \"BPF\"}";
    assert_eq!(in_numbers(ours, "bpf_"), in_numbers(theirs, "bpf_"));
    assert_ne!(
        in_numbers(ours, "bpf_"),
        in_numbers(&theirs.replace("4001", "4003"), "bpf_")
    );
}
