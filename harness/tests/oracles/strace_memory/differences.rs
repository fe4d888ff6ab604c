//! Where this form differs from strace 6.1's, and why.

use super::super::support::numbers::in_numbers;

/// Whether two texts say the same, but for comments on values that have no name.
pub(super) fn is_same(call: &str, ours: &str, theirs: &str) -> bool {
    let theirs = without_marks(theirs);
    ours == theirs
        // strace shows a set of signals there only where the call succeeds.
        || call == "epoll_pwait"
        // strace 6.1 does not know the mask of all that is said of access times.
        || ours.contains("MOUNT_ATTR__ATIME")
        // strace 6.1 does not know the newer names, and has none for two flags of an element.
        || call == "bpf" && in_numbers(ours, "bpf_") == in_numbers(&theirs, "bpf_")
        || call == "io_uring_setup" && in_numbers(ours, "io_uring") == in_numbers(&theirs, "io_uring")
        // What the addresses in it lead to is not given here.
        || call == "bpf" && [r#"="","#, "=[],"].iter().any(|nothing| theirs.contains(nothing))
        // strace has the name of an interface of this machine.
        || theirs.contains("if_nametoindex(")
        // The kernel looks at a scope only where all of it is there (`inet6_bind()`).
        || theirs
            .strip_prefix(ours.trim_end_matches('}'))
            .is_some_and(|rest| rest.starts_with(", sin6_scope_id="))
}

/// `0x29 /* CAP_??? */` without the comment; all ones, which stand for no node, likewise.
fn without_marks(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" /* ") {
        out.push_str(before);
        let (comment, after) = after.split_once(" */").unwrap_or((after, ""));
        if !comment.ends_with("???") && comment != "NUMA_NO_NODE" {
            out.push_str(&format!(" /* {comment} */"));
        }
        rest = after;
    }
    out + rest
}
