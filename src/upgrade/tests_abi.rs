#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::abi::{FORMS, Forms};
use super::tests::{facts, found, passed};
use super::*;
use syscall_model::names::Abi;
use syscall_model::select::Selection;

/// Class and words of what differs between a run on amd64 and one on arm64.
fn across(amd64: &str, arm64: &str) -> Vec<(Class, String)> {
    let of = |arch: &str| Facts {
        arch: arch.to_owned(),
        ..facts("6.1")
    };
    let block = |lines: &str| passed(&format!("P1 x\n{lines}"));
    let (before, after) = (block(amd64), block(arm64));
    let (old, new) = (of("amd64"), of("arm64"));
    let one = std::slice::from_ref;
    let all = found((&old, one(&before)), (&new, one(&after)));
    all.into_iter()
        .map(|(class, what, _)| (class, what))
        .collect()
}

fn of_abi(what: &str) -> Vec<(Class, String)> {
    vec![(Class::Architecture, what.to_owned())]
}

/// Lines of the same scenarios on Debian's 6.1 for amd64 and for arm64.
#[test]
fn calls_that_say_the_same_differ_by_the_abi_alone() {
    for (amd64, arm64, what) in [
        (
            "  mkdir(\"there\", 0777) = -1 EEXIST\n",
            "  mkdirat(AT_FDCWD, \"there\", 0777) = -1 EEXIST\n",
            "`mkdir` is `mkdirat` there",
        ),
        (
            "  rename(\"./<temporary:1>\", \"config\") = 0\n",
            "  renameat(AT_FDCWD, \"./<temporary:1>\", AT_FDCWD, \"config\") = 0\n",
            "`rename` is `renameat` there",
        ),
        (
            "  chmod(\"/proc/self/fd/3\" -> \"$DIR/tree\", 0755) = 0\n",
            "  fchmodat(AT_FDCWD, \"/proc/self/fd/3\" -> \"$DIR/tree\", 0755) = 0\n",
            "`chmod` is `fchmodat` there",
        ),
        (
            "  dup2(<$DIR/data>, 0<stdin>) = 0<$DIR/data>\n",
            "  dup3(<$DIR/data>, 0<stdin>, 0) = 0<$DIR/data>\n",
            "`dup2` is `dup3` there",
        ),
        (
            "  clone(CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, NULL, NULL, <addr>) = P2\n",
            "  clone(CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, NULL, NULL, NULL, <addr>) = P2\n",
            "`clone` has the architecture's own values",
        ),
        (
            "  openat(AT_FDCWD, \"/lib/x86_64-linux-gnu/libc.so.6\", O_RDONLY|O_CLOEXEC) = </lib/x86_64-linux-gnu/libc.so.6>\n",
            "  openat(AT_FDCWD, \"/lib/aarch64-linux-gnu/libc.so.6\", O_RDONLY|O_CLOEXEC) = </lib/aarch64-linux-gnu/libc.so.6>\n",
            "paths and files name the architecture",
        ),
        (
            "  read(</lib/x86_64-linux-gnu/libc.so.6>, \"\\177ELF\\2\\1\\1\\3\\0\\3\\0>\\0\"..., 832) = 832\n",
            "  read(</lib/aarch64-linux-gnu/libc.so.6>, \"\\177ELF\\2\\1\\1\\3\\0\\3\\0\\267\\0\"..., 832) = 832\n",
            "paths and files name the architecture",
        ),
        (
            "  rseq(<addr>, 0x20, 0, 0x53053053) = 0\n",
            "  rseq(<addr>, 0x20, 0, 0xd428bc00) = 0\n",
            "`rseq` has the architecture's own values",
        ),
        (
            "  syscalls:sys_enter_read __syscall_nr=0 fd=3 buf=<addr> count=98304\n",
            "  syscalls:sys_enter_read __syscall_nr=63 fd=3 buf=<addr> count=98304\n",
            "`syscalls:sys_enter_read` has the architecture's own values",
        ),
        (
            "  signal:signal_deliver sig=SIGUSR1 errno=0 code=SI_USER sa_handler=<addr> sa_flags=67108864\n",
            "  signal:signal_deliver sig=SIGUSR1 errno=0 code=SI_USER sa_handler=<addr> sa_flags=0\n",
            "`signal:signal_deliver` has the architecture's own values",
        ),
        (
            "  arch_prctl(ARCH_SET_FS, <addr>) = 0\n  close(3) = 0\n",
            "  close(3) = 0\n",
            "arm64 has no call `arch_prctl`",
        ),
        (
            "  access\n  close\n",
            "  close\n  faccessat\n",
            "`access` is `faccessat` there",
        ),
    ] {
        assert_eq!(across(amd64, arm64), of_abi(what), "{amd64}{arm64}");
    }
}

#[test]
fn what_the_abi_does_not_explain_keeps_its_class() {
    for (amd64, arm64, class, what) in [
        // A folder is removed in place of a file.
        (
            "  unlink(\"a\") = 0\n",
            "  unlinkat(AT_FDCWD, \"a\", AT_REMOVEDIR) = 0\n",
            Class::Behaviour,
            "`unlinkat` has other arguments",
        ),
        (
            "  rename(\"a\", \"b\") = 0\n",
            "  renameat2(AT_FDCWD, \"a\", AT_FDCWD, \"b\", RENAME_NOREPLACE) = 0\n",
            Class::Path,
            "",
        ),
        (
            "  mkdir(\"a\", 0777) = 0\n",
            "  mkdirat(AT_FDCWD, \"a\", 0777) = -1 EACCES\n",
            Class::Behaviour,
            "`mkdirat` returns -1 EACCES instead of 0",
        ),
        // Both have it, and one alone makes it.
        (
            "  fsync(<$DIR/a>) = 0\n  close(3) = 0\n",
            "  close(3) = 0\n",
            Class::Path,
            "no `fsync`",
        ),
        (
            "  unlink(\"a\") = 0\n  unlink(\"b\") = 0\n",
            "  unlinkat(AT_FDCWD, \"a\", 0) = 0\n",
            Class::Path,
            "no `unlinkat`",
        ),
    ] {
        let all = across(amd64, arm64);
        let real: Vec<_> = all
            .iter()
            .filter(|it| it.0 != Class::Architecture)
            .collect();
        assert!(!real.is_empty(), "{amd64}{arm64}: {all:?}");
        assert!(real.iter().all(|it| it.0 == class), "{all:?}");
        assert!(real.iter().any(|it| it.1.contains(what)), "{all:?}");
    }
}

#[test]
fn within_an_architecture_nothing_is_a_matter_of_the_abi() {
    let before = passed("P1 x\n  rename(\"a\", \"b\") = 0\n");
    let after = passed("P1 x\n  renameat(AT_FDCWD, \"a\", AT_FDCWD, \"b\") = 0\n");
    for arch in ["arm64", ""] {
        let of = |release: &str| Facts {
            arch: arch.to_owned(),
            ..facts(release)
        };
        let (old, new) = (of("6.1"), of("7.2"));
        let one = std::slice::from_ref;
        let all = found((&old, one(&before)), (&new, one(&after)));
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(all.iter().all(|it| it.0 == Class::Path), "{all:?}");
    }
}

#[test]
fn a_call_keeps_its_result_and_all_of_its_text_in_the_common_form() {
    let text = "P1 x\n  link(\"a, {1}\", \"c\") = -1 EEXIST\n  creat(\"d\", 0600) = <$DIR/d>\n  pause() = -1 EINTR\n";
    let trace = TraceText::read(text);
    let forms = Forms::of(&trace);
    let mut put = trace.clone();
    forms.put(&mut put);
    let lines = put.blocks.first().unwrap().lines.iter();
    let texts: Vec<&str> = lines.map(|line| line.text).collect();
    assert_eq!(
        texts,
        [
            "linkat(AT_FDCWD, \"a, {1}\", AT_FDCWD, \"c\", 0) = -1 EEXIST",
            "openat(AT_FDCWD, \"d\", O_WRONLY|O_CREAT|O_TRUNC, 0600) = <$DIR/d>",
            "ppoll(NULL, 0, NULL, NULL, 0) = -1 EINTR",
        ]
    );
}

#[test]
fn each_form_is_a_call_that_is_known_to_do_the_same_on_arm64() {
    for (name, form) in FORMS {
        let (call, _) = form.split_once('(').unwrap();
        let same = Selection::parse(&[name], Abi::Aarch64).unwrap();
        assert!(same.names().any(|it| it == call), "{name}: {call}");
    }
}
