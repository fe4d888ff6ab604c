//! What is printed for others to complete: keys of scenarios, and the command line.

use serde_json::Value;

use crate::support::project::Project;

#[test]
fn the_schema_is_printed_as_it_is_stored() {
    let run = Project::new().harness(&["schema"]);
    run.assert_status(0);
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/schema.json");
    let stored = std::fs::read_to_string(stored).expect("the stored schema");
    assert!(
        run.stdout == stored,
        "harness schema > scenarios/schema.json"
    );
    let schema: Value = serde_json::from_str(&run.stdout).expect("JSON");
    for key in ["description", "workload", "expect", "snapshot", "matrix"] {
        let said = schema["properties"][key]["description"].as_str();
        assert!(
            said.is_some_and(|said| said.ends_with('.')),
            "{key}: {said:?}"
        );
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn completions_know_every_command() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = project.harness(&["completions", shell]);
        run.assert_status(0);
        for word in ["new", "calibrate", "mutate", "sweep", "schema", "repeat"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
    project.harness(&["completions", "tcsh"]).assert_status(2);
    let bash = project.harness(&["completions", "bash"]).stdout;
    project.write("harness.bash", &bash);
    let script = ". ./harness.bash; COMP_WORDS=(harness ca); COMP_CWORD=1; _harness harness ca harness; echo ${COMPREPLY[@]}";
    let run = project.run(&[], &["bash", "-c", script]);
    assert_eq!(run.stdout.trim(), "calibrate", "{run:?}");
}
