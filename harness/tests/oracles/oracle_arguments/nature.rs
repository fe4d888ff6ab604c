//! What differs by nature between the two witnesses, all of it.
//!
//! - A descriptor is shown with what it refers to, `3</etc/passwd>`, and by strace without: what is
//!   in the angle brackets is not compared here.
//! - strace counts the variables of an environment and the entries of a folder, and marks a number
//!   that it has no name for, in comments.
//! - It shows the old `clone` in another order than the kernel's, with names.
//! - `rt_sigreturn` and `restart_syscall` have no arguments: what strace shows there it has read
//!   from the stack, or knows from before.
//! - Where two commands of ioctl(2) have one number it gives both names.
//! - Of what `msgrcv` received it shows as many bytes as there was room for.
//! - It shows the times of a child that `waitid` never fills in (`kernel/exit.c`).
//! - The letters of `getrandom` are in hexadecimal.
//! - Some numbers in addresses of sockets and events have their names in comments.
//! - It shows the size that `perf_event_open` writes where it fails.
//! - Messages of netlink have more of this kind: see [`messages`].
//! - It cuts every string that is no path at the length that it is given, those of `argv` too.

mod messages;

use super::super::support::harness::{self, Syscall};
use super::super::support::numbers::in_numbers;
use super::super::support::spoken::{self, Spoken};
use syscall_model::write_string;

/// Calls of which strace shows arguments that they do not have.
pub(super) const WITHOUT_ARGUMENTS: [&str; 2] = ["rt_sigreturn", "restart_syscall"];

/// Arguments of which strace alone shows what their addresses lead to.
const LEFT: [(&str, usize); 4] = [
    ("clone3", 0),
    // Masks of nodes.
    ("get_mempolicy", 0),
    ("get_mempolicy", 1),
    ("set_mempolicy", 1),
];

/// Whether what an argument leads to is left to strace: of a message's vectors the contents of the
/// first alone are read.
pub(super) fn is_left(call: &str, place: usize, theirs: &str) -> bool {
    let is_message = matches!(call, "recvmmsg" | "recvmsg" | "sendmmsg" | "sendmsg");
    let has_vectors = theirs.contains("}, {iov_base=");
    LEFT.contains(&(call, place)) || is_message && has_vectors
}

/// strace's text of an argument, as it is here.
pub(super) fn as_ours(call: &str, place: usize, theirs: &str, ours: &str) -> String {
    if theirs.contains("{nlmsg_len=") {
        return messages::as_ours(theirs, ours);
    }
    let text = without_comment(theirs);
    match (call, place) {
        ("ioctl", 1) => {
            let mut names = text.split(" or ");
            let same = names.find(|name| *name == ours);
            same.unwrap_or(text).to_owned()
        }
        ("waitid", 2) => match text.split_once(", si_utime=") {
            Some((before, _)) if !ours.contains("si_utime") => format!("{before}}}"),
            _ => text.to_owned(),
        },
        ("msgrcv", 1) => match ours.strip_suffix("\"}") {
            Some(received) if text.starts_with(received) => ours.to_owned(),
            _ => text.to_owned(),
        },
        ("getrandom", 0) => in_octal(text),
        ("connect", 1) => with_names(text),
        ("perf_event_open", 0) => {
            let text = without_answer(&with_names(text));
            match in_numbers(&text, "perf_sizes") == in_numbers(ours, "perf_sizes") {
                true => ours.to_owned(),
                false => text,
            }
        }
        // It does not know the newer names.
        ("io_uring_setup", 1) if in_numbers(text, "io_uring") == in_numbers(ours, "io_uring") => {
            ours.to_owned()
        }
        _ => text.to_owned(),
    }
}

/// `"\x41\x00"` as `"A\0"`.
fn in_octal(text: &str) -> String {
    let Some(letters) = text.strip_prefix("\"\\x") else {
        return text.to_owned();
    };
    let (letters, end) = letters.split_at(letters.find('"').unwrap_or(letters.len()));
    let bytes = letters
        .split("\\x")
        .map(|digits| u8::from_str_radix(digits, 16).expect("a byte in hexadecimal"));
    let mut octal = String::new();
    write_string(&mut octal, &bytes.collect::<Vec<_>>());
    octal + end.trim_start_matches('"')
}

/// The arguments in the kernel's order; nothing in place of those of `clone` that strace leaves out
/// as the flags make them meaningless.
pub(super) fn in_order_of_the_kernel(ours: &Syscall, theirs: &Spoken) -> Vec<Option<String>> {
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

/// `0x7ffc /* 9 vars */` and `0x29 /* CAP_??? */` without the comment.
fn without_comment(text: &str) -> &str {
    const SAID: [&str; 5] = [" var */", " vars */", " entry */", " entries */", "??? */"];
    match text.split_once(" /* ") {
        Some((number, comment)) if SAID.iter().any(|end| comment.ends_with(end)) => number,
        _ => text,
    }
}

/// `0x9c4 /* YFS_FS_SERVICE */` as the names in the comment; any other comment is left out.
fn with_names(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(" /* ") {
        let (comment, after) = behind.split_once(" */").expect("a comment ends");
        let number = before.rfind(['=', '(']).map_or(0, |place| place + 1);
        let is_number = before
            .as_bytes()
            .get(number)
            .is_some_and(u8::is_ascii_digit);
        if is_number && !comment.contains("???") && !comment.contains(' ') {
            out.push_str(&before[..number]);
            out.push_str(comment);
        } else {
            out.push_str(before);
        }
        rest = after;
    }
    out + rest
}

/// `{size=0x1000 => 0x88, config=1}` without what the kernel has written.
fn without_answer(text: &str) -> String {
    let parts = text.split_once(" => ");
    let rest = parts.and_then(|(given, answer)| Some((given, answer.split_once(", ")?.1)));
    rest.map_or_else(
        || text.to_owned(),
        |(given, rest)| format!("{given}, {rest}"),
    )
}

/// `3</etc/passwd>` without what is in the angle brackets, which follow a digit; strings stay as
/// they are.
pub(super) fn without_files(text: &str) -> String {
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
    fn only_some_comments_are_taken_away() {
        assert_eq!(without_comment("0x7f /* 9 vars */"), "0x7f");
        assert_eq!(without_comment("0x7f /* 0 entries */"), "0x7f");
        assert_eq!(without_comment("0x29 /* CAP_??? */"), "0x29");
        assert_eq!(without_comment("5 /* 0.05 s */"), "5 /* 0.05 s */");
    }

    #[test]
    fn names_in_comments_are_those_of_the_numbers_before_them() {
        for (text, with) in [
            ("{a=0x1 /* ONE */, b=2}", "{a=ONE, b=2}"),
            ("{a=htobs(0x5 /* X_??? */)}", "{a=htobs(0x5)}"),
            ("{a=0x1001 /* ONE|0x1000 */}", "{a=ONE|0x1000}"),
            ("{a=1 /* constant skid */}", "{a=1}"),
            (r#"{c="\x41"} /* A-0 */, *"#, r#"{c="\x41"}, *"#),
        ] {
            assert_eq!(with_names(text), with);
        }
    }

    #[test]
    fn what_a_call_writes_where_it_fails_is_left_out() {
        assert_eq!(without_answer("{a=0x9 => 0x8, b=1}"), "{a=0x9, b=1}");
        assert_eq!(without_answer("{a=0x9, b=1}"), "{a=0x9, b=1}");
    }

    #[test]
    fn habits_of_strace_are_known_by_their_calls() {
        for (call, place, theirs, ours, expected) in [
            ("read", 1, "0x20", "32", "0x20"),
            ("ioctl", 1, "A or B", "B", "B"),
            ("ioctl", 1, "A or B", "C", "A or B"),
            ("waitid", 3, "WSTOPPED", "", "WSTOPPED"),
            (
                "waitid",
                2,
                "{a=1, si_utime=0, si_stime=0}",
                "{a=2}",
                "{a=1}",
            ),
            (
                "msgrcv",
                1,
                r#"{m=1, t="ab\0"}"#,
                r#"{m=1, t="ab"}"#,
                r#"{m=1, t="ab"}"#,
            ),
            (
                "msgrcv",
                1,
                r#"{m=1, t="ab\0"}"#,
                r#"{m=2, t="ab"}"#,
                r#"{m=1, t="ab\0"}"#,
            ),
            ("getrandom", 0, r#""\x41\x00\x31"..."#, "", r#""A\0001"..."#),
        ] {
            assert_eq!(as_ours(call, place, theirs, ours), expected, "{call}");
        }
    }
}
