//! Commands and scenarios on other kernels, in virtual machines: what comes out of them is compared
//! with what the kernels say of themselves.
//!
//! Kernels are fetched by the program under test, once, into the usual cache; without a network and
//! without them in the cache these tests can tell nothing. A guest takes a CPU, and a test boots
//! one at a time: there are as many threads of tests as CPUs.

mod again;
mod boot;
mod input;
mod interrupted;
mod kprobes;
mod planted;
mod policy;
mod roots;
mod update;
mod written;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");
const OLD: &str = "5.10";
const NEW: &str = "6.1";

fn list() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels.yaml")
}

fn harness(words: &[&str]) -> Output {
    let mut command = Command::new(HARNESS);
    let output = command.args(words).env_remove("HARNESS_KERNEL").output();
    output.expect("the harness runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn vm(kernel: &str, options: &[&str], command: &[&str]) -> Output {
    let list = list();
    let list = list.to_str().expect("a path that is text");
    let first = ["vm", "--kernels", list, "--kernel", kernel];
    harness(&[&first[..], options, &["--"], command].concat())
}

/// Whether guests can be booted here; and why not.
fn guests() -> Result<(), String> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    let look = || {
        for kernel in [OLD, NEW] {
            let output = vm(kernel, &[], &["true"]);
            booted(output.status.code(), text(&output.stderr))?;
        }
        Ok(())
    };
    FOUND.get_or_init(look).clone()
}

/// Whether the guest could be had that was to do nothing; and why not.
fn booted(status: Option<i32>, said: String) -> Result<(), String> {
    let missing = ["cannot run `qemu", "cannot get the kernel"];
    if missing.iter().any(|reason| said.contains(reason)) {
        return Err(said);
    }
    assert_eq!(status, Some(0), "{said}");
    Ok(())
}

fn can_tell() -> bool {
    can_tell_with(guests())
}

/// Whether a test can tell anything; where everything is required, that it cannot is a failure.
fn can_tell_with(found: Result<(), String>) -> bool {
    let Err(reason) = found else {
        return true;
    };
    let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
    assert_ne!(required, "all", "HARNESS_REQUIRE is `all`, but {reason}");
    // If stderr is gone, there is no reader to tell.
    let _gone = writeln!(std::io::stderr(), "skipped: {reason}");
    false
}

#[test]
fn a_command_runs_on_each_kernel_as_it_would_here() {
    if !can_tell() {
        return;
    }
    let script = "uname -r; pwd; echo \"$HARNESS_OF_TEST\"; echo wrong >&2; exit 7";
    for kernel in [OLD, NEW] {
        let list = list();
        let output = Command::new(HARNESS)
            .args(["vm", "--kernel", kernel, "--kernels"])
            .arg(&list)
            .args(["--", "sh", "-c", script])
            .env("HARNESS_OF_TEST", "a b")
            .output()
            .expect("the harness runs");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(7), "{err}");
        let lines: Vec<&str> = out.lines().collect();
        let here = std::env::current_dir().expect("a working directory");
        assert!(lines[0].starts_with(&format!("{kernel}.")), "{out}");
        assert_eq!(lines[1..], [here.to_str().expect("text"), "a b"]);
        assert_eq!(err, "wrong\n");
    }
}

#[test]
fn a_guest_that_panics_is_broken_and_says_of_what() {
    if !can_tell() {
        return;
    }
    let output = vm(
        NEW,
        &[],
        &[
            "sh",
            "-c",
            "echo begun; sleep 1; echo c > /proc/sysrq-trigger",
        ],
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert_eq!(text(&output.stdout), "begun\n");
    assert!(
        said.contains("the guest ended before its command did"),
        "{said}"
    );
    assert!(
        said.contains("Kernel panic - not syncing: sysrq triggered crash"),
        "{said}"
    );
}

#[test]
fn a_guest_that_hangs_ends_at_its_limit() {
    if !can_tell() {
        return;
    }
    let output = vm(
        NEW,
        &["--timeout", "45"],
        &["sh", "-c", "echo begun; sleep 1000"],
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert_eq!(text(&output.stdout), "begun\n");
    assert!(said.contains("its command took longer than 45 s"), "{said}");
}

/// Names of tracepoints as the folders of tracefs have them.
fn folders_of_tracefs(kernel: &str) -> BTreeSet<String> {
    let script =
        "cd /sys/kernel/tracing/events && for f in */*/format; do echo \"${f%/format}\"; done";
    let output = vm(kernel, &[], &["sh", "-c", script]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    out.lines().map(|path| path.replace('/', ":")).collect()
}

#[test]
fn the_events_that_a_kernel_has_and_another_has_not_are_those_of_their_tracefs() {
    if !can_tell() {
        return;
    }
    let list = list();
    let list = list.to_str().expect("text");
    let output = harness(&["diff", "--kernels", "--list", list, OLD, NEW]);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines = |sign: &str| -> BTreeSet<String> {
        let found = out.lines().filter_map(|line| line.strip_prefix(sign));
        let name = |line: &str| line.split('(').next().unwrap_or_default().to_owned();
        // Events of programs and those of perf itself have no folder.
        found.map(name).filter(|name| name.contains(':')).collect()
    };
    // Two kernels have one event under two names.
    let renamed: Vec<(String, String)> = out
        .lines()
        .filter_map(|line| line.strip_prefix("~ ")?.split_once(" is now "))
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .collect();
    // Linux 5.18, "writeback: Convert writeback_dirty_page to writeback_dirty_folio" and the like.
    for (before, after) in [
        (
            "writeback:writeback_dirty_page",
            "writeback:writeback_dirty_folio",
        ),
        ("vmscan:mm_vmscan_writepage", "vmscan:mm_vmscan_write_folio"),
    ] {
        let pair = (before.to_owned(), after.to_owned());
        assert!(renamed.contains(&pair), "{renamed:?}");
    }
    let (old, new) = (folders_of_tracefs(OLD), folders_of_tracefs(NEW));
    for (before, after) in &renamed {
        assert!(old.contains(before) && !new.contains(before), "{before}");
        assert!(new.contains(after) && !old.contains(after), "{after}");
    }
    let with = |mut events: BTreeSet<String>, names: Vec<&String>| -> BTreeSet<String> {
        events.extend(names.into_iter().cloned());
        events
    };
    // Those of ftrace itself cannot be opened by perf and are not listed.
    let of_others = |events: BTreeSet<String>| -> BTreeSet<String> {
        events
            .into_iter()
            .filter(|name| !name.starts_with("ftrace:"))
            .collect()
    };
    assert_eq!(
        with(lines("- "), renamed.iter().map(|it| &it.0).collect()),
        of_others(old.difference(&new).cloned().collect())
    );
    assert_eq!(
        with(lines("+ "), renamed.iter().map(|it| &it.1).collect()),
        of_others(new.difference(&old).cloned().collect())
    );
    // trace_sched_wakeup() lost its field `success` in Linux 5.16.
    assert!(
        out.contains("~ sched:sched_wakeup\n    - success: int"),
        "{out}"
    );
}

/// A folder with scenarios.
fn scenarios(of: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let scenarios = folder.path().join("scenarios");
    std::fs::create_dir(&scenarios).expect("a folder");
    for (name, rest) in of {
        let text = format!(
            "description: a test\nworkload: {{ run: [uname, -r] }}\nsnapshot: false\n{rest}\n"
        );
        std::fs::write(scenarios.join(format!("{name}.yaml")), text).expect("a file");
    }
    folder
}

#[test]
fn a_matrix_tells_each_difference_once_and_its_evidence() {
    if !can_tell() {
        return;
    }
    let folder = scenarios(&[
        ("both", "expect: { exit: 0 }"),
        (
            "new-a",
            "requires: { kernel: \">= 6.0\" }\nexpect: { exit: 0 }",
        ),
        (
            "new-b",
            "requires: { kernel: \">= 6.0\" }\nexpect: { exit: 0 }",
        ),
        (
            "old",
            "expect: { exit: 0, stdout: { matches: \"^5[.]10\" } }",
        ),
    ]);
    let list = list();
    let output = Command::new(HARNESS)
        .args(["matrix", "--guests", "1", "-k", OLD, "-k", NEW, "--kernels"])
        .args([&list, &folder.path().join("scenarios")])
        .env_remove("HARNESS_REQUIRE")
        .output()
        .expect("the harness runs");
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{said}");
    let table: Vec<String> = out
        .lines()
        .take(5)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        table,
        [
            "scenario 5.10 6.1",
            "both pass pass",
            "new-a skipped pass",
            "new-b skipped pass",
            "old pass fail"
        ]
    );
    // What the upgrade explains is told there, and only there.
    assert!(
        out.contains("\n5.10 -> 6.1: 2 differences in 3 scenarios\n"),
        "{out}"
    );
    assert!(out.contains(" skipped, then pass: new-a, new-b\n"), "{out}");
    assert!(!out.contains("skipped on 5.10"), "{out}");
    assert!(
        out.contains("fail on 6.1 (pass on 5.10):\n    old\n        "),
        "{out}"
    );
}

/// Where the packages of the newer kernel were unpacked.
fn unpacked() -> PathBuf {
    let cache = std::env::var_os("HARNESS_CACHE")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
            let of_user = named("XDG_CACHE_HOME").map(PathBuf::from);
            of_user
                .unwrap_or_else(|| Path::new(&named("HOME").expect("a home")).join(".cache"))
                .join("harness")
        });
    cache.join("kernels/bookworm-linux-image-amd64/root")
}

/// The harness and a kernel where everybody may read them.
fn for_everybody() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let everybody: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everybody).expect("a mode");
    std::fs::copy(HARNESS, folder.path().join("harness")).expect("a copy");
    folder
}

#[test]
fn an_ordinary_user_without_rights_runs_scenarios_in_a_guest() {
    if !can_tell() {
        return;
    }
    let folder = for_everybody();
    let at = |name: &str| folder.path().join(name);
    // A kernel as files: where the packages of the list were unpacked, only root may look.
    let root = unpacked();
    let copied = Command::new("sh")
        .args(["-ec", "cp \"$1\"/boot/vmlinuz-* \"$2/image\"; mkdir \"$2/modules\"; cp -r \"$1\"/lib/modules/*/kernel \"$2/modules\"; chmod -R a+rX \"$2\"", "sh"])
        .args([&root, folder.path()])
        .status();
    assert!(copied.expect("a shell").success());
    std::fs::write(
        at("kernels.yaml"),
        "mine: { image: image, modules: modules }\n",
    )
    .expect("a list");
    let project = scenarios(&[(
        "plain",
        "trace: { events: [{ syscalls: [uname] }] }\nexpect: { exit: 0, sequence: [{ uname: {} }] }",
    )]);
    let everybody: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path(), everybody).expect("a mode");
    let output = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--no-new-privs",
            "--",
        ])
        .arg(at("harness"))
        .args(["run", "--vm=mine", "--kernels"])
        .args([&at("kernels.yaml"), &project.path().join("scenarios")])
        .env("HARNESS_CACHE", at("none"))
        .current_dir(project.path())
        .output()
        .expect("setpriv");
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{said}");
    assert!(out.contains("1 scenario: 1 pass"), "{out}{said}");
}
