//! Rights that the program's file lends to ordinary users (`setcap`), by the very line that doctor
//! recommends.

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use nix::sys::statvfs::{FsFlags, statvfs};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const SECRET: &str = "word-of-root: 4711";
const NOBODY: [&str; 4] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
];

/// A project with a copy of the program to which doctor's line was applied, and a file that is
/// root's alone.
struct Lent {
    project: Project,
}

impl Lent {
    fn new() -> Result<Self, String> {
        right_to_trace()?;
        program("setpriv")?;
        program("setcap")?;
        let project = Project::new();
        let place = statvfs(project.path()).map_err(|error| error.to_string())?;
        if place.flags().contains(FsFlags::ST_NOSUID) {
            return Err("files in the temporary folder lend nothing: `nosuid`".to_owned());
        }
        project.copy_program(env!("CARGO_BIN_EXE_harness"), "program");
        project.copy_program(env!("CARGO_BIN_EXE_harness"), "plain");
        project.open_to_everybody("plain");
        project.open_to_everybody("program");
        project.write("root/secret.yaml", SECRET);
        fs::set_permissions(project.join("root"), PermissionsExt::from_mode(0o700))
            .expect("permissions");
        let lent = Self { project };
        let doctor = lent.run("./program", &["doctor"]);
        let (_, line) = doctor.stdout.split_once("setcap ").expect("a remedy");
        let (capabilities, _) = line.split_once(" PATH_OF_HARNESS").expect("a line");
        lent.project
            .run(&[], &["setcap", capabilities, "program"])
            .assert_status(0);
        Ok(lent)
    }

    /// Runs a program of the folder as an ordinary user.
    fn run(&self, program: &str, arguments: &[&str]) -> Run {
        self.project
            .run(&[], &[&NOBODY[..], &[program], arguments].concat())
    }

    fn harness(&self, arguments: &[&str]) -> Run {
        self.run("./program", arguments)
    }
}

/// A folder of another user that all may pass through and none may list.
#[test]
fn what_lies_in_a_folder_that_a_user_cannot_list_is_not_taken_for_made_by_the_run() {
    let lent = require!(Lent::new());
    let project = &lent.project;
    let mode = |path: &str, mode| {
        let permissions = PermissionsExt::from_mode(mode);
        fs::set_permissions(project.join(path), permissions).expect("permissions");
    };
    for name in ["linked", "hard", "hidden/plain"] {
        project.write(name, "as it was\n");
        mode(name, 0o666);
    }
    symlink("../linked", project.join("hidden/link")).expect("a link");
    fs::hard_link(project.join("hard"), project.join("hidden/hard")).expect("a link");
    mode("hidden", 0o711);
    let rules = "expect: { confined: { writes: [\"hidden/**\"] } }\n";
    project.write("rules.yaml", rules);
    let checked = |shell: &str| lent.harness(&["check", "rules.yaml", "--", "sh", "-c", shell]);
    checked("echo x > hidden/plain").assert_status(0);
    let run = checked("echo x > hidden/link");
    run.assert_status(1);
    assert!(run.stderr.contains("does not allow `linked`"), "{run:?}");
    let run = checked("echo x > hidden/hard");
    run.assert_status(1);
    assert!(run.stderr.contains("does not allow `hard`"), "{run:?}");
    lent.project.assert_nothing_left();
}

/// As in CI: the tests keep their user, and lose what set-user-ID programs would give them.
#[test]
fn what_doctor_recommends_lets_an_ordinary_user_hold_a_command_to_rules() {
    let lent = require!(Lent::new());
    let rules = "expect: { confined: { writes: [\"tmp/*\"], network: [], privileges: none } }\n";
    lent.project.write("rules.yaml", rules);
    let checked = |shell: &str| lent.harness(&["check", "rules.yaml", "--", "sh", "-c", shell]);
    let run = checked("id -u; grep NoNewPrivs /proc/self/status; echo x > tmp/made");
    run.assert_status(0);
    assert_eq!(run.stdout, "65534\nNoNewPrivs:\t1\n");
    checked("echo x > tmp/../tmp/made; mkdir tmp/a; mv tmp/made tmp/a/made").assert_status(1);
}

#[test]
fn what_doctor_recommends_lets_an_ordinary_user_run_scenarios() {
    let lent = require!(Lent::new());
    lent.harness(&["doctor"]).assert_status(0);
    let scenario = "workload: { run: [cat, a], files: { a: { from: a } } }\n\
                    trace: { events: [{ syscalls: [openat] }] }\n\
                    expect: { stdout: mine, sequence: [{ openat: { path: a } }] }\nsnapshot: false";
    lent.project.scenario("a", scenario);
    lent.project.write("scenarios/a", "mine");
    lent.harness(&["run", "scenarios"]).assert_status(0);
    // What was lent is given up when events are open: nothing else may need it, up to the end.
    let options = ["--save", "tmp/saved", "-o", "tmp/trace", "-s", "20", "-k"];
    let command = ["--", "cat", "scenarios/a"];
    lent.harness(&[&["trace"], &options[..], &command].concat())
        .assert_status(0);
    let trace = lent.project.read("tmp/trace");
    assert!(trace.contains("\"scenarios/a\", O_RDONLY"), "{trace}");
    let options = [
        "-g",
        "-e",
        "sched:sched_switch,cpu-clock,openat",
        "-o",
        "tmp/data",
    ];
    lent.harness(&[&["record"], &options[..], &command].concat())
        .assert_status(0);
    lent.harness(&[&["stat", "-e", "openat"], &command[..]].concat())
        .assert_status(0);
    for name in ["saved", "trace", "data"] {
        fs::remove_file(lent.project.join("tmp").join(name)).expect("a file");
    }
    lent.project.assert_nothing_left();
}

#[test]
fn lent_rights_open_no_file_that_their_user_may_not() {
    let lent = require!(Lent::new());
    let project = &lent.project;
    let secret = project.join("root/secret.yaml");
    let to = |name: &str| symlink(&secret, project.join(name)).expect("a link");
    let scenario =
        "workload: { run: [cat, stolen], files: { stolen: { from: link } } }\nsnapshot: false";
    project.scenario("from", scenario);
    to("scenarios/link");
    to("scenarios/linked.yaml");
    fs::create_dir_all(project.join("snapshots")).expect("a folder");
    project.scenario("seen", "workload: { run: [\"true\"] }");
    to("snapshots/seen.snap");
    let [secret, new] = [secret, project.join("root/new")].map(|path| path.display().to_string());
    for arguments in [
        &["run", &secret][..],
        &["run", "scenarios/from.yaml"],
        &["run", "scenarios/linked.yaml"],
        &["run", "scenarios/seen.yaml"],
        &["run", "root"],
        &["run", "--from", &secret, "scenarios/seen.yaml"],
        &["run", "--save", &new, "scenarios/seen.yaml"],
        &["calibrate", &secret],
        &["mutate", &secret],
        &["sweep", &secret],
        &["sweep", "--write", &new, "scenarios/seen.yaml"],
        &["matrix", "--kernels", &secret, "scenarios/seen.yaml"],
        &["trace", "-i", &secret],
        &["trace", "-o", &secret, "true"],
        &["trace", "--save", &secret, "true"],
        &["trace", "root/secret.yaml"],
        &["record", "-o", &secret, "true"],
        &["record", "-o", &new, "true"],
        &["stat", "-o", &secret, "true"],
        &["script", "-i", &secret],
        &["dump", "-i", &secret],
        &["inject", "-b", "-i", &secret, "-o", "out"],
        &["diff", &secret, &secret],
        &["events", "../../../root:secret"],
    ] {
        let run = lent.harness(arguments);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_ne!(run.status, 0, "{arguments:?}: {said}");
        assert!(!said.contains("4711"), "{arguments:?}: {said}");
        assert!(!said.contains("word-of-root"), "{arguments:?}: {said}");
    }
    assert_eq!(project.read("root/secret.yaml"), SECRET);
    assert_eq!(project.files("root").len(), 1);
}

#[test]
fn lent_rights_do_not_reach_a_workload() {
    let lent = require!(Lent::new());
    let none = "Prm:\t0000000000000000\nCapEff:\t0000000000000000\n";
    let words = ["trace", "-o", "/dev/null"];
    let status = [
        "grep",
        "-E",
        "^(Cap(Prm|Eff|Amb)|NoNewPrivs)",
        "/proc/self/status",
    ];
    for command in [
        &words[..],
        &["trace", "--sandbox", "-o", "/dev/null"],
        &["stat", "-o", "/dev/null"],
    ] {
        let run = lent.harness(&[command, &["--"], &status].concat());
        run.assert_status(0);
        assert!(run.stdout.contains(none), "{command:?}: {}", run.stdout);
        assert!(
            run.stdout.contains("CapAmb:\t0000000000000000\n"),
            "{}",
            run.stdout
        );
        // What set-user-ID programs do is not to be seen by them.
        let is_on_the_host = !command.contains(&"--sandbox");
        assert_eq!(
            run.stdout.contains("NoNewPrivs:\t1"),
            is_on_the_host,
            "{}",
            run.stdout
        );
    }
    // Neither the memory nor the descriptors of the harness, and no signal to others.
    for theft in [
        "cat /proc/$PPID/maps",
        "cat /proc/$PPID/environ",
        "ls /proc/$PPID/fd/",
        "cat root/secret.yaml",
        "kill -0 1",
    ] {
        let run = lent.harness(&[&words[..], &["--", "sh", "-c", theft]].concat());
        assert_ne!(run.status, 0, "{theft}: {}", run.stdout);
        assert_eq!(run.stdout, "", "{theft}");
    }
    for root in ["host", "readonly"] {
        let shell = "grep CapEff /proc/self/status";
        let scenario = format!(
            "sandbox: {{ root: {root} }}\nworkload: {{ shell: {shell} }}\n\
             expect: {{ stdout: \"CapEff:\\t0000000000000000\\n\" }}\nsnapshot: false"
        );
        lent.project.scenario(root, &scenario);
    }
    lent.harness(&["run", "scenarios"]).assert_status(0);
}

#[test]
fn lent_rights_show_of_others_what_their_user_sees_without_them() {
    let lent = require!(Lent::new());
    for arguments in [
        &["record", "-o", "tmp/perf.data", "-a", "true"][..],
        &[
            "record",
            "-o",
            "tmp/perf.data",
            "-C",
            "0",
            "-e",
            "sched:sched_switch",
            "true",
        ],
        &["record", "-o", "tmp/perf.data", "-p", "1"],
        &["stat", "-a", "true"],
        &["stat", "-a", "-e", "sched:sched_switch", "true"],
        &["stat", "-p", "1"],
        &["trace", "-p", "1"],
    ] {
        let [with, without] = ["./program", "./plain"].map(|program| lent.run(program, arguments));
        if arguments.contains(&"-C") {
            // Of its own command alone, which it may see.
            with.assert_status(0);
            continue;
        }
        assert_eq!(
            with.status, without.status,
            "{arguments:?}: {}",
            with.stderr
        );
        assert!(
            with.stderr.contains("`machine` into /etc/harness/rights"),
            "{}",
            with.stderr
        );
    }
}

/// In a mount namespace, in which `/etc` is another.
#[test]
fn the_administrator_may_grant_recording_of_the_machine() {
    let lent = require!(Lent::new());
    require!(program("unshare"));
    let script = "set -e
        cp -a /etc etc
        mkdir -p etc/harness
        printf '%s\\n' '# ours' machine > etc/harness/rights
        mount --bind etc /etc
        chmod g+w etc/harness/rights
        ! setpriv --reuid=65534 --regid=65534 --clear-groups ./program stat -a -e sched:sched_switch true
        chmod g-w etc/harness/rights
        exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program stat -a -e sched:sched_switch true";
    let run = lent
        .project
        .run(&[], &["unshare", "--mount", "sh", "-c", script]);
    run.assert_status(0);
    assert!(run.stderr.contains("sched:sched_switch"), "{}", run.stderr);
}

#[test]
fn lent_rights_make_probes_only_where_the_administrator_grants_it() {
    let lent = require!(Lent::new());
    require!(program("unshare"));
    require!(program("cc"));
    lent.project
        .write("probed.c", "int main(void) { return 0; }\n");
    let compiled = lent
        .project
        .run(&[], &["cc", "-g", "-o", "probed", "probed.c"]);
    compiled.assert_status(0);
    lent.project.open_to_everybody("probed");
    let event = ["trace", "-e", "uprobe:./probed:main", "./probed"];
    let refused = lent.harness(&event);
    refused.assert_status(125);
    let (_, line) = refused.stderr.split_once("setcap ").expect("a remedy");
    let (capabilities, _) = line.split_once(" PATH_OF_HARNESS").expect("a line");
    assert!(
        capabilities.contains("cap_dac_override"),
        "{}",
        refused.stderr
    );
    let set = lent.project.run(&[], &["setcap", capabilities, "program"]);
    set.assert_status(0);
    lent.harness(&event).assert_status(125);
    let script = "set -e
        cp -a /etc etc
        mkdir -p etc/harness
        echo probes > etc/harness/rights
        mount --bind etc /etc
        exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, "sh"];
    let run = lent.project.run(&[], &[&words[..], &event].concat());
    run.assert_status(0);
    assert!(run.stderr.contains(" uprobe:main"), "{}", run.stderr);
    lent.project.assert_nothing_left();
}

#[test]
fn a_set_user_id_copy_does_nothing() {
    let lent = require!(Lent::new());
    let secret = lent.project.join("root/secret.yaml");
    let secret = secret.display().to_string();
    for mode in [0o4755, 0o2755] {
        fs::set_permissions(lent.project.join("plain"), PermissionsExt::from_mode(mode))
            .expect("permissions");
        let run = lent.run("./plain", &["run", &secret]);
        run.assert_status(99);
        assert!(run.stderr.contains("set-user-ID"), "{}", run.stderr);
        assert!(!run.stderr.contains("4711"), "{}", run.stderr);
    }
}
