//! What two architectures do differently by their ABI alone.
//!
//! arm64 has of the calls that say the same only the newest (`openat`, and no `open`), as it came
//! late; its C library makes these for the same functions. So a trace of either architecture is
//! read in one form, the one of arm64, before it is compared with one of the other: what differs
//! then is no matter of the ABI, and what differs before and not then is nothing else. What is
//! shown are the lines as they were.

use super::lines::{Line, TraceText};
use syscall_model::names::{self, Abi};

/// How calls that x86-64 alone has are written with those that arm64 has as well: `{*}` stands for
/// all arguments, `{1}` for the second one.
///
/// The arguments are those of glibc 2.36, `sysdeps/unix/sysv/linux`, for the same function on
/// either.
pub(super) const FORMS: &[(&str, &str)] = &[
    ("access", "faccessat(AT_FDCWD, {*})"),
    ("chmod", "fchmodat(AT_FDCWD, {*})"),
    ("chown", "fchownat(AT_FDCWD, {*}, 0)"),
    (
        "creat",
        "openat(AT_FDCWD, {0}, O_WRONLY|O_CREAT|O_TRUNC, {1})",
    ),
    ("dup2", "dup3({*}, 0)"),
    ("epoll_create", "epoll_create1(0)"),
    ("epoll_wait", "epoll_pwait({*}, NULL, 8)"),
    ("eventfd", "eventfd2({*}, 0)"),
    ("getpgrp", "getpgid(0)"),
    ("inotify_init", "inotify_init1(0)"),
    ("lchown", "fchownat(AT_FDCWD, {*}, AT_SYMLINK_NOFOLLOW)"),
    ("link", "linkat(AT_FDCWD, {0}, AT_FDCWD, {1}, 0)"),
    ("lstat", "newfstatat(AT_FDCWD, {*}, AT_SYMLINK_NOFOLLOW)"),
    ("mkdir", "mkdirat(AT_FDCWD, {*})"),
    ("mknod", "mknodat(AT_FDCWD, {*})"),
    ("open", "openat(AT_FDCWD, {*})"),
    ("pause", "ppoll(NULL, 0, NULL, NULL, 0)"),
    ("pipe", "pipe2({*}, 0)"),
    ("readlink", "readlinkat(AT_FDCWD, {*})"),
    ("rename", "renameat(AT_FDCWD, {0}, AT_FDCWD, {1})"),
    ("rmdir", "unlinkat(AT_FDCWD, {*}, AT_REMOVEDIR)"),
    ("stat", "newfstatat(AT_FDCWD, {*}, 0)"),
    ("symlink", "symlinkat({0}, AT_FDCWD, {1})"),
    ("unlink", "unlinkat(AT_FDCWD, {*}, 0)"),
];

/// Calls with flags, which say what another call says where they are 0.
const WITHOUT_FLAGS: &[(&str, &str)] = &[
    ("faccessat2", "faccessat"),
    ("fchmodat2", "fchmodat"),
    ("renameat2", "renameat"),
];

/// Texts that name an architecture, and what both are given for them.
const ARCHITECTURES: &[(&str, &str)] = &[
    ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
    ("x86_64", "aarch64"),
    // `e_machine` behind `e_type`, in the first bytes of a program or library that is read.
    ("\\3\\0>\\0", "\\3\\0\\267\\0"),
];

/// `SA_RESTORER` and its function, which x86-64 alone asks of the C library, as a call and as a
/// tracepoint tell it; longer texts first.
const HANDLERS: &[(&str, &str)] = &[
    ("sa_flags=SA_RESTORER|", "sa_flags="),
    ("sa_flags=SA_RESTORER", "sa_flags=0"),
    (", sa_restorer=<addr>", ""),
    (" sa_flags=67108864", " sa_flags=0"),
];

/// The architectures of two answers that are not of the same one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Across {
    pub(super) base: Abi,
    pub(super) other: Abi,
}

impl Across {
    /// `None` if they are of one architecture, or it is not known.
    pub(super) fn of(base: &str, other: &str) -> Option<Self> {
        let (base, other) = (abi(base)?, abi(other)?);
        (base != other).then_some(Self { base, other })
    }
}

/// The convention of an architecture by Debian's word for it.
fn abi(arch: &str) -> Option<Abi> {
    match arch {
        "amd64" => Some(Abi::X86_64),
        "arm64" => Some(Abi::Aarch64),
        _ => None,
    }
}

/// Whether a convention has this call and another lacks it, whatever it might have in its place.
pub(super) fn is_alone(name: &str, own: Abi, other: Abi) -> bool {
    names::number(own, name).is_some() && names::number(other, name).is_none()
}

/// The lines of a trace in the form of both architectures; `None` for each that is in it already.
#[derive(Debug)]
pub(super) struct Forms(Vec<Vec<Option<String>>>);

impl Forms {
    pub(super) fn of(trace: &TraceText<'_>) -> Self {
        let of_block = |lines: &[Line<'_>]| lines.iter().map(form).collect();
        let blocks = trace.blocks.iter();
        Self(blocks.map(|block| of_block(&block.lines)).collect())
    }

    /// Puts these lines in place of those that they were made of. A set of names stays one: each
    /// stands there once, in order.
    pub(super) fn put<'a>(&'a self, trace: &mut TraceText<'a>) {
        for (block, forms) in trace.blocks.iter_mut().zip(&self.0) {
            for (line, form) in block.lines.iter_mut().zip(forms) {
                if let Some(form) = form {
                    *line = line.in_form(form);
                }
            }
            if block.lines.iter().all(|line| line.text == line.name) {
                block.lines.sort_by_key(|line| line.name);
                block.lines.dedup_by_key(|line| line.name);
            }
        }
    }
}

/// A line in the form of both architectures.
fn form(line: &Line<'_>) -> Option<String> {
    let given = line.text;
    let text = match line.call() {
        Some((arguments, result)) => {
            let call = call(line.name, &arguments);
            call.map(|call| format!("{call} = {result}"))
        }
        None if given == line.name => {
            let known = FORMS.iter().find(|(name, _)| *name == line.name);
            known.and_then(|(_, form)| Some(form.split_once('(')?.0.to_owned()))
        }
        None => without_number(given),
    };
    let text = text.unwrap_or_else(|| given.to_owned());
    let text = in_names(&in_names(&text, ARCHITECTURES), HANDLERS);
    (text != given).then_some(text)
}

/// A text with each of these in place of the other.
fn in_names(text: &str, names: &[(&str, &str)]) -> String {
    let put = |text: String, (name, both): &(&str, &str)| text.replace(name, both);
    names.iter().fold(text.to_owned(), put)
}

/// A call in that form.
fn call(name: &str, arguments: &[&str]) -> Option<String> {
    if let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) {
        return filled(form, arguments);
    }
    if let Some((_, plain)) = WITHOUT_FLAGS.iter().find(|(known, _)| *known == name) {
        let ("0", before) = arguments.split_last().map(|(last, all)| (*last, all))? else {
            return None;
        };
        return Some(format!("{plain}({})", before.join(", ")));
    }
    match (name, arguments) {
        // The order of the last two is that of `CONFIG_CLONE_BACKWARDS` on arm64; x86-64 shows no
        // `tls` where it is not used.
        ("clone", [flags, stack, parent, child]) => {
            Some(format!("clone({flags}, {stack}, {parent}, NULL, {child})"))
        }
        // The number that the C library puts before each handler differs.
        ("rseq", [area, length, flags, _]) => {
            Some(format!("rseq({area}, {length}, {flags}, <signature>)"))
        }
        _ => None,
    }
}

/// A form with the arguments in their places; `None` where it takes more than there are.
fn filled(form: &str, arguments: &[&str]) -> Option<String> {
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, behind)) = rest.split_once('{') {
        let (place, behind) = behind.split_once('}')?;
        text.push_str(before);
        match place.parse::<usize>() {
            Ok(place) => text.push_str(arguments.get(place)?),
            Err(_) => text.push_str(&arguments.join(", ")),
        }
        rest = behind;
    }
    text.push_str(rest);
    Some(text)
}

/// The text of a call's tracepoint without the call's number.
fn without_number(text: &str) -> Option<String> {
    const FIELD: &str = " __syscall_nr=";
    let (before, behind) = text.split_once(FIELD)?;
    let end = behind.find(' ').unwrap_or(behind.len());
    let rest = behind.get(end..).unwrap_or_default();
    Some(format!("{before}{FIELD}<number>{rest}"))
}

/// What differs between two lines that are equal in the form of both; `None` where nothing does.
pub(super) fn said(before: &Line<'_>, after: &Line<'_>) -> Option<String> {
    let is_formed = |line: &Line<'_>| line.text != line.shown();
    if !(is_formed(before) || is_formed(after)) || before.shown() == after.shown() {
        return None;
    }
    let [old, new] = [before, after].map(|line| Line::of(line.whole).name);
    if old != new {
        return Some(format!("`{old}` is `{new}` there"));
    }
    let [before, after] = [before, after].map(|line| in_names(line.shown(), ARCHITECTURES));
    Some(match before == after {
        true => "paths and files name the architecture".to_owned(),
        false => format!("`{old}` has the architecture's own values"),
    })
}
