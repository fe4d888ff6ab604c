//! Commands that mount something, or work where others did.

use super::elsewhere::elsewhere;
use super::{done, ruled};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn what_a_container_of_the_command_writes_is_seen() {
    require!(right_to_trace());
    require!(program("unshare"));
    // What the container itself takes: maps of users, and mounts that are its own.
    let project = ruled("expect: { confined: { writes: [\"/proc/**\", /] } }\n");
    let inside = |script: &str| {
        let container = [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "--pid",
            "--fork",
        ];
        let words = [
            &["check", "rules.yaml", "--"],
            &container[..],
            &["sh", "-c", script],
        ]
        .concat();
        project.harness(&words)
    };
    inside("cat rules.yaml").assert_status(0);
    let run = inside("echo x > made");
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `made`"),
        "{}",
        run.stderr
    );
    // A file of its own file system is none of the machine's, but is not allowed either.
    let run = inside("mount -t tmpfs none /mnt && echo x > /mnt/made");
    assert_ne!(run.status, 0, "{run:?}");
}

#[test]
fn what_is_mounted_where_mounts_are_shared_may_be_below_another_name_and_is_never_a_pass() {
    require!(right_to_trace());
    require!(program("unshare"));
    let project = ruled("expect: { confined: { writes: [\"a/**\", \"b/**\", a, b] } }\n");
    for folder in ["a/m", "b", "out"] {
        std::fs::create_dir_all(project.join(folder)).expect("a folder");
    }
    project.write("out/secret", "s");
    let shared = |script: &str| {
        let harness = env!("CARGO_BIN_EXE_harness");
        let all = "mount --make-rshared / || exit 77; exec \"$@\"";
        let own = ["unshare", "--mount", "sh", "-c", all, "sh"];
        let checked = [harness, "check", "rules.yaml", "--", "sh", "-c", script];
        project.run(&[], &[&own[..], &checked].concat())
    };
    let run = shared("mount --bind a b && mount --bind out b/m && echo x > a/m/secret");
    if run.status == 77 || run.stderr.contains("unshare failed") {
        // Only root may do so.
        return;
    }
    assert_eq!(project.read("out/secret"), "x\n");
    run.assert_status(1);
    let said = "changed names in a way that was not seen";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // One mount alone is where it is said to be.
    let run = shared("mount --bind out b && echo x > b/secret");
    run.assert_status(1);
    let said = "does not allow `out/secret`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_file_below_a_mount_is_stated_where_it_is_and_not_only_where_it_was_reached() {
    require!(right_to_trace());
    require!(program("unshare"));
    let (project, elsewhere) = elsewhere();
    let outside = elsewhere.path().display().to_string();
    for (file, text) in [("made", ""), ("told", "secret\n")] {
        std::fs::write(elsewhere.path().join(file), text).expect("a file");
        project.write(&format!("in/{file}"), "");
    }
    let stated = |script: &str| {
        let inside = format!("unshare --mount --propagation private sh -c '{script}'");
        let lines = project.stated(&inside);
        let told = |what| done(&lines, what).into_iter().map(str::to_owned).collect();
        let told: [Vec<String>; 4] = ["written", "read", "renamed", "deleted"].map(told);
        told
    };
    let [written, ..] = stated(&format!("mount --bind {outside} in && echo x > in/made"));
    for name in ["in/made", &format!("{outside}/made")] {
        assert!(written.iter().any(|it| it == name), "{name}: {written:?}");
    }
    let [_, read, ..] = stated(&format!(
        "mount --bind {outside}/told in/told && cat in/told > copy"
    ));
    assert!(read.contains(&format!("{outside}/told")), "{read:?}");
    assert_eq!(project.read("copy"), "secret\n");
    let [_, _, renamed, deleted] = stated(&format!(
        "mount --bind {outside} in && mv in/told in/new && rm in/new"
    ));
    assert!(renamed.contains(&format!("{outside}/told")), "{renamed:?}");
    assert!(deleted.contains(&format!("{outside}/new")), "{deleted:?}");
}
