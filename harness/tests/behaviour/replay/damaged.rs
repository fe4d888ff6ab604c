//! A recording that was cut or changed is not judged.

use std::ops::Range;

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// The first of these bytes in others.
fn place_of(wanted: &[u8], bytes: &[u8]) -> usize {
    let mut windows = bytes.windows(wanted.len());
    windows.position(|window| window == wanted).expect("it")
}

/// Where the records lie that a kernel wrote. A tool's records, those of rounds among them, may
/// differ in a copy, and no meaning of the run depends on them.
fn records_of_the_kernel(file: &[u8], section: Range<usize>) -> Vec<Range<usize>> {
    const FIRST_OF_TOOLS: u32 = 64;
    let mut records = Vec::new();
    let mut at = section.start;
    while at < section.end {
        let kind = u32::from_ne_bytes(*file[at..].first_chunk().expect("a kind"));
        let size = u16::from_ne_bytes(*file[at + 6..].first_chunk().expect("a size"));
        let end = at + usize::from(size);
        if kind < FIRST_OF_TOOLS {
            records.push(at..end);
        }
        at = end;
    }
    records
}

#[test]
fn a_saved_run_that_was_cut_or_changed_is_not_judged() {
    require!(right_to_trace());
    let project = Project::new();
    project.scenario("makes", "workload: { run: [mkdir, a], env: { A: b } }\nexpect: { count: { mkdir: 1 } }\nsnapshot: false");
    let save = project.harness(&["run", "--save", "saved", "scenarios/makes.yaml"]);
    save.assert_status(0);
    let whole = std::fs::read(project.path().join("saved/makes.data")).expect("the recording");
    let judged = |bytes: &[u8]| {
        std::fs::write(project.path().join("spoilt.data"), bytes).expect("a file");
        project.harness(&["run", "--from", "spoilt.data", "scenarios/makes.yaml"])
    };
    let refused = |bytes: &[u8], what: &str| {
        let run = judged(bytes);
        assert!(!run.stdout.contains("1 pass"), "{what}: {}", run.stdout);
        run
    };
    // Nor is it skipped, as if it were this machine that lacks what was cut off.
    for length in (0..whole.len()).step_by(whole.len() / 50) {
        let run = refused(&whole[..length], &format!("{length} bytes"));
        assert_ne!(run.status, 77, "{length} bytes: {}", run.stdout);
    }
    let run = refused(&whole[..whole.len() / 2], "half of it");
    run.assert_status(2);
    assert!(run.stderr.contains("is cut or damaged"), "{}", run.stderr);
    let word = |at: usize| {
        let word = whole[at..].first_chunk().expect("a word");
        usize::try_from(u64::from_ne_bytes(*word)).expect("a place")
    };
    // What stands behind the records, some of which says nothing about the run.
    let behind = word(40) + word(48)..whole.len();
    for place in behind.clone().step_by(behind.len() / 50) {
        let mut changed = whole.clone();
        changed[place] ^= 4;
        let run = judged(&changed);
        assert_ne!(run.status, 77, "byte {place}: {}", run.stdout);
    }
    // The kernel's records, and what the file says of the run: each byte of it shows by its sum.
    let (start, length) = (word(40), word(48));
    let records = records_of_the_kernel(&whole, start..start + length);
    let within = |place: &usize| records.iter().any(|record| record.contains(place));
    let mut places: Vec<usize> = (start..start + length).filter(within).collect();
    places = places
        .iter()
        .copied()
        .step_by(places.len() / 50 + 1)
        .collect();
    places.push(place_of(b"\"exit\":{\"Code\":0}", &whole) + 15);
    for place in places {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        refused(&changed, &format!("byte {place}"));
    }
    let mut changed = whole.clone();
    changed[place_of(b"\"exit\":{\"Code\":0}", &whole) + 15] = b'1';
    let run = refused(&changed, "the exit status");
    let said = run.stdout + &run.stderr;
    assert!(
        said.contains("was changed or damaged after it was written"),
        "{said}"
    );
}
