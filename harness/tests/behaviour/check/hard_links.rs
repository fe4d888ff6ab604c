//! Commands that give a file another name in a folder that was not looked at before.

use super::elsewhere::elsewhere;
use super::summary;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_hard_link_in_a_folder_that_was_not_looked_at_leaves_all_else_known() {
    require!(right_to_trace());
    let (project, other) = elsewhere();
    let there = other.path().to_str().expect("text");
    std::fs::write(other.path().join("a"), "").expect("a file");
    // Times of files have the grain of a tick, which a run outlasts.
    project.stated("true");
    let shell = format!("ln {there}/a {there}/b; cat /etc/passwd; rm {there}/b");
    let lines = project.stated(&shell);
    let unknown = lines.iter().filter(|line| line["known"] == false);
    let unknown: Vec<&str> = unknown.filter_map(|line| line["to"].as_str()).collect();
    let is_theirs = |name: &&str| name.starts_with(there);
    assert!(unknown.iter().all(is_theirs), "{lines:?}");
    assert!(super::done(&lines, "read").contains(&"/etc/passwd"));
    if let Some(hint) = summary(&lines)["hint"].as_str() {
        assert!(hint.ends_with(&format!("--folder {there}")), "{hint}");
    }
    let words = ["check", "--folder", there, "--", "sh", "-c", &shell];
    project.harness(&words).assert_status(0);
}

/// Whichever way it is opened: one that follows no link says nothing of other names either.
#[test]
fn what_is_written_by_a_second_name_of_a_file_that_is_not_known_is_never_a_pass() {
    require!(right_to_trace());
    require!(program("python3"));
    let (project, other) = elsewhere();
    let there = other.path().to_str().expect("text");
    project.write(
        "write.py",
        "import os, sys\n\
         os.write(os.open(sys.argv[1], os.O_WRONLY | getattr(os, sys.argv[2])), b\"x\")\n",
    );
    let rules = |names: &str| {
        let text = format!("expect: {{ confined: {{ writes: [{names}] }} }}\n");
        project.write("rules.yaml", &text);
    };
    let python = "python3 -I -S write.py";
    for flags in ["O_CLOEXEC", "O_NOFOLLOW"] {
        let file = |name: &str| other.path().join(name);
        for name in ["a", "b", "far"] {
            let _ = std::fs::remove_file(file(name));
        }
        std::fs::write(file("a"), "").expect("a file");
        rules(&format!("\"{there}/b\""));
        let linked = format!("ln {there}/a {there}/b; {python} {there}/b {flags}");
        project.checked(&linked).assert_status(1);
        // It has a name elsewhere, which a new one does not show.
        std::fs::remove_file(file("b")).expect("a link");
        std::fs::hard_link(file("a"), file("far")).expect("a link");
        rules(&format!("\"{there}/a\", \"{there}/b\""));
        let renamed = format!("mv {there}/a {there}/b; {python} {there}/b {flags}");
        project.checked(&renamed).assert_status(1);
    }
}
