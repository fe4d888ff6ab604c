//! What is submitted to KCIDB, as KCIDB's own package takes it.

use super::consumers::project;
use super::{FAILS, KNOWN, LOSES, PASSES, UNEXPECTED};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use std::path::Path;
use std::process::Command;

/// What the package of KCIDB takes, in the version that is written and in its newest.
const KCIDB: &str = r#"
import json, sys
import kcidb_io.schema as schema
data = json.load(open(sys.argv[1]))
assert schema.V5_0.is_valid_exactly(data), schema.V5_0.validate_exactly(data)
whole = schema.LATEST.upgrade(schema.LATEST.validate(data))
builds = {build["id"] for build in data["builds"]}
assert len({test["id"] for test in data["tests"]}) == len(data["tests"])
assert {build["checkout_id"] for build in data["builds"]} == {it["id"] for it in data["checkouts"]}
for test in whole["tests"]:
    own = "own" if test["build_id"] in builds else test["build_id"]
    print(test["path"], test["status"], own)
"#;

/// A Python that has the package, as `.ci/run` makes it.
fn python_of_kcidb() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python/bin/python3");
    let python = folder.display().to_string();
    let has = Command::new(&python)
        .args(["-c", "import kcidb_io"])
        .output();
    match has.is_ok_and(|output| output.status.success()) {
        true => Ok(python),
        false => Err(format!("`{python}` has no module `kcidb_io`")),
    }
}

#[test]
fn kcidbs_own_package_takes_every_verdict_and_only_a_pass_is_pass() {
    require!(right_to_trace());
    require!(program("perl"));
    let python = require!(python_of_kcidb());
    let project = project();
    for (name, yaml) in [
        ("k", KNOWN),
        ("l/o s", LOSES),
        ("l/o_s", PASSES),
        ("u", UNEXPECTED),
    ] {
        project.scenario(name, yaml);
    }
    let words = [
        "run",
        "--report",
        "r.kcidb",
        "--format",
        "kcidb",
        "scenarios",
    ];
    let run = project.harness(&words);
    run.assert_status(99);
    assert_eq!(project.read("r.kcidb"), run.stdout);
    let read = project.run(&[], &[&python, "-c", KCIDB, "r.kcidb"]);
    read.assert_status(0);
    let (alike, lines): (Vec<&str>, Vec<&str>) = read
        .stdout
        .lines()
        .partition(|line| line.contains("harness.l."));
    assert_eq!(
        lines,
        [
            "harness.a PASS own",
            "harness.b FAIL own",
            "harness.c SKIP own",
            "harness.d.e MISS own",
            "harness.f FAIL own",
            "harness.g FAIL own",
            "harness.k FAIL own",
            "harness.u ERROR own",
        ]
    );
    // Names that would be one path are told apart.
    let statuses = alike.iter().map(|line| line.split(' ').nth(1));
    assert_eq!(statuses.collect::<Vec<_>>(), [Some("ERROR"), Some("PASS")]);
    assert_ne!(alike[0].split(' ').next(), alike[1].split(' ').next());
}

#[test]
fn what_is_told_to_kcidb_of_a_matrix_or_before_its_end_is_valid_too() {
    require!(right_to_trace());
    let python = require!(python_of_kcidb());
    let project = Project::with("a", PASSES);
    project.scenario("b", FAILS);
    project.write(
        "kernels.yaml",
        "one: host\ntwo: { host: true, under: [\"false\"] }\n",
    );
    let matrix = [
        "matrix",
        "scenarios",
        "--kernels",
        "kernels.yaml",
        "--format",
        "kcidb",
    ];
    let submitter = ["--kcidb-origin", "us", "--kcidb-build", "one=maestro:1f"];
    let run = project.harness(&[&matrix[..], &submitter].concat());
    run.assert_status(99);
    assert!(run.stdout.contains("\"id\":\"us:"), "{}", run.stdout);
    project.write("m.kcidb", &run.stdout);
    let read = project.run(&[], &[&python, "-c", KCIDB, "m.kcidb"]);
    read.assert_status(0);
    assert_eq!(
        read.stdout,
        "harness.a PASS maestro:1f\nharness.a MISS own\n\
         harness.b FAIL maestro:1f\nharness.b MISS own\n"
    );
    let unknown = project.harness(&[&matrix[..], &["--kcidb-build", "on=maestro:1f"]].concat());
    unknown.assert_status(2);
    // A file that is there from the beginning says that nothing is known yet.
    let from = format!(
        "sandbox: {{ root: host }}\nworkload: {{ shell: \"cp '{0}/r.kcidb' '{0}/early.kcidb'\" }}\nsnapshot: false",
        project.path().display()
    );
    project.scenario("c", &from);
    project
        .harness(&["run", "--report", "r.kcidb", "--exact", "c", "scenarios"])
        .assert_status(0);
    let read = project.run(&[], &[&python, "-c", KCIDB, "early.kcidb"]);
    read.assert_status(0);
    assert_eq!(read.stdout, "harness.harness MISS own\n");
}
