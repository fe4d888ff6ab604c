//! What is told of a state that the recovery fails on.

use super::{SAVE, WHOLE, crash, scenario, shell};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_finding_has_the_state_that_lost_least_as_data() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    let run = project.harness(&["run", "--format", "json", "scenarios/it.yaml"]);
    run.assert_status(1);
    let lines = run.json();
    let findings = lines.iter().find_map(|line| line["findings"].as_array());
    let findings = findings.expect("findings");
    let cut = &findings[0]["power_cut"];
    assert!(cut["state"].as_u64() > Some(0), "{findings:?}");
    assert!(cut["failed"].as_u64() < cut["tried"].as_u64(), "{cut}");
    let lost = cut["lost"].to_string();
    assert!(lost.contains("write(next, 4 bytes at 0)"), "{cut}");
    assert!(cut["left"].to_string().contains("old: "), "{cut}");
    for format in ["junit", "ktap", "github"] {
        let run = project.harness(&["run", "--format", format, "scenarios/it.yaml"]);
        assert!(
            run.stdout.contains("lost: write(next, 4 bytes at 0)"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_page_shows_which_call_is_durable_behind_which_and_what_was_lost() {
    require!(right_to_trace());
    let script = format!("> '<b>&'; sync .; {}", SAVE.replace("SYNC", ":"));
    let project = shell(&script, WHOLE);
    let run = project.harness(&["crash", "--format", "html", "scenarios/it.yaml"]);
    run.assert_status(1);
    let page = &run.stdout;
    let row = |call: &str| {
        let mut rows = page.lines().filter(|line| line.starts_with("<tr class"));
        let row = rows.find(|row| row.contains(call));
        row.unwrap_or_else(|| panic!("{call}: {page}")).to_owned()
    };
    // The name is durable behind the sync of the folder.
    let named = row("(&lt;b&gt;&amp;)");
    assert!(
        named.contains("fsync(.)") && named.ends_with("<td>there</tr>"),
        "{named}"
    );
    let lost = row("write(next, 4 bytes at 0)");
    assert!(lost.starts_with("<tr class=\"lost"), "{lost}");
    assert!(page.contains("power cut</tr>"), "{page}");
    assert!(page.contains("<details><summary>State "), "{page}");
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
}

/// A program that fills a file in one function, and gives it its name in another.
const FILLS: &str = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n\
                     #define KEPT __attribute__((noinline, noclone))\n\
                     static int fd;\n\
                     KEPT int fill(void) { volatile long n = write(fd, \"new\\n\", 4); return n == 4; }\n\
                     KEPT int replace(void) { volatile int no = rename(\"next\", \"old\"); return !no; }\n\
                     int main(void) {\n    \
                     fd = open(\"next\", O_CREAT | O_WRONLY, 0600);\n    \
                     return fill() && replace() ? 0 : 1;\n}\n";

#[test]
fn what_was_lost_is_told_with_the_functions_that_led_to_it() {
    require!(right_to_trace());
    require!(program("gcc"));
    let project = Project::new();
    scenario(&project, "run: [./it]", WHOLE);
    project.write("it.c", FILLS);
    let compiled = project.run(&[], &["gcc", "-o", "it", "it.c"]);
    compiled.assert_status(0);
    let text = project.read("scenarios/it.yaml");
    let text = text.replace("files: {", "files: { it: { from: ../it, mode: \"0755\" },");
    let with = |events: &str| {
        let chained = format!("syscalls: [{events}], callchain: dwarf");
        project.write(
            "scenarios/it.yaml",
            &text.replace("syscalls: [fsync]", &chained),
        );
    };
    with("write, rename");
    let lines = crash(&project, 1, &[]);
    let worst = &lines.last().expect("a last line")["worst"];
    let mut states = lines.iter().filter(|line| line["type"] == "state");
    let state = states.find(|state| state["number"] == *worst);
    let state = state.expect("the worst state");
    let functions = |told: &serde_json::Value| -> Vec<String> {
        let line = told.as_str().expect("functions").split(" < ");
        line.map(str::to_owned).collect()
    };
    assert_eq!(functions(&state["lost_from"][0])[1..3], ["fill", "main"]);
    assert_eq!(functions(&state["behind_from"])[1..3], ["replace", "main"]);
    let told = |words: &[&str]| {
        let run = project.harness(&[words, &["scenarios/it.yaml"]].concat());
        run.assert_status(1);
        run.stdout
    };
    assert!(told(&["crash", "--log"]).contains("\n         from rename < replace < main"));
    for words in [
        &["run"][..],
        &["run", "--format", "github"],
        &["crash"],
        &["crash", "--format", "json"],
    ] {
        assert!(told(words).contains(" < fill < main"), "{words:?}");
    }
    for words in [["run", "--format", "junit"], ["crash", "--format", "html"]] {
        assert!(told(&words).contains(" &lt; fill &lt; main"), "{words:?}");
    }
    // Those of the rename are not asked for.
    with("write");
    let lines = crash(&project, 1, &[]);
    let (write, rename) = (&lines[0]["from"][1], &lines[0]["from"][2]);
    assert_eq!(functions(write)[1..3], ["fill", "main"], "{}", lines[0]);
    assert!(rename.is_null(), "{}", lines[0]);
}

/// The status of a run, of one that is known to fail, and of one for a bisect.
fn statuses(script: &str, recovers: &str) -> [i32; 3] {
    let project = shell(script, recovers);
    let text = project.read("scenarios/it.yaml");
    let status = |words: &[&str]| project.harness(words).status;
    let plain = status(&["run", "scenarios"]);
    let bisected = status(&["run", "--status", "bisect", "scenarios"]);
    let known = format!("{text}expect_failure: a torn file\n");
    project.write("scenarios/it.yaml", &known);
    [plain, status(&["run", "scenarios"]), bisected]
}

#[test]
fn a_recovery_that_came_to_no_result_has_not_failed_as_known() {
    require!(right_to_trace());
    let script = "echo new > old";
    let fails = "recovers: { shell: 'read -r it < old && [ $it = new ]' }";
    assert_eq!(statuses(script, fails), [1, 0, 1]);
    let not_there = "recovers: { run: [./recover, old] }";
    assert_eq!(statuses(script, not_there), [1, 1, 125]);
    let hangs = "recovers: { shell: '[ -s old ] || exec sleep 3600', timeout: 100ms }";
    assert_eq!(statuses(script, hangs), [1, 1, 1]);
    let leaks = "recovers: { shell: '[ -s old ] || sleep 3600 &' }";
    assert_eq!(statuses(script, leaks), [1, 1, 1]);
}
