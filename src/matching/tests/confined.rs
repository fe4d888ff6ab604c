//! What a run is confined to.

use super::notation::{deeds, of_deeds};
use crate::matching::{Blaming, Confinement, Finding, Realm, confine};
use crate::scenario::{AddressPattern, Confined, StartedAs};
use crate::trace::{Normalised, Reached, Value};
use std::collections::BTreeSet;

/// The workload's own start.
const START: &str = "P1/sh execve(filename:path=p\"/bin/sh\", ...) = 0\n";

fn trace(text: &str) -> Normalised {
    of_deeds(deeds(&format!("{START}{text}")))
}

pub(super) fn found(rules: &Confined, text: &str) -> Vec<(Realm, Finding)> {
    found_in(rules, &trace(text))
}

fn found_in(rules: &Confined, trace: &Normalised) -> Vec<(Realm, Finding)> {
    let confinement = Confinement {
        rules: rules.clone(),
        lines: Realm::ALL.into_iter().zip(1..).collect(),
        folders: ["/usr/bin", "/bin", "", "/a[b]"]
            .map(str::to_owned)
            .to_vec(),
        hidden: BTreeSet::new(),
        tests: Vec::new(),
        finds_tests: false,
        blaming: Blaming::default(),
        started_as: StartedAs {
            user: Some(7),
            group: None,
        },
    };
    confine(&confinement, trace, false)
}

/// The word for what came of one world and one line.
pub(super) fn word(rules: &Confined, line: &str) -> String {
    match found(rules, line).first() {
        None => "allowed".to_owned(),
        Some((_, Finding::Failed(said))) => {
            let quoted = said.text.split('`').nth(3).unwrap_or_default();
            format!("not {quoted}")
        }
        Some((_, finding)) => {
            assert!(matches!(finding, Finding::Unknown(_)), "{finding:?}");
            "unknown".to_owned()
        }
    }
}

pub(super) fn strings(all: &[&str]) -> Option<Vec<String>> {
    Some(all.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn each_way_of_writing_is_confined_and_reading_is_not() {
    let rules = Confined {
        writes: strings(&["data/**", "log"]),
        ..Confined::default()
    };
    for (line, said) in [
        (
            "openat(filename:path=p\"x\", flags=0) = <3 $DIR/x #1>",
            "allowed",
        ),
        (
            "openat(filename:path=p\"x\", flags=1) = <3 $DIR/x #1>",
            "not x",
        ),
        (
            "openat(filename:path=p\"x\", flags=64) = <3 $DIR/x #1>",
            "not x",
        ),
        (
            "openat(filename:path=p\"x\", flags=2097153) = <3 $DIR/x #1>",
            "allowed",
        ),
        ("openat(filename:path=p\"x\", flags=1) = EACCES", "allowed"),
        (
            "openat(filename:path=p\"x\", flags=1) = <unread>",
            "unknown",
        ),
        (
            "openat(filename:path=p\"data/a\", flags=1) = <3 $DIR/data/a #1>",
            "allowed",
        ),
        ("openat(filename:path=<unread>, flags=1) = <3 ?>", "unknown"),
        (
            "openat(filename:path=q\"x/log\", flags=1) = <3 ?>",
            "unknown",
        ),
        ("openat(?) = 3", "unknown"),
        ("open_by_handle_at(flags=1) = <3 ?>", "unknown"),
        (
            "renameat2(a:from=p\"log\", b:to=p\"data/l\", flags=0) = 0",
            "allowed",
        ),
        (
            "renameat2(a:from=p\"log\", b:to=p\"old\", flags=0) = 0",
            "not old",
        ),
        (
            "linkat(a:from=p\"old\", b:to=p\"data/l\", flags=0) = 0",
            "allowed",
        ),
        ("mkdir(pathname:path=p\"/tmp/a\") = 0", "not /tmp/a"),
        ("fchmod(fd=<3 $DIR/x #1>) = 0", "not x"),
        ("fchmod(fd=<3 ?>) = 0", "unknown"),
        ("ftruncate(fd=<3 memfd:x #1>) = 0", "allowed"),
        (
            "utimensat(dfd:dir=<3 $DIR/x #1>, filename:path=NULL) = 0",
            "not x",
        ),
        ("ioctl(fd=<3 $DIR/x #1>, cmd=1074292226) = 0", "not x"),
        ("ioctl(fd=<3 $DIR/x #1>, cmd=21505) = 0", "allowed"),
        ("bind(fd=<3 unix #1>, family=1, unix=p\"s\") = 0", "not s"),
        ("ftruncate64(fd=<3 $DIR/x #1>) = 0", "not x"),
        ("fchmod(fd=<3>) = 0", "unknown"),
        // BPF_OBJ_PIN, behind what the kernel does not look at.
        ("bpf(cmd=4294967302) = 0", "unknown"),
        ("bpf(cmd=4294967301) = 0", "allowed"),
        ("mq_unlink(u_name=\"x\") = 0", "not /dev/mqueue/x"),
        ("mq_unlink(u_name=<unread>) = 0", "unknown"),
        ("mount_setattr(dfd:dir=AT_FDCWD, path=p\"x\") = 0", "not x"),
        (
            "setxattrat(dfd:dir=<3 $DIR/x #1>, pathname:path=NULL) = 0",
            "not x",
        ),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
}

#[test]
fn a_relative_glob_is_below_the_working_directory_however_it_begins() {
    let globs = [
        "**", "./**", ".//**", "././**", "*/**", "**/x", "./**/x", "*/x", "*/*", "?*/**", "3", "x",
    ];
    let line = |path: &str| format!("P1 mkdir(pathname:path=p\"{path}\") = 0");
    for glob in globs {
        let rules = Confined {
            writes: strings(&[glob]),
            ..Confined::default()
        };
        for path in ["/tmp/x", "/x", "/x/x"] {
            let said = format!("not {path}");
            assert_eq!(word(&rules, &line(path)), said, "{glob}");
        }
        // A descriptor's number is no name.
        let by_descriptor = "P1 fchmod(fd=<3 /tmp/x #1>) = 0";
        assert_eq!(word(&rules, by_descriptor), "not /tmp/x", "{glob}");
    }
    for (glob, path, said) in [
        ("**", "a/x", "allowed"),
        ("./**", "$DIR/x", "allowed"),
        (".//*/**", "a/x", "allowed"),
        ("*/**", "x", "not x"),
        ("**/x", "a/b/x", "allowed"),
        ("**/x", "x", "allowed"),
        ("*", "$DIR", "not $DIR"),
        ("$DIR/*", "x", "allowed"),
        ("/**/x", "/tmp/x", "allowed"),
        ("/**/x", "a/x", "not a/x"),
    ] {
        let rules = Confined {
            writes: strings(&[glob]),
            ..Confined::default()
        };
        assert_eq!(word(&rules, &line(path)), said, "{glob} {path}");
    }
    let rules = Confined {
        reads: strings(&["**"]),
        programs: strings(&["**/git"]),
        ..Confined::default()
    };
    let execute = |path: &str| format!("P1 execve(filename:path=p\"{path}\") = 0");
    assert_eq!(word(&rules, &execute("a/git")), "allowed");
    assert_eq!(word(&rules, &execute("/a/git")), "not /a/git");
}

#[test]
fn the_own_folder_and_program_are_read_and_what_may_be_executed() {
    let rules = Confined {
        reads: strings(&["/etc/x"]),
        programs: strings(&["git", "./tool"]),
        ..Confined::default()
    };
    for (line, said) in [
        (
            "openat(filename:path=p\"a\", flags=0) = <3 $DIR/a #1>",
            "allowed",
        ),
        (
            "openat(filename:path=p\"/etc/x\", flags=0) = <3 /etc/x #1>",
            "allowed",
        ),
        (
            "openat(filename:path=p\"/etc/y\", flags=0) = <3 /etc/y #1>",
            "not /etc/y",
        ),
        (
            "openat(filename:path=p\"/etc/y\", flags=1) = <3 /etc/y #1>",
            "allowed",
        ),
        ("execve(filename:path=p\"/usr/bin/git\") = 0", "allowed"),
        ("execve(filename:path=p\"tool\") = 0", "allowed"),
        ("execve(filename:path=p\"/bin/sh\") = 0", "allowed"),
        ("execve(filename:path=p\"git\") = 0", "allowed"),
        ("execve(filename:path=p\"/a[b]/git\") = 0", "allowed"),
        ("execve(filename:path=p\"/ab/git\") = 0", "not /ab/git"),
        ("execve(filename:path=p\"a/git\") = 0", "not a/git"),
        (
            "execveat(dfd:dir=AT_FDCWD, path=p\"/bin/x\", flags=65536) = 0",
            "allowed",
        ),
        (
            "execveat(dfd:dir=AT_FDCWD, path=p\"/bin/x\", flags=0) = 0",
            "not /bin/x",
        ),
        (
            "execve(filename:path=p\"/usr/bin/make\") = ENOENT",
            "allowed",
        ),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
}

#[test]
fn addresses_are_confined_whatever_becomes_of_the_call() {
    let one = core::net::IpAddr::from([10, 0, 0, 0]);
    let rules = Confined {
        network: Some(vec![
            AddressPattern::Internet {
                net: Some((one, 8)),
                port: Some(443),
            },
            AddressPattern::Path("run/*".to_owned()),
            AddressPattern::Abstract("a*".to_owned()),
            AddressPattern::Family("netlink".to_owned()),
        ]),
        ..Confined::default()
    };
    for (line, said) in [
        (
            "connect(family=2, ip=\"10.1.2.3\", port=443) = 0",
            "allowed",
        ),
        (
            "connect(family=2, ip=\"10.1.2.3\", port=80) = 0",
            "not 10.1.2.3:80",
        ),
        (
            "connect(family=10, ip=\"::ffff:11.0.0.1\", port=443) = 0",
            "not 11.0.0.1:443",
        ),
        (
            "connect(family=10, ip=\"::1\", port=443) = EINPROGRESS",
            "not [::1]:443",
        ),
        (
            "connect(family=10, ip=\"::1\", port=443) = ECONNREFUSED",
            "not [::1]:443",
        ),
        (
            "connect(family=10, ip=\"::1\", port=443) = EBADF",
            "allowed",
        ),
        ("connect(family=0, ip=NULL, port=NULL) = 0", "allowed"),
        ("sendto(family=0, ip=NULL, port=NULL) = 1", "unknown"),
        ("sendto(family=NULL, ip=NULL, port=NULL) = 1", "allowed"),
        (
            "sendmsg(family=<unread>, ip=<unread>, port=<unread>) = 1",
            "unknown",
        ),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=p\"run/x\") = 0",
            "allowed",
        ),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=p\"x\") = 0",
            "not unix:x",
        ),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=p\"x\") = ENOENT",
            "not unix:x",
        ),
        (
            "sendto(family=1, ip=NULL, port=NULL, unix=p\"x\") = ENOTDIR",
            "not unix:x",
        ),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=\"@ab\") = 0",
            "allowed",
        ),
        (
            "bind(family=1, ip=NULL, port=NULL, unix=\"@b\") = 0",
            "not unix:@b",
        ),
        (
            "socket(family=2, type=1, protocol=0) = <3 tcp #1>",
            "allowed",
        ),
        (
            "socket(family=2, type=3, protocol=1) = <3 socket #1>",
            "not raw",
        ),
        (
            "socket(family=2, type=1, protocol=132) = <3 socket #1>",
            "not raw",
        ),
        ("listen(fd=<3 tcp #1>) = 0", "not 0.0.0.0:0"),
        ("listen(fd=<3 tcp #1>) = EINVAL", "allowed"),
        ("socketcall(?) = 0", "unknown"),
        ("socket(family=17, type=3, protocol=0) = EPERM", "allowed"),
        // What stands above an `int` is nothing to the kernel.
        (
            "socket(family=2, type=4294967299, protocol=1) = <3 socket #1>",
            "not raw",
        ),
        ("pidfd_getfd(pidfd=<3 pidfd #1>) = <4 ?>", "unknown"),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=p\"@ab\") = 0",
            "not unix:@ab",
        ),
        (
            "connect(family=1, ip=NULL, port=NULL, unix=\"run/x\") = 0",
            "not unix:run/x",
        ),
        (
            "sendto(flags=536870912, family=2, ip=\"11.0.0.1\", port=1) = EFAULT",
            "not 11.0.0.1:1",
        ),
        (
            "sendmsg(flags=0, family=2, ip=\"11.0.0.1\", port=1) = EINVAL",
            "unknown",
        ),
        ("accept4(fd=<3 ?>) = <4 tcp #2>", "unknown"),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
    let bound = "P1 bind(fd=<3 tcp #1>, family=2, ip=\"10.0.0.1\", port=443) = 0\n\
        P1 listen(fd=<3 tcp #1>) = 0\nP1 accept4(fd=<3 tcp #1>) = <4 tcp #2>";
    assert_eq!(word(&rules, bound), "allowed");
    let failed = bound.replacen("443) = 0", "443) = EADDRINUSE", 1);
    assert_eq!(word(&rules, &failed), "not 0.0.0.0:0");
    let unread = bound.replacen("443) = 0", "443) = <unread>", 1);
    assert_eq!(word(&rules, &unread), "unknown");
    let not_listening = bound.replacen(
        "listen(fd=<3 tcp #1>) = 0",
        "listen(fd=<3 tcp #1>) = <unread>",
        1,
    );
    assert_eq!(word(&rules, &not_listening), "unknown");
}

#[test]
fn what_fails_may_have_changed_something() {
    let rules = Confined {
        writes: strings(&["data/**"]),
        privileges: strings(&[]),
        ..Confined::default()
    };
    let folder = 0o101 | libc::O_DIRECTORY;
    for (line, said) in [
        ("openat(filename:path=p\"x\", flags=65) = EINVAL", "unknown"),
        ("openat(filename:path=p\"x\", flags=1) = EINVAL", "allowed"),
        (
            "openat(filename:path=p\"data/x\", flags=65) = EINVAL",
            "allowed",
        ),
        (
            "openat(filename:path=p\"x\", flags=65) = ENOTDIR",
            "allowed",
        ),
        (
            &format!("openat(filename:path=p\"x\", flags={folder}) = ENOTDIR"),
            "unknown",
        ),
        (
            "bind(fd=<3 unix #1>, family=1, unix=p\"s\") = EINVAL",
            "unknown",
        ),
        (
            "bind(fd=<3 unix #1>, family=1, unix=p\"s\") = EADDRINUSE",
            "allowed",
        ),
        (
            "bind(fd=<3 unix #1>, family=1, unix=\"@s\") = EINVAL",
            "allowed",
        ),
        ("finit_module(fd=<3 $DIR/x #1>) = EINVAL", "unknown"),
        ("delete_module(name=\"x\") = EPERM", "allowed"),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
}

#[test]
fn who_is_under_landlock_may_have_made_what_it_may_not_open() {
    let rules = Confined {
        writes: strings(&["data/**"]),
        ..Confined::default()
    };
    let restricted = "P1 landlock_restrict_self(flags=0) = 0";
    let refused = "P1 landlock_restrict_self(flags=0) = EPERM";
    for (before, line, said) in [
        (
            restricted,
            "openat(filename:path=p\"x\", flags=65) = EACCES",
            "unknown",
        ),
        (
            restricted,
            "openat(filename:path=p\"x\", flags=1) = EACCES",
            "allowed",
        ),
        (
            restricted,
            "openat(filename:path=p\"data/x\", flags=65) = EACCES",
            "allowed",
        ),
        (restricted, "mkdir(path=p\"x\") = EACCES", "allowed"),
        (
            refused,
            "openat(filename:path=p\"x\", flags=65) = EACCES",
            "allowed",
        ),
    ] {
        let lines = format!("{before}\nP1 {line}");
        assert_eq!(word(&rules, &lines), said, "{lines}");
    }
}

#[test]
fn requests_of_file_systems_are_changes_unless_they_only_tell() {
    let rules = Confined {
        writes: Some(Vec::new()),
        ..Confined::default()
    };
    for (request, said) in [
        // FS_IOC_SETFLAGS, FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_SHUTDOWN, FAT_IOCTL_SET_ATTRIBUTES.
        (0x4008_6602_u64, "not x"),
        (0x800c_6613, "not x"),
        (0x8004_587d, "not x"),
        (0x4004_7211, "not x"),
        (0x1_4008_6602, "not x"),
        // FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_GETFSMAP, BTRFS_IOC_TREE_SEARCH, TCGETS.
        (0x8008_6601, "allowed"),
        (0xc020_660b, "allowed"),
        (0xc0c0_583b, "allowed"),
        (0xd000_9411, "allowed"),
        (0x5401, "allowed"),
    ] {
        let line = format!("P1 ioctl(fd=<3 $DIR/x #1>, cmd={request}) = 0");
        assert_eq!(word(&rules, &line), said, "{request:x}");
    }
}

#[test]
fn the_preset_is_about_where_a_file_is_and_a_rule_about_its_path_too() {
    let opened = "P1 openat(filename:path=p\"/usr/lib/ssl/private\", flags=0) = <3 /x #1>";
    let said = |reads: &[&str], reached: &str| {
        let rules = Confined {
            reads: strings(reads),
            has_system: true,
            ..Confined::default()
        };
        let mut deeds = deeds(&format!("{START}{opened}"));
        for part in deeds.iter_mut().flat_map(|deed| &mut deed.fields) {
            if let Value::Path {
                given,
                reached: place,
                ..
            } = &mut part.value
                && given.starts_with(b"/usr/lib")
            {
                *place = Reached::Known {
                    names: vec![reached.into()],
                    is_led: false,
                };
            }
        }
        found_in(&rules, &of_deeds(deeds)).is_empty()
    };
    assert!(said(&[], "/usr/lib/other"));
    assert!(!said(&[], "/etc/ssl/private"));
    assert!(said(&["/usr/lib/ssl/**"], "/etc/ssl/private"));
}

#[test]
fn privileges_count_where_a_call_changes_them() {
    let rules = Confined {
        privileges: strings(&["setgroups"]),
        ..Confined::default()
    };
    for (line, said) in [
        ("setuid(uid=0) = 0", "not setuid"),
        ("setuid(uid=0) = EPERM", "allowed"),
        ("setuid32(uid=0) = 0", "not setuid"),
        ("setresuid(ruid=-1, euid=-1, suid=-1) = 0", "allowed"),
        ("setresuid(ruid=-1, euid=5, suid=-1) = 0", "not setresuid"),
        // The ids that it was started with.
        ("setresuid(ruid=-1, euid=7, suid=-1) = 0", "allowed"),
        ("setuid(uid=7) = 0", "allowed"),
        ("setuid(uid=<unread>) = 0", "unknown"),
        ("setresgid(rgid=-1, egid=7, sgid=-1) = 0", "not setresgid"),
        ("setgroups(n=0) = 0", "allowed"),
        ("clone(clone_flags:flags=17) = P2", "allowed"),
        ("clone(clone_flags:flags=268435473) = P2", "not clone"),
        ("clone3(uargs=x) = P2", "unknown"),
        ("prctl(option=15) = 0", "allowed"),
        ("prctl(option=8) = 0", "not prctl"),
        // What stands above an `int` is nothing to the kernel.
        ("prctl(option=4294967304) = 0", "not prctl"),
        (
            "setresuid(ruid=4294967295, euid=-1, suid=-1) = 0",
            "allowed",
        ),
        ("keyctl(option=1) = 0", "not keyctl"),
        // What `ntp_gettime` and `adjtime` ask by sets nothing.
        ("adjtimex(txc_p=x, modes=0) = 0", "allowed"),
        ("adjtimex(txc_p=x, modes=40961) = 0", "allowed"),
        ("adjtimex(txc_p=x, modes=2) = 0", "not adjtimex"),
        ("clock_adjtime(which_clock=0, modes=40961) = 0", "allowed"),
        (
            "clock_adjtime(which_clock=29, modes=40961) = 0",
            "not clock_adjtime",
        ),
        ("clock_adjtime(which_clock=29, modes=0) = 0", "allowed"),
        ("clock_adjtime(which_clock=0, modes=0) = 5", "allowed"),
        (
            "clock_adjtime(which_clock=0, modes=256) = 0",
            "not clock_adjtime",
        ),
        ("adjtimex(txc_p=x, modes=<unread>) = 0", "unknown"),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
}

#[test]
fn an_empty_list_forbids_what_is_not_read_either_and_a_missing_key_nothing() {
    let nothing = Confined {
        writes: Some(Vec::new()),
        ..Confined::default()
    };
    let unread = "P1 openat(filename:path=<unread>, flags=1) = <3 ?>";
    assert_eq!(word(&nothing, unread), "not ");
    let connects = "P1 connect(family=2, ip=\"10.1.2.3\", port=443) = 0";
    assert_eq!(word(&nothing, connects), "allowed");
}

#[test]
fn the_preset_allows_what_nearly_every_program_does_and_can_be_left_out() {
    let rules = |has_system| Confined {
        writes: Some(Vec::new()),
        reads: Some(Vec::new()),
        network: Some(Vec::new()),
        has_system,
        ..Confined::default()
    };
    for line in [
        "P1 openat(filename:path=p\"/dev/null\", flags=1) = <3 /dev/null #1>",
        "P1 openat(filename:path=p\"/etc/ld.so.cache\", flags=0) = <3 /etc/ld.so.cache #1>",
        "P1 openat(filename:path=p\"/proc/self/maps\", flags=0) = <3 /proc/self/maps #1>",
        "P1 connect(family=1, ip=NULL, port=NULL, unix=p\"/var/run/nscd/socket\") = 0",
    ] {
        assert_eq!(word(&rules(true), line), "allowed", "{line}");
        assert_ne!(word(&rules(false), line), "allowed", "{line}");
    }
}

#[test]
fn the_first_offender_is_shown_with_its_ancestry_and_the_rule_that_allows_it() {
    let rules = Confined {
        writes: strings(&["data/**"]),
        ..Confined::default()
    };
    let text = "\
        P1/sh openat(filename:path=p\"data/a\", flags=1) = <3 $DIR/data/a #1>\n\
        P2/git unlink(pathname:path=p\"out/log\") = 0\n\
        P2/git unlink(pathname:path=p\"b\") = 0\n\
        P2/git unlink(pathname:path=p\"out/log\") = 0";
    let found = found(&rules, text);
    let [(Realm::Writes, Finding::Failed(said))] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        said.text,
        "`expect.confined.writes` does not allow `out/log` (line 1)\n\
         - P2 unlink(\"out/log\") = 0\n  in P1 sh > P2 git\n  \
         what allows it: writes: [\"out/log\"]\n  nor `b`"
    );
}
