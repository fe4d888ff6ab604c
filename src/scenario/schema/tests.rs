//! The schema takes what the reader takes, and refuses what it refuses for its keys and types.

use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use super::schema;
use crate::scenario::{Programs, read_all};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// The scenarios of the repository and what is in them.
fn scenarios() -> Vec<(PathBuf, String)> {
    let mut scenarios = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                scenarios.push((path, text));
            }
        }
    }
    assert!(scenarios.len() > 80, "{} scenarios", scenarios.len());
    scenarios
}

/// As much of a validator as this schema needs. Whatever it does not know is no keyword that may be
/// used.
struct Validator {
    root: Value,
}

impl Validator {
    fn new() -> Self {
        let root = serde_json::from_str(&schema()).unwrap();
        Self { root }
    }

    fn takes(&self, yaml: &str) -> bool {
        let value: serde_yaml::Value = serde_yaml::from_str(yaml).unwrap();
        self.fits(&self.root, &serde_json::to_value(value).unwrap())
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(all) => *all,
            Value::Object(keys) => keys
                .iter()
                .all(|(key, wanted)| self.fits_keyword(schema, key, wanted, value)),
            other => panic!("{other} is no schema"),
        }
    }

    fn fits_keyword(&self, schema: &Value, key: &str, wanted: &Value, value: &Value) -> bool {
        let wanted_list = || {
            wanted
                .as_array()
                .unwrap_or_else(|| panic!("{key}: {wanted}"))
        };
        let number = || wanted.as_u64().unwrap_or_else(|| panic!("{key}: {wanted}"));
        let size = |of: Option<usize>| of.map(|size| u64::try_from(size).unwrap());
        let (text, list, mapping) = (value.as_str(), value.as_array(), value.as_object());
        match key {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                let target = self.root.pointer(path);
                self.fits(target.unwrap_or_else(|| panic!("{wanted}")), value)
            }
            "type" => match wanted {
                Value::String(word) => is(value, word),
                _ => wanted_list()
                    .iter()
                    .any(|word| is(value, word.as_str().unwrap())),
            },
            "enum" => wanted_list().contains(value),
            "anyOf" => wanted_list().iter().any(|schema| self.fits(schema, value)),
            "allOf" => wanted_list().iter().all(|schema| self.fits(schema, value)),
            "not" => !self.fits(wanted, value),
            "minLength" => {
                size(text.map(|text| text.chars().count())).is_none_or(|n| n >= number())
            }
            "pattern" => {
                let regex = Regex::new(wanted.as_str().unwrap()).unwrap();
                text.is_none_or(|text| regex.is_match(text))
            }
            "minimum" => value.as_f64().is_none_or(|n| n >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= wanted.as_f64().unwrap()),
            "items" => list.is_none_or(|list| list.iter().all(|item| self.fits(wanted, item))),
            "minItems" => size(list.map(Vec::len)).is_none_or(|n| n >= number()),
            "required" => mapping.is_none_or(|mapping| {
                wanted_list()
                    .iter()
                    .all(|key| mapping.contains_key(key.as_str().unwrap()))
            }),
            "properties" => mapping.is_none_or(|mapping| {
                let wanted = wanted.as_object().unwrap();
                let mut known = mapping
                    .iter()
                    .filter_map(|(key, value)| Some((wanted.get(key)?, value)));
                known.all(|(schema, value)| self.fits(schema, value))
            }),
            "additionalProperties" => mapping.is_none_or(|mapping| {
                let known = schema.get("properties").and_then(Value::as_object);
                let is_known = |key: &String| known.is_some_and(|known| known.contains_key(key));
                let mut others = mapping.iter().filter(|(key, _)| !is_known(key));
                others.all(|(_, value)| self.fits(wanted, value))
            }),
            "propertyNames" => mapping.is_none_or(|mapping| {
                mapping
                    .keys()
                    .all(|key| self.fits(wanted, &Value::String(key.clone())))
            }),
            "minProperties" => {
                size(mapping.map(serde_json::Map::len)).is_none_or(|n| n >= number())
            }
            "maxProperties" => {
                size(mapping.map(serde_json::Map::len)).is_none_or(|n| n <= number())
            }
            other => panic!("unknown keyword `{other}`"),
        }
    }
}

fn is(value: &Value, word: &str) -> bool {
    match word {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type `{other}`"),
    }
}

#[test]
fn every_scenario_of_the_repository_fits_the_schema() {
    let validator = Validator::new();
    for (path, text) in scenarios() {
        assert!(validator.takes(&text), "{}", path.display());
    }
}

#[test]
fn the_schema_of_the_repository_is_that_of_the_types() {
    let stored = std::fs::read_to_string(root().join("schema.json")).unwrap();
    assert!(stored == schema(), "harness schema > scenarios/schema.json");
}

#[test]
fn every_scenario_of_the_repository_names_the_schema() {
    for (path, text) in scenarios() {
        let below = path.parent().unwrap().strip_prefix(root()).unwrap();
        let up = "../".repeat(below.components().count());
        let line = format!("# yaml-language-server: $schema={up}schema.json");
        assert_eq!(
            text.lines().next(),
            Some(line.as_str()),
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_key_and_way_of_writing_fits() {
    let validator = Validator::new();
    for keys in [
        crate::scenario::tests::FULL
            .split_once("workload:")
            .unwrap()
            .1
            .split_once('\n')
            .unwrap()
            .1,
        "  run: [ls]\nsandbox: none",
        "  run: [ls]\nsandbox: { network: host, root: host, user: 7, hostname: a.b, umask: \"077\", limits: { cpu: 1s, memory: 1MiB, processes: 3 }, survivors: allowed }",
        "  shell: ls\ntrace: { since: main }",
        "  shell: ls\ntrace: { since: { written: x } }",
        "  shell: ls\ntrace: { events: [{ syscalls: [openat] }], since: { step: { openat: { path: a } } } }",
        "  shell: ls\nmatrix: { n: [1, 2], m: [a, b] }\nexpect: { exit: \"${n}\", stdout: \"${m}\" }",
        "  shell: ls\nmatrix: [{ n: 1 }, { n: 2 }]\nexpect: { exit: \"${n}\" }",
        "  shell: ls\nexpect:\n  sequence:\n  - fsync\n  - openat: { path: any, flags: { contains: [O_CREAT, O_EXCL] }, returns: $f }\n  - next: { close: { fd: $f } }\n  - never: [open, { write: { fd: [1, stdout] } }]\n  - never: fsync\n  - any_order: [fsync, { sequence: [open, close] }]\n  any_order: [fsync]\n  never: [{ connect: {} }]\n  only: [\"%file\"]\n  count: [{ openat: { path: { prefix: a } }, times: 1..=4 }]",
        "  shell: ls\nexpect:\n  never: [{ a: { b: -1, c: { not: { one_of: [x, { glob: y }] } }, d: { range: -1..=4 }, e: { regex: x }, f: { any: true }, g: { equals: any } } }]",
        "  shell: ls\nbaseline: { run: [true-true] }\nexpect: { delta: { \"%stat\": 1, openat: -1..=2 } }",
        "  shell: ls\nsections: { s: { from: \">s\", to: { openat: { path: x } } } }\nexpect: { sections: { s: { count: { fsync: 1 } } } }",
        "  shell: ls\nexpect: { files_after: { a: b, \"c*\": { exists: false }, d: { kind: file, mode: \"0644\", size: 1.. }, e: { target: x } } }",
        "  shell: ls\nsnapshot: { levels: { cc1: counts, \"P3 sh\": { level: set, hide: [brk] } }, by: program }",
        "  shell: ls\nrequires: { kernel: \">= 5.10, < 6.12\", commands: [sh], hard: { features: [io_uring] }, best_effort: { tracepoints: [\"a:b\"] } }",
        "  shell: ls\nlenient: so\nexpect: { limit: memory, exit: 3 }",
    ] {
        let text = format!("description: x\nworkload:\n{keys}\n");
        assert!(
            read_all(Path::new("x.yaml"), &text, &Programs::default()).is_ok(),
            "{text}\n{:?}",
            read_all(Path::new("x.yaml"), &text, &Programs::default())
                .err()
                .map(|it| it.message)
        );
        assert!(validator.takes(&text), "{text}");
    }
}

#[test]
fn what_the_reader_refuses_for_its_keys_and_types_does_not_fit() {
    let validator = Validator::new();
    for keys in [
        "descripton: y",
        "expect: { exits: 0 }",
        "expect: { exit: 256 }",
        "expect: { exit: -1 }",
        "expect: { exit: SIGKILL }",
        "expect: { exit: { signal: KILLED } }",
        "expect: { stdout: 3 }",
        "expect: { stdout: { contains: \"\" } }",
        "expect: { stdout: { contains: a, matches: b } }",
        "expect: { stdout: {} }",
        "expect: { count: {} }",
        "expect: { count: { fsync: many } }",
        "expect: { count: { fsync: -1 } }",
        "expect: { count: [{ fsync: {} }] }",
        "expect: { limit: memry }",
        "expect: { sequence: {} }",
        "expect: { sequence: [{ openat: {}, close: {} }] }",
        "expect: { sequence: [{}] }",
        "expect: { sequence: [3] }",
        "expect: { sequence: [{ openat: { path: { prefx: a } } }] }",
        "expect: { sequence: [{ openat: { path: true } }] }",
        "expect: { sequence: [{ openat: { path: [] } }] }",
        "expect: { never: [{ next: fsync }] }",
        "expect: { files_after: { a: {} } }",
        "expect: { files_after: { a: { kind: dir } } }",
        "expect: { files_after: { a: 3 } }",
        "trace: { event: [] }",
        "trace: { events: openat }",
        "trace: { events: [openat] }",
        "trace: { events: [{ syscalls: openat }] }",
        "trace: { since: start }",
        "trace: { since: { written: a, step: fsync } }",
        "trace: { ring: { size: 0 } }",
        "trace: { ring: { size: 64KB } }",
        "sandbox: nothing",
        "sandbox: { network: any }",
        "sandbox: { umask: 18 }",
        "sandbox: { limits: { memory: lots } }",
        "sandbox: { limits: { processes: 0 } }",
        "sections: { s: { from: a } }",
        "snapshot: maybe",
        "snapshot: { level: order }",
        "snapshot: { levels: { a: loose } }",
        "snapshot: { by: thread }",
        "snapshot: { hide: brk }",
        "requires: { kernel: 5 }",
        "requires: { kernel: \"5.10\" }",
        "requires: { tracepoints: [sched] }",
        "requires: { commands: [\"\"] }",
        "requires: { features: [io_urin] }",
        "requires: { hard: { hard: {} } }",
        "expect_failure: 3",
        "matrix: { n: [] }",
        "matrix: [a]",
        "baseline: { runs: [ls] }",
        "baseline: { timeout: 3 }",
        "baseline: { files: { a: { form: b } } }",
        "baseline: { files: { a: { mode: \"8\" , content: x } } }",
        "baseline: { env: { A: 3 } }",
        "baseline: { run: [ls, 3] }",
    ] {
        let text = format!("description: x\nworkload: {{ run: [ls] }}\n{keys}\n");
        assert!(
            read_all(Path::new("x.yaml"), &text, &Programs::default()).is_err(),
            "{text}"
        );
        assert!(!validator.takes(&text), "{text}");
    }
    assert!(!validator.takes("description: x\n"));
    assert!(!validator.takes("workload: { run: [ls] }\n"));
}
