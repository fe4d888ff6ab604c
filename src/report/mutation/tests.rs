use super::*;
use crate::mutate::{Mutant, Operator};
use crate::trace::StableName;
use crate::verdict::Finding;
use std::time::Duration;

fn survivor(operator: Operator, field: Option<&str>, now: Option<&str>) -> Mutant {
    Mutant {
        place: 0,
        operator,
        event: "openat".to_owned(),
        field: field.map(str::to_owned),
        task: StableName {
            process: 1,
            thread: 1,
        },
        line: "openat(\"a\", O_RDONLY) = 3".to_owned(),
        now: now.map(str::to_owned),
        changed: Vec::new(),
    }
}

fn survey() -> Survey {
    let edited = |now| survivor(Operator::Edit, Some("flags"), Some(now));
    Survey {
        n_mutants: 40,
        untold: 0,
        untried: 0,
        by_expectations: 21,
        by_snapshot: 16,
        survivors: vec![
            survivor(Operator::Swap, None, Some("close(3) = 0")),
            edited("openat(\"a\", O_WRONLY) = 3"),
            edited("openat(\"a\", O_RDONLY|O_CREAT) = 3"),
        ],
        lenient: None,
    }
}

fn report(result: Result<Survey, (Verdict, Vec<Finding>)>) -> MutationReport {
    MutationReport {
        name: "files/x".to_owned(),
        file: "scenarios/files/x.yaml".into(),
        duration: Duration::from_millis(7),
        result,
    }
}

fn human(result: Result<Survey, (Verdict, Vec<Finding>)>) -> String {
    let mut out = String::new();
    mutation_human(&mut out, &report(result), false);
    out
}

#[test]
fn a_person_reads_what_is_let_through_most_frequent_first() {
    assert_eq!(
        human(Ok(survey())),
        "     loose  files/x  (40 mutants: 92.5 % killed, 52.5 % by expectations alone)\n\
        \x20           lets through 2: edit openat flags\n\
        \x20             - P1  openat(\"a\", O_RDONLY) = 3\n\
        \x20             + P1  openat(\"a\", O_WRONLY) = 3\n\
        \x20           lets through 1: swap openat\n\
        \x20             - P1  openat(\"a\", O_RDONLY) = 3\n\
        \x20               P1  close(3) = 0\n\
        \x20             + P1  openat(\"a\", O_RDONLY) = 3\n"
    );
}

#[test]
fn syncs_and_renames_that_are_left_out_or_come_late_are_shown_first() {
    let of = |operator, event: &str, field: Option<&str>| Mutant {
        event: event.to_owned(),
        ..survivor(operator, field, None)
    };
    let survivors = vec![
        of(Operator::Edit, "openat", Some("flags")),
        of(Operator::Edit, "openat", Some("flags")),
        of(Operator::Repeat, "fsync", None),
        of(Operator::Edit, "fsync", Some("returns")),
        of(Operator::Delay, "fdatasync", None),
        of(Operator::Drop, "write", None),
        of(Operator::Swap, "renameat2", None),
        of(Operator::Swap, "renameat2", None),
    ];
    let text = human(Ok(Survey {
        survivors,
        ..survey()
    }));
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("lets through "));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "2: swap renameat2",
            "1: delay fdatasync",
            "1: edit fsync returns",
            "2: edit openat flags",
            "1: drop write",
            "1: repeat fsync",
        ]
    );
}

#[test]
fn a_rate_is_never_rounded_up_to_all() {
    let nearly = Survey {
        n_mutants: 10_000,
        by_expectations: 9_999,
        by_snapshot: 0,
        survivors: Vec::new(),
        ..survey()
    };
    assert!(human(Ok(nearly)).contains("10000 mutants: 99.9 % killed"));
}

#[test]
fn a_sample_says_so_and_a_reason_to_be_lenient_is_shown() {
    let sample = Survey {
        untried: 960,
        lenient: Some("threads race".to_owned()),
        survivors: Vec::new(),
        ..survey()
    };
    assert_eq!(
        human(Ok(sample)),
        "   lenient  files/x  (40 mutants: 92.5 % killed, 52.5 % by expectations alone)\n\
        \x20           a sample: there are up to 1000 mutants\n\
        \x20           lenient: threads race\n"
    );
}

#[test]
fn a_lenient_scenario_that_needs_no_excuse_is_told_so() {
    let needless = Survey {
        by_expectations: 40,
        by_snapshot: 0,
        lenient: Some("threads race".to_owned()),
        survivors: Vec::new(),
        ..survey()
    };
    let text = human(Ok(needless));
    assert!(text.starts_with("  needless  files/x"), "{text}");
    assert!(text.contains("take it out"), "{text}");
}

#[test]
fn a_run_without_mutants_has_its_verdict_and_reasons() {
    let reasons = |text: &str| vec![Finding::broken(text)];
    assert_eq!(
        human(Err((Verdict::Skipped, reasons("no `sqlite3`")))),
        "   skipped  files/x: no `sqlite3`\n"
    );
    assert_eq!(
        human(Err((Verdict::Fail, reasons("expected 1\nand more")))),
        "      fail  files/x\n            expected 1\n            and more\n"
    );
}

#[test]
fn a_scenario_is_one_json_line_with_every_survivor() {
    let mut out = String::new();
    let mut few = survey();
    few.survivors.truncate(1);
    mutation_json(&mut out, &report(Ok(few)));
    mutation_json(
        &mut out,
        &report(Err((Verdict::Skipped, vec![Finding::broken("no")]))),
    );
    assert_eq!(
        out,
        "{\"type\":\"mutation\",\"name\":\"files/x\",\"file\":\"scenarios/files/x.yaml\",\"result\":\"loose\",\"duration_ms\":7,\
         \"mutants\":40,\"untried\":0,\"untold\":0,\"killed\":37,\"by_expectations\":21,\"lenient\":null,\"survivors\":[{\"operator\":\"swap\",\
         \"event\":\"openat\",\"field\":null,\"task\":\"P1\",\"line\":\"openat(\\\"a\\\", O_RDONLY) = 3\",\"now\":\"close(3) = 0\"}]}\n\
         {\"type\":\"mutation\",\"name\":\"files/x\",\"file\":\"scenarios/files/x.yaml\",\"result\":\"skipped\",\"duration_ms\":7,\
         \"reasons\":[\"no\"]}\n"
    );
}

#[test]
fn the_last_line_counts_standings_and_verdicts() {
    let reports = [
        report(Ok(survey())),
        report(Err((Verdict::Skipped, Vec::new()))),
        report(Ok(survey())),
    ];
    let (mut text, mut json) = (String::new(), String::new());
    mutations_human(&mut text, &reports);
    mutations_json(&mut json, &reports);
    assert_eq!(text, "3 scenarios: 2 loose, 1 skipped\n");
    assert_eq!(
        json,
        "{\"type\":\"summary\",\"tight\":0,\"lenient\":0,\"loose\":2,\"needless\":0,\"fail\":0,\"incomplete\":0,\"timeout\":0,\"leak\":0,\
         \"skipped\":1,\"broken\":0,\"unexpected_pass\":0}\n"
    );
}
