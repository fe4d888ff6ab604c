//! Whether two texts of an argument say the same.
//!
//! What differs by nature, all of it:
//!
//! - a descriptor is shown with what it refers to, `3</etc/passwd>`, and by strace without: what is
//!   in the angle brackets is not compared;
//! - of the environment strace shows the address and how many variables there are, `0x7ffc /* 9
//!   vars */`, and the tracer the address only; so with the entries of a folder;
//! - the old `clone` is shown by strace in another order than the kernel's, with names;
//! - `rt_sigreturn` and `restart_syscall` have no arguments: what strace shows there it has read
//!   from the stack, or knows from before;
//! - the contents of buffers are shown where that is asked for, else their addresses.

use super::super::support::harness::{self, Syscall};
use super::super::support::spoken::{self, Spoken};

/// What came of the comparison of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Both show the same.
    Equal,
    /// strace shows what the address leads to.
    OnlyStrace,
    /// The tracer shows what the address leads to, and strace the address.
    OnlyOurs,
    /// strace shows a string that names something, and the tracer does not.
    Unread,
    /// Both show something, and it is not the same.
    Unequal,
}

/// One argument of one call.
pub(super) struct Argument<'a> {
    pub(super) call: &'a str,
    pub(super) place: usize,
    /// The kernel's name for it.
    pub(super) name: &'a str,
    pub(super) ours: String,
    pub(super) theirs: String,
    pub(super) finding: Finding,
}

/// What stands for an argument that one of the two does not have.
const ABSENT: &str = "(absent)";

/// Calls of which strace shows arguments that they do not have.
const WITHOUT_ARGUMENTS: [&str; 2] = ["rt_sigreturn", "restart_syscall"];

/// Compares all arguments of a call.
pub(super) fn arguments<'a>(ours: &'a Syscall, theirs: &Spoken) -> Vec<Argument<'a>> {
    if WITHOUT_ARGUMENTS.contains(&ours.name.as_str()) {
        return Vec::new();
    }
    let theirs = in_order_of_the_kernel(ours, theirs);
    let count = ours.args.len().max(theirs.len());
    let compared = (0..count).filter_map(|place| {
        let argument = ours.args.get(place);
        let our = argument.map_or(ABSENT.to_owned(), |argument| without_files(&argument.text));
        let their = theirs
            .get(place)
            .cloned()
            .unwrap_or_else(|| Some(ABSENT.to_owned()))?;
        let their = without_count(&their);
        let is_contents = CONTENTS.contains(&(ours.name.as_str(), place));
        Some(Argument {
            call: &ours.name,
            place,
            name: argument.map_or("", |argument| &argument.name),
            finding: finding(&our, their, is_contents),
            theirs: their.to_owned(),
            ours: our,
        })
    });
    compared.collect()
}

/// Buffers, whose contents are no names.
const CONTENTS: [(&str, usize); 27] = [
    ("read", 1),
    ("pread64", 1),
    ("readv", 1),
    ("preadv", 1),
    ("preadv2", 1),
    ("write", 1),
    ("pwrite64", 1),
    ("writev", 1),
    ("pwritev", 1),
    ("pwritev2", 1),
    ("sendto", 1),
    ("recvfrom", 1),
    ("sendmsg", 1),
    ("recvmsg", 1),
    ("sendmmsg", 1),
    ("recvmmsg", 1),
    ("getrandom", 0),
    ("getxattr", 2),
    ("lgetxattr", 2),
    ("fgetxattr", 2),
    ("setxattr", 2),
    ("lsetxattr", 2),
    ("fsetxattr", 2),
    ("listxattr", 1),
    ("llistxattr", 1),
    ("flistxattr", 1),
    ("setsockopt", 3),
];

fn finding(ours: &str, theirs: &str, is_contents: bool) -> Finding {
    let is_string = theirs.starts_with('"');
    let is_structure = theirs.starts_with(['[', '{', '~']);
    let leads_nowhere = |text: &str| text.starts_with("0x") || text == "<unread>";
    if ours == theirs {
        Finding::Equal
    } else if leads_nowhere(ours) && (is_structure || (is_string && is_contents)) {
        Finding::OnlyStrace
    } else if leads_nowhere(ours) && is_string {
        Finding::Unread
    } else if theirs.starts_with("0x") && ours.starts_with(['"', '[', '{', '~']) {
        Finding::OnlyOurs
    } else {
        Finding::Unequal
    }
}

/// The arguments in the kernel's order; nothing in place of those of `clone` that strace leaves out
/// as the flags make them meaningless.
fn in_order_of_the_kernel(ours: &Syscall, theirs: &Spoken) -> Vec<Option<String>> {
    let text = |argument: &spoken::Argument| argument.text.clone();
    if theirs
        .arguments
        .iter()
        .all(|argument| argument.label.is_none())
    {
        return theirs
            .arguments
            .iter()
            .map(|argument| Some(text(argument)))
            .collect();
    }
    let of_kernel = |argument: &harness::Argument| {
        let label = label(&argument.name);
        theirs
            .arguments
            .iter()
            .find(|their| their.label.as_deref() == Some(label))
            .map(text)
    };
    ours.args.iter().map(of_kernel).collect()
}

/// strace's name for an argument of `clone`.
fn label(name: &str) -> &str {
    match name {
        "clone_flags" => "flags",
        "newsp" => "child_stack",
        "parent_tidptr" => "parent_tid",
        other => other,
    }
}

/// `0x7ffc /* 9 vars */` without the comment.
fn without_count(text: &str) -> &str {
    const COUNTED: [&str; 4] = [" var */", " vars */", " entry */", " entries */"];
    match text.split_once(" /* ") {
        Some((address, comment)) if COUNTED.iter().any(|end| comment.ends_with(end)) => address,
        _ => text,
    }
}

/// `3</etc/passwd>` without what is in the angle brackets, which follow a digit; strings stay as
/// they are.
fn without_files(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => spoken::length_of_string(rest.as_bytes()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let is_file = first == '<' && out.ends_with(|last: char| last.is_ascii_digit());
        if let Some(end) = rest
            .find('>')
            .filter(|_| is_file && !rest.starts_with("<<"))
        {
            rest = rest.get(end + 1..).unwrap_or_default();
            continue;
        }
        out.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_that_names_something_must_be_there() {
        for (ours, theirs, is_contents, expected) in [
            ("\"/etc\"", "\"/etc\"", false, Finding::Equal),
            ("<unread>", "\"/etc\"", false, Finding::Unread),
            ("0x7f00", "\"/etc\"", false, Finding::Unread),
            ("\"/et\"...", "\"/etc\"", false, Finding::Unequal),
            ("0x7f00", "\"data\"", true, Finding::OnlyStrace),
            ("0x7f00", "{st_mode=0}", false, Finding::OnlyStrace),
            ("{st_mode=0}", "0x7f00", false, Finding::OnlyOurs),
            ("0x1", "PROT_READ", false, Finding::Unequal),
            ("(absent)", "0644", false, Finding::Unequal),
        ] {
            assert_eq!(
                finding(ours, theirs, is_contents),
                expected,
                "{ours} {theirs}"
            );
        }
    }

    #[test]
    fn only_files_of_descriptors_are_taken_away() {
        for (text, without) in [
            ("3", "3"),
            ("3</etc/passwd>", "3"),
            (
                "[{fd=3</a>, events=POLLIN}, {fd=4<pipe>}]",
                "[{fd=3, events=POLLIN}, {fd=4}]",
            ),
            ("\"3</a>\"", "\"3</a>\""),
            ("1<<CAP_KILL", "1<<CAP_KILL"),
            ("<unread>", "<unread>"),
        ] {
            assert_eq!(without_files(text), without);
        }
    }

    #[test]
    fn only_a_count_is_taken_away() {
        assert_eq!(without_count("0x7f /* 9 vars */"), "0x7f");
        assert_eq!(without_count("0x7f /* 0 entries */"), "0x7f");
        assert_eq!(without_count("0x9 /* ??? */"), "0x9 /* ??? */");
    }
}
