use super::*;
use syscall_model::names::Abi;

const NATIVE: Abi = Abi::native();

/// A call of a scenario: its convention, its name, its word.
type Made<'a> = (Abi, &'a str, Option<u64>);

fn demand(scenarios: &[(&str, &[Made<'_>])]) -> Demand {
    let mut demand = Demand::default();
    for (scenario, calls) in scenarios {
        demand.add(scenario, None, &Needs::of(calls));
    }
    demand
}

fn two() -> Demand {
    demand(&[
        (
            "a",
            &[
                (NATIVE, "read", Some(0)),
                (NATIVE, "ioctl", Some(0x5401)),
                (NATIVE, "ioctl", Some(0xffff_ffff_8004_5430)),
            ],
        ),
        (
            "b",
            &[
                (NATIVE, "fsync", Some(3)),
                (NATIVE, "read", Some(0)),
                (NATIVE, "ioctl", Some(0x5401)),
            ],
        ),
    ])
}

fn made(demand: &Demand) -> Policy {
    of_form(demand, Form::Oci)
}

fn of_form(demand: &Demand, form: Form) -> Policy {
    let text = Policy::of(demand, form, true).text(demand);
    Policy::read(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_written_is_read_as_the_same_policy() {
    let demand = with_sockets();
    for form in [Form::Oci, Form::Systemd, Form::Minijail] {
        let policy = of_form(&demand, form);
        let mut written = Policy::of(&demand, form, true);
        for (own, read) in written.rules.iter_mut().zip(&policy.rules) {
            own.place = read.place;
        }
        written.otherwise = policy.otherwise;
        assert_eq!(written, policy);
        assert!(drift(&policy, &demand, true).is_none(), "{form:?}");
    }
}

fn with_sockets() -> Demand {
    let mut demand = two();
    let sockets = [(NATIVE, "socket", Some(2)), (NATIVE, "socket", Some(1))];
    demand.add("c", None, &Needs::of(&sockets));
    demand
}

#[test]
fn a_unit_says_above_each_line_who_needs_it_and_which_families_of_sockets() {
    let demand = with_sockets();
    let text = Policy::of(&demand, Form::Systemd, true).text(&demand);
    let (_, lines) = text
        .split_once("SystemCallErrorNumber=EPERM\n")
        .expect("an error");
    assert_eq!(
        lines,
        "# b\nSystemCallFilter=fsync\n# a, b\nSystemCallFilter=ioctl\n# a, b\nSystemCallFilter=read\n\
         # c\nSystemCallFilter=socket\n# c\nRestrictAddressFamilies=AF_UNIX\n# c\nRestrictAddressFamilies=AF_INET\n"
    );
    let policy = of_form(&demand, Form::Systemd);
    let socket = |family| policy.answer(NATIVE, Some("socket"), Some(family));
    assert_eq!((socket(1), socket(2)), (Answer::Allowed, Answer::Allowed));
    assert!(matches!(socket(10), Answer::Refused([_, _])));
    // What systemd always allows.
    assert_eq!(
        policy.answer(NATIVE, Some("nanosleep"), None),
        Answer::Allowed
    );
    let by_name = Policy::of(&demand, Form::Systemd, false).text(&demand);
    assert!(!by_name.contains("RestrictAddressFamilies"), "{by_name}");
}

#[test]
fn a_family_that_no_unit_can_name_leaves_all_families_allowed() {
    let demand = demand(&[(
        "a",
        &[(NATIVE, "socket", Some(2)), (NATIVE, "socket", Some(999))],
    )]);
    let text = Policy::of(&demand, Form::Systemd, true).text(&demand);
    assert!(!text.contains("RestrictAddressFamilies"), "{text}");
}

#[test]
fn a_unit_that_is_not_understood_is_refused_with_its_place() {
    let cases = [
        ("SystemCallFilter=read", "1:1: `[Service]` is missing"),
        (
            "[Service]\nSystemCallFilter=read ~write",
            "2:23: `~write` is not understood",
        ),
        (
            "[Service]\nSystemCallFilter=@no-such-group",
            "2:18: `@no-such-group` is not",
        ),
        (
            "[Service]\nSystemCallFilter=read:EIO",
            "2:18: `read:EIO` is not",
        ),
        (
            "[Service]\nSystemCallFilter=",
            "2:1: `SystemCallFilter` without a word",
        ),
        (
            "[Service]\nSystemCallFilter=a \\\n b",
            "2:20: lines that go on",
        ),
        (
            "[Service]\nSystemCallFilter=a\n  NoNewPrivileges=yes",
            "3:3: `NoNewPrivileges` is",
        ),
        ("[Unit]", "1:1: the section `[Unit]`"),
        (
            "[Service]\nSystemCallErrorNumber=EPERM\n",
            "1:1: it is neither JSON",
        ),
        (
            "[Service]\nSystemCallErrorNumber=EFOO\n",
            "2:23: `EFOO` is no error",
        ),
        (
            "[Service]\nSystemCallArchitectures=native s390",
            "2:32: `s390` is not",
        ),
        (
            "[Service]\nRestrictAddressFamilies=~AF_INET",
            "2:25: `~AF_INET` is not",
        ),
    ];
    for (text, wanted) in cases {
        let complaint = Policy::read(text).expect_err(text).to_string();
        assert!(
            complaint.starts_with(wanted),
            "{text}: {complaint}, and not {wanted}"
        );
    }
}

#[test]
fn the_order_in_which_scenarios_come_changes_no_byte() {
    let mut other = Demand::default();
    let (a, b) = (
        [(NATIVE, "read", None), (NATIVE, "close", None)],
        [(NATIVE, "fsync", None)],
    );
    let (a, b) = (Needs::of(&a), Needs::of(&b));
    let mut one = Demand::default();
    one.add("a", None, &a);
    one.add("b", None, &b);
    other.add("b", None, &b);
    other.add("a", None, &a);
    other.add("a", None, &a);
    let policies = [one, other].map(|demand| {
        let policy = Policy::of(&demand, Form::Oci, true);
        (policy.text(&demand), why(&policy, &demand))
    });
    assert_eq!(policies[0], policies[1]);
}

#[test]
fn each_rule_says_who_needs_it() {
    let demand = two();
    let policy = Policy::of(&demand, Form::Oci, true);
    assert_eq!(
        why(&policy, &demand),
        "fsync:\n  b\nioctl with 0x5401:\n  a, b\nioctl with 0x80045430:\n  a\nread:\n  a, b\n"
    );
    let by_name = Policy::of(&demand, Form::Oci, false);
    assert!(why(&by_name, &demand).contains("\nioctl:\n  a, b\n"));
}

#[test]
fn a_call_whose_word_was_not_seen_once_is_allowed_with_any() {
    let demand = demand(&[
        ("a", &[(NATIVE, "socket", Some(2))]),
        ("b", &[(NATIVE, "socket", None)]),
    ]);
    let policy = made(&demand);
    assert_eq!(policy.rules.len(), 1);
    assert_eq!(policy.rules[0].test, None);
}

#[test]
fn a_policy_allows_what_it_names_with_the_words_it_names_and_nothing_else() {
    let policy = made(&two());
    let answer = |name, word| policy.answer(NATIVE, Some(name), word);
    assert_eq!(answer("read", None), Answer::Allowed);
    assert_eq!(answer("ioctl", Some(0x5401)), Answer::Allowed);
    assert_eq!(answer("ioctl", Some(0x8004_5430)), Answer::Allowed);
    assert!(matches!(
        answer("ioctl", Some(0x5402)),
        Answer::Refused([_, _])
    ));
    assert!(matches!(answer("ioctl", None), Answer::Unknown([_, _])));
    assert_eq!(answer("write", Some(1)), Answer::Refused(&[]));
    assert_eq!(policy.answer(NATIVE, None, None), Answer::Refused(&[]));
    let other = policy.answer(Abi::I386, Some("read"), None);
    assert_eq!(other, Answer::Refused(&[]), "another convention");
}

#[test]
fn drift_is_each_rule_that_nobody_needs_and_each_call_that_no_rule_allows() {
    let policy = made(&demand(&[(
        "old",
        &[
            (NATIVE, "read", None),
            (NATIVE, "write", None),
            (NATIVE, "ioctl", Some(0x5401)),
            (NATIVE, "ioctl", Some(0x5402)),
        ],
    )]));
    let text = drift(&policy, &two(), true).to_string();
    let line = |name: &str| {
        let rule = policy.rules.iter().find(|rule| rule.to_string() == name);
        rule.expect("a rule").place.line
    };
    assert_eq!(
        text,
        format!(
            "+fsync  (needed by b)\n\
             -ioctl with 0x5402  (line {}: no scenario needs it)\n\
             +ioctl with 0x80045430  (needed by a)\n\
             -write  (line {}: no scenario needs it)\n",
            line("ioctl with 0x5402"),
            line("write")
        )
    );
}

#[test]
fn a_rule_that_allows_every_argument_is_drift_where_scenarios_need_some_alone() {
    let mut policy = made(&two());
    assert!(drift(&policy, &two(), true).is_none());
    let any = Rule {
        name: "ioctl".to_owned(),
        test: None,
        place: Place { line: 7, column: 1 },
    };
    policy.rules.push(any);
    policy.rules.sort();
    let told = "-ioctl with any argument  (line 7: scenarios need it with some alone)\n";
    assert_eq!(drift(&policy, &two(), true).to_string(), told);
    // So it is where the others are gone; a policy of names alone has no others.
    policy.rules.retain(|rule| rule.test.is_none());
    assert_eq!(drift(&policy, &two(), true).to_string(), told);
    assert!(drift(&policy, &two(), false).is_none());
}

#[test]
fn calls_of_another_convention_are_drift_and_listed_only_where_they_were_seen() {
    let native = demand(&[("a", &[(NATIVE, "read", None)])]);
    assert_eq!(native.abis().len(), 1);
    if NATIVE != Abi::X86_64 {
        return;
    }
    let both = demand(&[("a", &[(NATIVE, "read", None), (Abi::I386, "waitpid", None)])]);
    let policy = made(&both);
    assert!(policy.text(&both).contains("SCMP_ARCH_X86\""));
    assert_eq!(
        policy.answer(Abi::I386, Some("waitpid"), None),
        Answer::Allowed
    );
    let text = drift(&made(&native), &both, true).to_string();
    assert!(
        text.contains("+calls of i386  (a makes calls of i386)"),
        "{text}"
    );
    let text = drift(&policy, &native, true).to_string();
    assert!(text.contains("-calls of i386"), "{text}");
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let all = |entry: &str| {
        format!("{{\n  \"defaultAction\": \"SCMP_ACT_ERRNO\",\n  \"syscalls\": [\n{entry}\n  ]\n}}")
    };
    let args = |args: &str| {
        all(&format!(
            "{{\"names\": [\"ioctl\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{args}]}}"
        ))
    };
    let cases = [
        ("".to_owned(), "1:1: it is neither JSON"),
        (
            "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}".to_owned(),
            "1:19: all calls",
        ),
        ("{}".to_owned(), "1:1: `defaultAction` is missing"),
        (
            "{\"ociVersion\": \"1.0.2\"}".to_owned(),
            "1:2: this is a whole config.json",
        ),
        (
            "{\"syscalls\": [], \"syscalls\": []}".to_owned(),
            "1:18: the key `syscalls` stands there twice",
        ),
        (
            all("{\"names\": [\"a\"], \"action\": \"SCMP_ACT_LOG\"}"),
            "4:28: the only action",
        ),
        (all("{\"names\": [\"a\"]}"), "4:1: `action` is missing"),
        (
            all("{\"action\": \"SCMP_ACT_ALLOW\"}"),
            "4:1: `names` is missing or empty",
        ),
        (
            all("{\"names\": [\"a\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {}}"),
            "4:46: the key `includes`",
        ),
        (
            args("{\"index\": 0, \"value\": 3, \"op\": \"SCMP_CMP_EQ\"}"),
            "4:12: of `ioctl` only rules",
        ),
        (
            args("{\"index\": 1, \"value\": 3, \"op\": \"SCMP_CMP_GE\"}"),
            "4:90: the operator `SCMP_CMP_GE`",
        ),
        (
            args("{\"index\": 1, \"value\": 15, \"valueTwo\": 3, \"op\": \"SCMP_CMP_MASKED_EQ\"}"),
            "4:12: of `ioctl` only rules",
        ),
        (
            args("{\"index\": 6, \"value\": 3, \"op\": \"SCMP_CMP_EQ\"}"),
            "4:69: a call has the arguments 0 to 5",
        ),
        (
            "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 0}".to_owned(),
            "1:56: an error number",
        ),
        (
            "{\"defaultAction\": \"SCMP_ACT_ERRNO\"} x".to_owned(),
            "1:37: nothing may follow",
        ),
        (
            format!("{{\"flags\": {}", "[".repeat(100)),
            "1:43: the lists and maps are too deep",
        ),
    ];
    for (text, wanted) in cases {
        match Policy::read(&text) {
            Ok(policy) => panic!("{text}: {policy:?}"),
            Err(complaint) => {
                let told = complaint.to_string();
                assert!(told.starts_with(wanted), "{text}: {told}, and not {wanted}");
            }
        }
    }
}

#[test]
fn a_refusal_names_the_line_of_the_rules_of_its_name_or_of_what_becomes_of_all_others() {
    let policy = made(&two());
    let needs = Needs::of(&[
        (NATIVE, "read", Some(0)),
        (NATIVE, "write", Some(0)),
        (NATIVE, "ioctl", Some(0x5402)),
    ]);
    let refusals = told(&policy, &needs);
    let shown: Vec<(&str, bool)> = refusals.iter().map(|it| (&*it.call, it.by_word)).collect();
    assert_eq!(shown, [("`write`", false), ("`ioctl` with 0x5402", true)]);
    assert_eq!(refusals[0].lines, [policy.otherwise.line]);
    assert_eq!(refusals[1].lines.len(), 2);
}

#[test]
fn minijail_has_a_line_a_name_with_whole_words_and_above_it_who_needs_it() {
    let demand = two();
    let text = Policy::of(&demand, Form::Minijail, true).text(&demand);
    let (_, lines) = text.split_once('\n').expect("a first line");
    assert_eq!(
        lines,
        "# b\nfsync: 1\n# 0x5401: a, b\n# 0xffffffff80045430: a\n\
         ioctl: arg1 == 0x5401 || arg1 == 0xffffffff80045430\n# a, b\nread: 1\n"
    );
    let policy = of_form(&demand, Form::Minijail);
    let answer = |word| policy.answer(NATIVE, Some("ioctl"), Some(word));
    assert_eq!(answer(0xffff_ffff_8004_5430), Answer::Allowed);
    // It compares 64 bits, where the kernel looks at 32.
    assert!(matches!(answer(0x8004_5430), Answer::Refused([_, _])));
    let other = demand_of(0x8004_5430);
    let drift = drift(&policy, &other, true).to_string();
    assert!(
        drift.contains("+ioctl with 0x80045430  (needed by a)"),
        "{drift}"
    );
    assert!(drift.contains("-ioctl with 0xffffffff80045430"), "{drift}");
}

fn demand_of(word: u64) -> Demand {
    demand(&[("a", &[(NATIVE, "ioctl", Some(word))])])
}

#[test]
fn words_that_differ_where_the_kernel_does_not_look_are_one_rule_where_a_form_masks() {
    let mut demand = demand_of(0x8004_5430);
    let other = [(NATIVE, "ioctl", Some(0xffff_ffff_8004_5430))];
    demand.add("b", None, &Needs::of(&other));
    let rules = |form| Policy::of(&demand, form, true).rules.len();
    assert_eq!((rules(Form::Oci), rules(Form::Minijail)), (1, 2));
    let policy = made(&demand);
    assert_eq!(why(&policy, &demand), "ioctl with 0x80045430:\n  a, b\n");
    let none = Policy {
        rules: Vec::new(),
        ..policy
    };
    let missing = drift(&none, &demand, true).to_string();
    assert_eq!(missing, "+ioctl with 0x80045430  (needed by a, b)\n");
}

#[test]
fn a_policy_of_minijail_that_is_not_understood_is_refused_with_its_place() {
    let cases = [
        (
            "read: return EPERM",
            "1:1: `return EPERM` is not understood",
        ),
        ("read: 1; return EPERM", "1:1: `1; return EPERM` is not"),
        ("# a\n read: 0", "2:2: `0` is not understood"),
        ("read:", "1:1: `` is not understood"),
        ("read: arg0 == 1", "1:1: `arg0 == 1` is not understood"),
        ("ioctl: arg0 == 1", "1:1: `arg0 == 1` is not understood"),
        ("ioctl: arg1 & 1", "1:1: `arg1 & 1` is not"),
        (
            "ioctl: arg1 == 1 && arg2 == 2",
            "1:1: `arg1 == 1 && arg2 == 2`",
        ),
        ("ioctl: arg1 == TCGETS", "1:1: `arg1 == TCGETS` is not"),
        ("ioctl: arg1 == 010", "1:1: `arg1 == 010` is not"),
        ("ioctl: arg1 == 0x+1", "1:1: `arg1 == 0x+1` is not"),
        ("ioctl: arg1 == 1 ||", "1:1: `` is not understood"),
        (
            "ioctl: arg1 == 1\nioctl: arg1 == 2",
            "2:1: `ioctl` stands there twice",
        ),
        ("read: 1 \\\n", "1:1: `1 \\` is not"),
        ("read: 1\n@include ./other", "2:1: `NAME: 1` and"),
        (
            "read: 1\n@frequency ./other: 1",
            "2:1: `@frequency ./other` is not",
        ),
        ("0: 1", "1:1: `0` is not understood"),
    ];
    for (text, wanted) in cases {
        let complaint = Policy::read(text).expect_err(text).to_string();
        assert!(
            complaint.starts_with(wanted),
            "{text}: {complaint}, and not {wanted}"
        );
    }
}

#[test]
fn calls_of_another_convention_are_not_for_minijail() {
    if NATIVE != Abi::X86_64 {
        return;
    }
    let both = demand(&[("a", &[(NATIVE, "read", None), (Abi::I386, "waitpid", None)])]);
    let unsaid = |form| Policy::of(&both, form, true).unsaid(&both);
    assert_eq!(unsaid(Form::Oci), Vec::<String>::new());
    assert_eq!(
        unsaid(Form::Minijail),
        ["a makes calls of i386, which a policy of minijail kills"]
    );
}

/// The calls of a group that the native convention has.
fn of_group(name: &str) -> Vec<Made<'static>> {
    let calls = groups::calls(name).expect("a group").iter();
    let native = calls.filter(|call| syscall_model::names::number(NATIVE, call).is_some());
    native.map(|call| (NATIVE, *call, None)).collect()
}

#[test]
fn a_group_of_systemd_is_written_where_each_of_its_calls_is_needed_and_no_other() {
    let all = of_group("@sync");
    let (last, most) = all.split_last().expect("calls");
    let some = [most, &[(NATIVE, "read", None)]].concat();
    let text = |calls: &[Made<'_>]| {
        let demand = demand(&[("a", calls)]);
        Policy::of(&demand, Form::Systemd, true).text(&demand)
    };
    let fewer = text(&some);
    assert!(!fewer.contains('@'), "{fewer}");
    let whole = text(&[some.as_slice(), &[*last]].concat());
    assert!(whole.contains("\nSystemCallFilter=@sync\n"), "{whole}");
    assert!(whole.contains("\n# fsync: a\n"), "{whole}");
    assert!(!whole.contains("=fsync"), "{whole}");
    assert!(whole.contains("\nSystemCallFilter=read\n"), "{whole}");
    // What it always allows is not asked for by a group.
    let usual = text(&of_group(groups::DEFAULT));
    assert!(!usual.contains('@'), "{usual}");
}

#[test]
fn a_group_of_a_unit_stands_for_its_calls_and_each_of_them_may_be_too_much() {
    let unit = "[Service]\nSystemCallArchitectures=native\nSystemCallFilter=@sync read\n";
    let policy = Policy::read(unit).expect("a policy");
    let answer = |name| policy.answer(NATIVE, Some(name), None);
    assert_eq!(
        (answer("fsync"), answer("read")),
        (Answer::Allowed, Answer::Allowed)
    );
    assert_eq!(answer("write"), Answer::Refused(&[]));
    let few = demand(&[("a", &[(NATIVE, "read", None), (NATIVE, "fsync", None)])]);
    let text = drift(&policy, &few, true).to_string();
    assert!(
        text.contains("-syncfs  (line 3: no scenario needs it)"),
        "{text}"
    );
    assert!(
        !text.contains("sync_file_range2"),
        "no call of x86-64: {text}"
    );
    let other = "[Service]\nSystemCallFilter=~@sync\n";
    assert!(Policy::read(other).is_err(), "a list of what is refused");
}

#[test]
fn no_address_family_takes_back_those_above_as_systemd_has_it() {
    let read = |lines: &str| {
        let unit = format!("[Service]\nSystemCallFilter=socket\n{lines}\n");
        Policy::read(&unit).map_err(|complaint| complaint.to_string())
    };
    let allows = |lines: &str, family: i32| {
        let policy = read(lines).expect("a policy");
        policy.answer(Abi::native(), Some("socket"), Some(family as u64)) == Answer::Allowed
    };
    let family = |name: &str| format!("RestrictAddressFamilies={name}");
    let [unix, none] = ["AF_UNIX", "none"].map(family);
    assert!(allows(&unix, libc::AF_UNIX));
    assert!(!allows(&unix, libc::AF_INET));
    assert!(!allows(&none, libc::AF_UNIX));
    assert!(!allows(&format!("{unix}\n{none}"), libc::AF_UNIX));
    assert!(allows(&format!("{none}\n{unix}"), libc::AF_UNIX));
    // Among others it is no family, and systemd passes over it.
    let among = read("RestrictAddressFamilies=AF_UNIX none");
    let said = among.expect_err("a complaint");
    assert!(said.contains("`none` is not understood"), "{said}");
}

#[test]
fn what_one_kernel_of_several_needs_alone_is_marked() {
    let mut demand = Demand::default();
    let (read, fsync) = ((NATIVE, "read", None), (NATIVE, "fsync", None));
    demand.add("a", Some("6.1"), &Needs::of(&[read, fsync]));
    demand.add(
        "a",
        Some("7.2"),
        &Needs::of(&[read, (NATIVE, "close", None)]),
    );
    demand.add("b", Some("7.2"), &Needs::of(&[fsync]));
    demand.add("--also", None, &Needs::of(&[(NATIVE, "bpf", None)]));
    let policy = made(&demand);
    assert_eq!(
        why(&policy, &demand),
        "bpf:\n  --also\nclose:\n  a\n  on 7.2 alone\nfsync:\n  a, b\nread:\n  a\n"
    );
    let unit = Policy::of(&demand, Form::Systemd, true).text(&demand);
    let marked = "# a\n# on 7.2 alone\nSystemCallFilter=close\n# a, b\nSystemCallFilter=fsync\n";
    assert!(unit.contains(marked), "{unit}");
    let none = Policy {
        rules: Vec::new(),
        ..policy
    };
    let text = drift(&none, &demand, true).to_string();
    assert!(
        text.contains("+close  (needed by a on 7.2 alone)\n"),
        "{text}"
    );
    // One kernel is no choice of some.
    let mut one = Demand::default();
    one.add("a", Some("6.1"), &Needs::of(&[read]));
    assert_eq!(why(&made(&one), &one), "read:\n  a\n");
}
