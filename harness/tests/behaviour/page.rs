//! Pages of results in a browser: Chromium, through its driver.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use serde_json::Value;

const CAT: &str =
    "trace: { events: [{ syscalls: [read, write, fsync, \"%file\"] }], since: main }\n";

/// What is wrong with a page at 400 and at 1600 pixels, light and dark.
fn assert_good(project: &Project, page: &str) {
    let page = project.join(page).to_string_lossy().into_owned();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/page.py");
    let run = project.run(&[], &["/usr/bin/python3", script, &page]);
    run.assert_status(0);
    let found: Value = serde_json::from_str(&run.stdout).expect("an object");
    assert_eq!(found["wrong"], serde_json::json!([]), "{found:#}");
    assert!(found["folds"].as_u64() >= Some(4), "{found}");
}

#[test]
fn nothing_of_a_page_is_cut_off_folds_open_by_keyboard_and_it_asks_for_nothing() {
    require!(right_to_trace());
    for needed in ["chromium", "chromedriver", "python3"] {
        require!(program(needed));
    }
    let project = Project::new();
    let word = "one-word-that-goes-on-".repeat(8);
    let rows = format!("matrix: {{ mode: [a, b, {word}] }}\n");
    let cat = "workload: { run: [cat, \"${mode}\"], files: { a: \"x\\n\", b: \"y\\n\" } }\n";
    project.scenario(
        "rows",
        &format!("{rows}{cat}{CAT}expect: {{ exit: \"0..1\" }}\n"),
    );
    let cat = format!("workload: {{ run: [cat, a], files: {{ a: {word} }} }}\n");
    let expect = "expect: { sequence: [{ fsync: { returns: 0 } }], never: [read] }\n";
    project.scenario(
        &format!("deep/{}", &word[..60]),
        &format!("{cat}{CAT}{expect}"),
    );
    project.scenario(
        "newer",
        "requires: { kernel: \">= 99.0\" }\nworkload: { run: [\"true\"] }\n",
    );
    project.scenario(
        "late",
        "workload: { run: [sleep, \"60\"], timeout: 100ms }\nsnapshot: false\n",
    );
    project.harness(&["run", "--update", "scenarios"]);
    let changed = format!(
        "{rows}{cat}{CAT}",
        cat = "workload: { run: [cat, a, \"${mode}\"], files: { a: z } }\n"
    );
    project.scenario("rows", &changed);
    let run = project.harness(&["run", "scenarios", "--report", "run.html"]);
    run.assert_status(1);
    assert_good(&project, "run.html");
    // Names that begin with a digit and with a letter of hexadecimal numbers.
    project.write("kernels.yaml", "\"6.1\": host\na: host\n");
    let words = [
        "matrix",
        "scenarios",
        "--kernels",
        "kernels.yaml",
        "--report",
        "matrix.html",
    ];
    project.harness(&words);
    let page = project.read("matrix.html");
    assert!(page.contains("content: \"\\2002 6\\2e 1\""), "{page}");
    assert_good(&project, "matrix.html");
}
