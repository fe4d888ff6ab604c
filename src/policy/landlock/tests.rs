use super::super::{Demand, Needs, Place, PolicyFile};
use super::touched::{Moved, Refused};
use super::*;
use std::collections::BTreeSet;

/// What a run did that needed these rights, and moved these files.
fn touched(rights: &[(&str, Right)], moves: &[(Option<&str>, &str, &str, bool)]) -> Touched {
    let rights = rights.iter();
    Touched {
        rights: rights
            .map(|(path, right)| ((*path).to_owned(), *right))
            .collect(),
        moves: moves
            .iter()
            .map(|(own, from, to, is_folder)| Moved {
                own: own.map(str::to_owned),
                from: (*from).to_owned(),
                to: (*to).to_owned(),
                is_folder: *is_folder,
            })
            .collect(),
        ..Touched::default()
    }
}

fn demand(all: &[(&str, Option<&str>, Touched)]) -> Demand {
    let mut demand = Demand::default();
    for (scenario, kernel, touched) in all {
        let mut needs = Needs::default();
        needs.touched = Some(touched.clone());
        demand.add(scenario, *kernel, &needs);
    }
    demand
}

fn shown(rules: &Ruleset) -> Vec<String> {
    rules.rules.keys().map(ToString::to_string).collect()
}

const READS: &[(&str, Right)] = &[("${dir}/a", Right::ReadFile)];

#[test]
fn a_file_is_written_and_read_again_as_it_was() {
    let mut one = touched(
        &[("${dir}", Right::MakeReg), ("/dev/null", Right::IoctlDev)],
        &[],
    );
    one.ports = BTreeSet::from([(Port::Bind, 0), (Port::Connect, 443)]);
    let why = "`kill` signals a process that is none of the run's".to_owned();
    one.outside.insert(Scope::Signal, why);
    for abi in 1..=ABI {
        let demand = demand(&[("one", None, one.clone())]);
        let rules = Ruleset::of(&demand, abi, Some("/srv"));
        assert_eq!(rules.scoped.len(), usize::from(abi >= Scope::FIRST));
        assert_eq!(
            rules.rules.len(),
            1 + 2 * usize::from(abi >= 4) + usize::from(abi >= 5)
        );
        let Ok(PolicyFile::Rules(read)) = PolicyFile::read(&rules.text()) else {
            panic!("{}", rules.text());
        };
        assert_eq!((read.abi, shown(&read)), (abi, shown(&rules)));
        assert_eq!(read.directory.as_deref(), Some("/srv"));
        assert!(read.scoped.keys().eq(rules.scoped.keys()));
        assert!(drift(&read, &demand).is_none(), "{}", drift(&read, &demand));
        assert_eq!(refusals(&read, &one).expect("known"), []);
    }
}

#[test]
fn a_file_that_is_understood_in_part_is_refused_with_the_place() {
    let demand = demand(&[("one", None, touched(READS, &[]))]);
    let text = Ruleset::of(&demand, 6, Some("/srv")).text();
    let cases = [
        ("\"abi\": 6", "\"abi\": 7", "an ABI is 1 to 6"),
        ("\"abi\": 6", "\"abi\": 5", "`handledAccessNet`"),
        (
            "        \"truncate\",\n",
            "",
            "must have all rights of ABI 6",
        ),
        (
            "\"bind_tcp\",",
            "\"bind_tcp\", \"bind_udp\",",
            "must have all rights",
        ),
        ("\"signal\"", "\"signals\"", "`signals` is not understood"),
        ("${dir}/a", "${home}/a", "`${home}/a` is not understood"),
        ("${dir}/a", "a", "`a` is not understood"),
        ("${dir}/a", "${dir}/../a", "is not understood"),
        ("${dir}/a", "${dir}a", "is not understood"),
        ("${dir}/a", "/a/", "is not understood"),
        (
            "\"literal\"",
            "\"glob\"",
            "the key `glob` is not understood",
        ),
        ("\"name\": \"dir\"", "\"name\": \"x\"", "the one variable"),
        ("\"parent\"", "\"path\"", "the key `path` is not understood"),
    ];
    for (is, becomes, complaint) in cases {
        assert!(text.contains(is), "{is}: {text}");
        let error = PolicyFile::read(&text.replacen(is, becomes, 1)).expect_err(complaint);
        // The first that is wrong may be what the change makes wrong.
        let is_told = error.to_string().contains(complaint) || is == "\"abi\": 6";
        assert!(is_told, "{error}");
        assert!(error.place.line > 1, "{error}");
    }
}

#[test]
fn a_file_that_would_gain_rights_where_it_goes_is_given_them_before() {
    let rights = [
        ("${dir}/b", Right::ReadFile),
        ("${dir}/b", Right::MakeDir),
        ("/", Right::Execute),
    ];
    let of = |own, is_folder| {
        let one = touched(&rights, &[(own, "${dir}/a", "${dir}/b", is_folder)]);
        shown(&Ruleset::of(&demand(&[("one", None, one)]), 6, None))
    };
    let with = |more: &[&str]| -> Vec<String> {
        let base = ["/: execute", "${dir}/b: make_dir", "${dir}/b: read_file"];
        let all: BTreeSet<String> = base.iter().chain(more).map(|it| (*it).to_owned()).collect();
        all.into_iter().collect()
    };
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    // A file of its own: that file; one that the run made: the folder that it is made in.
    let own = sorted(of(Some("${dir}/a/f"), false));
    assert_eq!(own, with(&["${dir}/a/f: read_file"]));
    let made = sorted(of(None, false));
    assert_eq!(made, with(&["${dir}/a: read_file"]));
    let folder = sorted(of(None, true));
    let more = ["${dir}/a: read_file", "${dir}/a: make_dir"];
    assert_eq!(folder, with(&more));
}

#[test]
fn a_move_on_to_a_third_folder_gains_nothing_either() {
    let moves = [
        (None, "${dir}/a", "${dir}/b", false),
        (None, "${dir}/b", "${dir}/c", false),
    ];
    let one = touched(&[("${dir}/c", Right::ReadFile)], &moves);
    let rules = Ruleset::of(&demand(&[("one", None, one)]), 6, None);
    let all = [
        "${dir}/a: read_file",
        "${dir}/b: read_file",
        "${dir}/c: read_file",
    ];
    assert_eq!(shown(&rules), all);
}

#[test]
fn what_lies_beneath_a_folder_that_has_the_right_needs_no_rule_of_its_own() {
    let one = touched(
        &[("${dir}", Right::ReadFile), ("${dir}/a/b", Right::ReadFile)],
        &[],
    );
    let two = touched(
        &[
            ("${dir}/a", Right::ReadFile),
            ("${dir}ectory", Right::ReadFile),
        ],
        &[],
    );
    let demand = demand(&[("one", None, one), ("two", None, two)]);
    let rules = Ruleset::of(&demand, 6, None);
    assert_eq!(
        why(&rules, &demand),
        "${dir}: read_file:\n  one, two\n${dir}ectory: read_file:\n  two\n"
    );
}

#[test]
fn what_differs_is_told_with_who_needs_it() {
    let reads = |path| touched(&[(path, Right::ReadFile)], &[]);
    let before = demand(&[
        ("one", None, reads("${dir}/a")),
        ("two", None, reads("/etc")),
    ]);
    let rules = Ruleset::of(&before, 6, None);
    let mut now = reads("/etc/hosts");
    now.outside.insert(Scope::Signal, "x".to_owned());
    now.ports.insert((Port::Connect, 80));
    let after = demand(&[("two", None, now)]);
    let told = drift(&rules, &after).to_string();
    // What lies beneath a folder is allowed by its rule.
    assert_eq!(
        told,
        "-${dir}/a: read_file  (line 0: no scenario needs it)\n\
         +port 80: connect_tcp  (needed by two)\n\
         +signals to others  (needed by two)\n"
    );
    let mut wide = rules.clone();
    let above = Rule::Path("/".to_owned(), Right::ReadFile);
    wide.rules.insert(above, Place { line: 9, column: 1 });
    let told = drift(&wide, &before).to_string();
    assert_eq!(
        told,
        "-/: read_file  (line 9: other rules allow what scenarios need below it)\n"
    );
    let mut open = rules.clone();
    open.scoped.clear();
    let told = drift(&open, &before).to_string();
    assert_eq!(
        told,
        "-signals to others  (no scenario reaches them)\n\
         -sockets `@` of others  (no scenario reaches them)\n"
    );
}

#[test]
fn what_is_refused_is_told_and_what_failed_for_another_reason_is_not() {
    let rules = Ruleset::of(&demand(&[("one", None, touched(READS, &[]))]), 6, None);
    let refused = |path: &str, right| Touched {
        refused: Refused {
            rights: BTreeSet::from([(path.to_owned(), right)]),
            outside: BTreeSet::from([Scope::Signal]),
            ..Refused::default()
        },
        ..touched(READS, &[])
    };
    let told = |touched: &Touched| -> Vec<String> {
        let all = refusals(&rules, touched).expect("known").into_iter();
        all.map(|refusal| refusal.call).collect()
    };
    let write = refused("${dir}/a", Right::WriteFile);
    assert_eq!(
        told(&write),
        ["`${dir}/a: write_file`", "signals to others"]
    );
    // The rules allow it: something else refused it.
    assert_eq!(
        told(&refused("${dir}/a", Right::ReadFile)),
        ["signals to others"]
    );
    let mut untold = write;
    untold
        .untold
        .insert("`open`: its path was not read".to_owned());
    assert!(refusals(&rules, &untold).is_err());
}

#[test]
fn each_rule_says_who_needs_it_and_on_which_kernels() {
    let more = [READS, &[("/etc", Right::ReadDir)]].concat();
    let demand = demand(&[
        ("one", Some("6.1"), touched(READS, &[])),
        ("one", Some("6.12"), touched(&more, &[])),
    ]);
    let rules = Ruleset::of(&demand, 6, None);
    assert_eq!(
        why(&rules, &demand),
        "${dir}/a: read_file:\n  one\n/etc: read_dir:\n  one\n  on 6.12 alone\n"
    );
}

#[test]
fn what_no_rule_can_say_is_told_by_scenario() {
    let mut one = touched(&[("${dir}", Right::Refer)], &[]);
    one.untold.insert("`mount`: x".to_owned());
    let demand = demand(&[("one", None, one)]);
    assert_eq!(untold(&demand, 6), ["one: `mount`: x"]);
    assert_eq!(untold(&demand, 1).len(), 2);
}

#[test]
fn one_run_that_was_not_followed_makes_all_of_its_scenario_unknown() {
    let mut known = Needs::default();
    known.touched = Some(touched(READS, &[]));
    let mut all = known.clone();
    all.add(&Needs::default());
    assert_eq!(all.touched, None);
    let mut all = Needs::default();
    all.add(&known);
    assert_eq!(all.touched, None);
    let mut demand = Demand::default();
    demand.add("one", None, &all);
    let why = "one: the files that its calls reached were not followed";
    assert_eq!(untold(&demand, 6), [why]);
}
