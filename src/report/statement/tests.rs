use super::*;
use crate::matching::Realm;

fn done(what: Deeds, to: &str) -> Done {
    Done {
        what,
        to: Some(to.to_owned()),
        new: None,
        others: Vec::new(),
        realm: Some(Realm::Reads),
        unsure: None,
        is_usual: false,
        is_own: false,
        by: Blamed::Nothing,
    }
}

fn stated(statement: &Statement) -> Stated<'_> {
    Stated {
        command: &[],
        statement,
        exit: Known::Yes(ExitKind::Code(0)),
        processes: 1,
        lost: 0,
        gaps: Vec::new(),
        looked_at: vec!["/tmp".into()],
    }
}

fn text(all: Vec<Done>) -> String {
    let statement = Statement {
        done: all,
        ..Statement::default()
    };
    let mut out = String::new();
    stated(&statement).text(&mut out);
    out
}

#[test]
fn each_thing_is_said_once_with_its_number_in_an_order_of_its_own() {
    let all = ["/etc/b", "/etc/a", "/etc/b"].map(|path| done(Deeds::Read, path));
    let text = text(all.to_vec());
    let said = "working directory: 2\n  /etc/a\n  /etc/b (2 times)\n";
    assert!(text.contains(said), "{text}");
    assert!(text.starts_with("complete: "), "{text}");
    assert!(text.contains("peers connected: none\n"), "{text}");
}

#[test]
fn many_names_that_were_drawn_are_one_line_for_each_that_they_begin_with() {
    let drawn = ["R4xk1Q", "a0bWzz", "X9d2Lm", "0MqqIT", "3qWlxK", "ZZb1aa"];
    let names = ["pp", "po"].map(|front| drawn.map(|it| format!("/tmp/{front}{it}")));
    let names = names
        .as_flattened()
        .iter()
        .map(|name| done(Deeds::Written, name));
    let words = ["a", "b", "out"].map(|name| done(Deeds::Written, &format!("/tmp/{name}")));
    let text = text(names.chain(words).collect());
    let said = "changed: 15\n  /tmp/a\n  /tmp/b\n  /tmp/out\n  /tmp/po?????? (6 files, 6 times)\n";
    assert!(text.contains(said), "{text}");
    let few = drawn.map(|it| done(Deeds::Written, &format!("/tmp/pp{it}")));
    assert!(super::tests::text(few.to_vec()).contains("/tmp/ppR4xk1Q\n"));
}

#[test]
fn a_file_that_never_had_a_name_is_called_so() {
    let text = text(vec![done(Deeds::Written, "/tmp/#")]);
    assert!(
        text.contains("\n  /tmp/#, a file without a name\n"),
        "{text}"
    );
}

#[test]
fn many_files_of_a_folder_are_one_line_and_those_of_the_root_are_not() {
    let many = (0..400).map(|n| done(Deeds::Written, &format!("/var/x/{n}/f")));
    let top = (0..20).map(|n| done(Deeds::Written, &format!("/d{n}/f")));
    let text = text(many.chain(top).collect());
    assert!(
        text.contains("\n  /var/x/** (400 files, 400 times)\n"),
        "{text}"
    );
    assert!(text.contains("\n  /d19/f\n"), "{text}");
}

#[test]
fn what_is_not_known_makes_it_incomplete() {
    let unknown = Done {
        to: None,
        unsure: Some(Unsure::What),
        ..done(Deeds::Written, "")
    };
    let text = text(vec![unknown]);
    assert!(text.starts_with("incomplete: "), "{text}");
    let why = "\n  ? (not read): what it was done to was not read, or has no name\n";
    assert!(text.contains(why), "{text}");
    assert!(!text.contains("hint: "), "{text}");
}

#[test]
fn each_deed_says_why_it_is_not_known_and_a_hint_names_the_folders_that_were_not_looked_at() {
    let which = |to: &str| Done {
        unsure: Some(Unsure::Which("what it was is not known".to_owned())),
        ..done(Deeds::Read, to)
    };
    let known = done(Deeds::Read, "/a/b");
    let whether = Done {
        unsure: Some(Unsure::Whether),
        ..done(Deeds::Written, "/c/d")
    };
    let names = [
        "/o p/a",
        "/o p/b",
        "/tmp/x/y",
        "/z",
        "here",
        "/proc/self/exe",
    ];
    let all = names.map(which).into_iter().chain([known, whether]);
    let text = text(all.collect());
    for said in [
        "because 7 deeds are not known in full: they are marked with a `?`\n  hint: ",
        " is looked at by --folder '/o p'\n",
        "\n  /a/b\n",
        "\n  ? /o p/a: what it was is not known\n",
        "\n  ? /c/d: whether it was done is not known\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn json_has_a_line_for_each_thing_and_the_summary_is_last() {
    let statement = Statement {
        done: vec![Done {
            by: Blamed::Test("a::b".into()),
            ..done(Deeds::Read, "/etc/a")
        }],
        tests: ["a::b".into()].into(),
    };
    let mut out = String::new();
    stated(&statement).json(&mut out);
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["tests"][0], "a::b");
    assert_eq!(lines[1]["type"], "summary");
    assert_eq!(lines[1]["complete"], true);
    assert_eq!(lines[1]["exit"]["code"], 0);
}

#[test]
fn a_name_is_no_markup() {
    assert_eq!(code("a`b"), "`` a`b ``");
    assert_eq!(code("<b>*x*"), "`<b>*x*`");
}
