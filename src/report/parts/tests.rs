#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::report::suite::tests::report;
use crate::report::{scenario_json, suite_json};
use crate::verdict::{DoneTo, FaultTold};
use syscall_model::{Answer, Injected};

const NAMES: [&str; 4] = ["a", "b", "c", "d[x=1]"];

fn whole() -> Whole {
    let all = NAMES.map(|name| (name.to_owned(), format!("sum of {name}")));
    all.into()
}

/// What a shard prints that has these scenarios and verdicts.
fn printed(number: usize, count: usize, whole: &Whole, share: &[(&str, Verdict)]) -> String {
    let names = share.iter().map(|(name, _)| (*name).to_owned()).collect();
    let shard = Shard::new(number, count).unwrap();
    let mut out = String::new();
    shard_json(&mut out, shard, "1.0", &Made::default(), whole, &names);
    for (name, verdict) in share {
        let report = ScenarioReport {
            name: (*name).to_owned(),
            verdict: *verdict,
            ..report()
        };
        scenario_json(&mut out, &report);
    }
    let verdicts: Vec<Verdict> = share.iter().map(|(_, verdict)| *verdict).collect();
    suite_json(&mut out, &verdicts);
    out
}

const PASS: Verdict = Verdict::Pass;

fn three() -> [String; 3] {
    [
        printed(1, 3, &whole(), &[("b", PASS), ("a", Verdict::Fail)]),
        printed(2, 3, &whole(), &[]),
        printed(3, 3, &whole(), &[("c", PASS), ("d[x=1]", PASS)]),
    ]
}

/// The verdicts of all, or what is wrong.
fn merged(texts: &[&str]) -> Result<Vec<(String, Verdict)>, String> {
    let parts = texts.iter().enumerate().map(|(place, text)| {
        let part = Part::read(format!("p{place}").into(), text);
        part.map_err(|error| format!("p{place}: {}", perf_live::errors::chain(&error)))
    });
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    let merged = merge(parts).map_err(|error| perf_live::errors::chain(&error))?;
    let reports = merged.reports.into_iter();
    Ok(reports.map(|it| (it.name, it.verdict)).collect())
}

#[track_caller]
fn refused(texts: &[&str], why: &str) {
    assert_eq!(merged(texts), Err(why.to_owned()));
}

#[test]
fn all_parts_in_any_order_are_one_result() {
    let [one, two, three] = three();
    let all = [
        ("a", Verdict::Fail),
        ("b", PASS),
        ("c", PASS),
        ("d[x=1]", PASS),
    ];
    let all = all
        .map(|(name, verdict)| (name.to_owned(), verdict))
        .to_vec();
    assert_eq!(merged(&[&one, &two, &three]), Ok(all.clone()));
    assert_eq!(merged(&[&three, &one, &two]), Ok(all));
}

fn fault() -> FaultTold {
    let injected = Injected {
        answer: Some(Answer::Error(libc::EPIPE)),
        signal: Some(libc::SIGPIPE),
        ..Injected::NONE
    };
    FaultTold {
        call: "write".to_owned(),
        line: 9,
        column: 5,
        injected: injected.into(),
        matched: Some(2),
        due: None,
        done: Some(1),
        unclear: Some(0),
        done_to: Some(vec![DoneTo {
            stack: vec!["fsync".to_owned(), "main".to_owned()],
            task: "P2".to_owned(),
            program: "cat".to_owned(),
            line: "write(1<stdout>, <addr>, 2) = -1 EPIPE (INJECTED: retval, SIGPIPE)".to_owned(),
            judged: true,
        }]),
    }
}

#[test]
fn a_result_is_the_same_after_it_was_written_and_read() {
    let mut finding = Finding::missed(crate::verdict::About::Exit, "why").but("0", "1");
    finding.detail.line = Some(3);
    let written = ScenarioReport {
        name: "a".to_owned(),
        findings: vec![finding],
        notes: vec!["a note".to_owned()],
        struck: vec![Limit::Memory, Limit::OpenFiles],
        faults: Some(vec![fault()]),
        lost: 3,
        kept: Some("/tmp/x".into()),
        dumped: Some("d/a.perf.data".into()),
        only_snapshot: true,
        is_command: false,
        trace: Some("P1 x\n".to_owned()),
        ..report()
    };
    let mut text = String::new();
    let whole = Whole::from([("a".to_owned(), String::new())]);
    let share = ["a".to_owned()].into();
    let shard = Shard::new(1, 1).unwrap();
    shard_json(&mut text, shard, "1.0", &Made::default(), &whole, &share);
    scenario_json(&mut text, &written);
    suite_json(&mut text, &[written.verdict]);
    let merged = merge(vec![Part::read("x".into(), &text).unwrap()]).unwrap();
    let [read] = merged.reports.as_slice() else {
        panic!("{merged:?}");
    };
    assert_eq!(format!("{read:?}"), format!("{written:?}"));
}

#[test]
fn a_missing_part_is_named() {
    let [one, two, three] = three();
    refused(&[&one, &three], "there is no part of shard 2/3");
    refused(&[&two], "there is no part of shard 1/3, shard 3/3");
    refused(&[], "there are no parts");
}

#[test]
fn a_doubled_part_is_named() {
    let [one, two, three] = three();
    refused(
        &[&one, &two, &three, &one],
        "`p0` and `p3` are both shard 1/3",
    );
}

#[test]
fn parts_of_different_divisions_are_named() {
    let [one, two, _] = three();
    let other = printed(3, 4, &whole(), &[("c", PASS), ("d[x=1]", PASS)]);
    refused(&[&one, &two, &other], "`p0` is of 3 shards, and `p2` of 4");
}

#[test]
fn parts_of_different_sets_are_named_with_the_first_scenario_that_differs() {
    let [one, two, three] = three();
    let mut fewer = whole();
    fewer.remove("c");
    let part = printed(3, 3, &fewer, &[("d[x=1]", PASS)]);
    refused(
        &[&one, &two, &part],
        "`p0` and `p2` are of different sets of scenarios: only the first has `c`",
    );
    let edited = three.replace("sum of c", "another sum");
    refused(
        &[&one, &two, &edited],
        "`p0` and `p2` are of different sets of scenarios: the file of `c` is not the same",
    );
    let newer = three.replace("\"version\":\"1.0\"", "\"version\":\"1.1\"");
    refused(
        &[&one, &two, &newer],
        "`p0` was made by harness 1.0, and `p2` by 1.1",
    );
}

#[test]
fn parts_of_different_runs_or_options_are_named() {
    let [one, two, three] = three();
    let none = "\"made\":{\"run\":null,\"options\":[]}";
    let of = |text: &str, made: &str| {
        assert!(text.contains(none), "{text}");
        text.replace(none, made)
    };
    let new = "\"made\":{\"run\":\"7\",\"options\":[]}";
    let old = "\"made\":{\"run\":\"6\",\"options\":[]}";
    let (one_new, two_new) = (of(&one, new), of(&two, new));
    assert!(merged(&[&one_new, &two_new, &of(&three, new)]).is_ok());
    refused(
        &[&one_new, &two_new, &of(&three, old)],
        "`p0` is of run `7`, and `p2` of run `6`",
    );
    refused(
        &[&one_new, &two_new, &three],
        "`p0` is of run `7`, and `p2` of no named run",
    );
    let often = "\"made\":{\"run\":null,\"options\":[\"--repeat 3\"]}";
    refused(
        &[&one, &two, &of(&three, often)],
        "`p0` was made with no option, and `p2` with `--repeat 3`",
    );
}

#[test]
fn what_has_not_finished_is_no_part() {
    let [one, two, _] = three();
    let mut begun = String::new();
    crate::report::unfinished_json(&mut begun);
    refused(
        &[&one, &two, &begun],
        "p2: it is cut off: its run has not finished",
    );
    let times = durations(&begun).map(|times| times.len());
    assert!(times.is_err(), "{times:?}");
}

#[test]
fn a_scenario_that_two_parts_have_or_none_is_named() {
    let [one, two, _] = three();
    let more = [("b", PASS), ("c", PASS), ("d[x=1]", PASS)];
    let more = printed(3, 3, &whole(), &more);
    refused(
        &[&one, &two, &more],
        "`p0` and `p2` both have the scenario `b`",
    );
    let fewer = printed(3, 3, &whole(), &[("c", PASS)]);
    refused(&[&one, &two, &fewer], "no part has `d[x=1]`");
}

#[test]
fn a_part_that_is_cut_off_anywhere_is_no_part() {
    let [one, two, three] = three();
    for end in (0..one.len()).filter(|end| one.is_char_boundary(*end)) {
        let error = merged(&[&one[..end], &two, &three]);
        assert!(error.is_err_and(|it| it.starts_with("p0: ")), "{end}");
    }
    let (before, _) = one.rsplit_once("{\"type\":\"summary\"").unwrap();
    refused(
        &[before, &two, &three],
        "p0: it is cut off: the summary is missing",
    );
    refused(
        &[one.trim_end(), &two, &three],
        "p0: it is cut off: its last line has no end",
    );
}

#[test]
fn a_part_without_one_of_its_lines_is_no_part() {
    let [one, two, three] = three();
    for left_out in 0..one.lines().count() {
        let kept = one.lines().enumerate().filter(|(n, _)| *n != left_out);
        let kept: String = kept.map(|(_, line)| format!("{line}\n")).collect();
        assert!(merged(&[&kept, &two, &three]).is_err(), "{left_out}");
    }
    let (before, rest) = one
        .split_once("{\"type\":\"scenario\",\"name\":\"a\"")
        .unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    refused(
        &[&format!("{before}{after}"), &two, &three],
        "p0: it has no result of `a`",
    );
}

#[test]
fn a_part_with_a_line_too_many_is_no_part() {
    let [one, two, three] = three();
    for doubled in 0..one.lines().count() {
        let twice = one.lines().enumerate().flat_map(|(n, line)| {
            let times = if n == doubled { 2 } else { 1 };
            std::iter::repeat_n(format!("{line}\n"), times)
        });
        let twice: String = twice.collect();
        assert!(merged(&[&twice, &two, &three]).is_err(), "{doubled}");
    }
    let appended = format!("{one}{three}");
    refused(
        &[&appended, &two],
        "p0: line 5 stands behind the summary: are these several parts?",
    );
    let foreign = three.lines().nth(1).unwrap();
    let (head, rest) = one.split_once('\n').unwrap();
    refused(
        &[&format!("{head}\n{foreign}\n{rest}"), &two, &three],
        "p0: line 2 has `c`, which is none of this shard",
    );
}

#[test]
fn a_failure_that_was_made_a_pass_is_found_by_the_summary() {
    let [one, two, three] = three();
    let better = one.replace("\"verdict\":\"fail\"", "\"verdict\":\"pass\"");
    refused(
        &[&better, &two, &three],
        "p0: its summary counts 1 `pass`, and its lines 2",
    );
    let odd = one.replace("\"verdict\":\"fail\"", "\"verdict\":\"fine\"");
    refused(&[&odd, &two, &three], "p0: line 3 has the verdict `fine`");
}

#[test]
fn what_was_not_made_by_a_shard_is_no_part() {
    let mut text = String::new();
    suite_json(&mut text, &[]);
    refused(
        &[&text],
        "p0: it was not made by `harness run --shard`: its first line says of no shard",
    );
    refused(
        &[""],
        "p0: it was not made by `harness run --shard`: its first line says of no shard",
    );
    let none = printed(1, 1, &Whole::new(), &[]);
    refused(&[&none], "`p0` is of a set without a scenario");
    assert!(merged(&["{\"type\":\"new\"}\n"]).is_err_and(|it| it.contains("line 1 is none of")));
}
