//! The reference, `scenarios/README.md`: its examples are read, and it names what is read.

use super::read_text;

const REFERENCE: &str = include_str!("../../../scenarios/README.md");

/// The examples, with what is needed in front of those that show a few keys only.
fn examples() -> Vec<String> {
    let blocks = REFERENCE.split("```yaml\n").skip(1);
    let texts = blocks.map(|block| block.split("```\n").next().unwrap());
    let whole = |text: &str| {
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        let description = if has("description:") {
            ""
        } else {
            "description: d\n"
        };
        let workload = if has("workload:") {
            ""
        } else {
            "workload: { run: [ls] }\n"
        };
        format!("{description}{workload}{text}")
    };
    texts.map(whole).collect()
}

#[test]
fn every_example_is_a_scenario() {
    let examples = examples();
    assert!(examples.len() > 15, "the examples are found");
    for example in examples {
        if let Err(complaint) = read_text(&example) {
            panic!("{complaint}");
        }
    }
}

#[test]
fn every_key_is_named() {
    // Each with a key that there is not: the complaint lists those that there are.
    for mapping in [
        "%: 0",
        "workload: { run: [ls], %: 0 }",
        "workload: { run: [ls], files: { a: { %: 0 } } }",
        "trace: { %: 0 }",
        "trace: { since: { %: 0 } }",
        "trace: { ring: { %: 0 } }",
        "sections: { a: { %: 0 } }",
        "baseline: { %: 0 }",
        "expect: { %: 0 }",
        "expect: { sections: { a: { %: 0 } } }",
        "expect: { between: [{ %: 0 }] }",
        "expect: { confined: { %: 0 } }",
        "expect: { stdout: { %: 0 } }",
        "expect: { never: [{ openat: { path: { %: 0 } } }] }",
        "expect: { files_after: { a: { %: 0 } } }",
        "snapshot: { %: 0 }",
        "requires: { %: 0 }",
    ] {
        let workload = if mapping.starts_with("workload") {
            ""
        } else {
            "workload: { run: [ls] }\n"
        };
        let text = format!(
            "description: d\n{workload}{}\n",
            mapping.replace('%', "\"%%%%%%%%\"")
        );
        let complaint = read_text(&text).unwrap_err();
        let help = complaint.help.unwrap();
        let keys: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 1, "{mapping}: {help}");
        for key in keys {
            let is_named = ["`{k}`", "`{k}: ", "{ {k}: "]
                .iter()
                .any(|form| REFERENCE.contains(&form.replace("{k}", key)));
            assert!(is_named, "{mapping}: the reference does not name `{key}`");
        }
    }
}
