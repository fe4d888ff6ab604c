//! Files without names, queues, and what allows a name that is drawn.

use super::confined::{found, strings, word};
use crate::matching::{Finding, Realm};
use crate::scenario::Confined;

#[test]
fn a_message_queue_is_the_file_that_its_file_system_has_for_it() {
    let rules = Confined {
        writes: strings(&["**", "/dev/mqueue/jobs"]),
        ..Confined::default()
    };
    for (line, said) in [
        ("mq_open(u_name=\"jobs\", oflag:flags=66) = 3", "allowed"),
        ("mq_unlink(u_name=\"jobs\") = 0", "allowed"),
        ("mq_open(u_name=\"x\", oflag:flags=0) = 3", "allowed"),
        (
            "mq_open(u_name=\"x\", oflag:flags=1) = 3",
            "not /dev/mqueue/x",
        ),
        ("mq_open(u_name=\"x\", oflag:flags=66) = EEXIST", "allowed"),
        // The kernel takes no such name.
        ("mq_open(u_name=\"a/jobs\", oflag:flags=1) = 3", "unknown"),
        ("mq_open(u_name=<unread>, oflag:flags=1) = 3", "unknown"),
    ] {
        assert_eq!(word(&rules, &format!("P1 {line}")), said, "{line}");
    }
}

#[test]
fn a_file_without_a_name_lies_in_the_folder_that_it_is_made_in() {
    // O_TMPFILE | O_RDWR
    let made =
        |path: &str| format!("P1 openat(filename:path=p\"{path}\", flags=4259842) = <3 made #1>");
    let of = |writes: &[&str], path: &str| {
        let rules = Confined {
            writes: strings(writes),
            ..Confined::default()
        };
        word(&rules, &made(path))
    };
    for (rule, path, said) in [
        ("/srv/**", "/srv", "allowed"),
        ("/srv/#", "/srv/", "allowed"),
        ("/srv", "/srv", "not /srv/#"),
        ("/srv/**", "/srv/in", "allowed"),
        ("/srv/**", "/other", "not /other/#"),
        ("data/**", "data", "allowed"),
        ("data/**", ".", "not #"),
        ("**", ".", "allowed"),
    ] {
        assert_eq!(of(&[rule], path), said, "{rule} {path}");
    }
    let rules = Confined {
        writes: strings(&["/srv/**"]),
        ..Confined::default()
    };
    let found = found(&rules, &made("/other"));
    let [(Realm::Writes, Finding::Failed(said))] = found.as_slice() else {
        panic!("{found:?}");
    };
    for words in [
        "does not allow `/other/#`, a file without a name, (line 1)\n",
        "what allows it: writes: [\"/other/#\"]",
    ] {
        assert!(said.text.contains(words), "{}", said.text);
    }
}

#[test]
fn what_allows_a_drawn_name_allows_it_in_the_next_run_too() {
    let rules = Confined {
        writes: strings(&[]),
        network: Some(Vec::new()),
        ..Confined::default()
    };
    let hint = |text: &str| {
        let found = found(&rules, text);
        let Some((_, Finding::Failed(said))) = found.first() else {
            panic!("{found:?}");
        };
        let (_, hint) = said.text.split_once("what allows it: ").expect("a hint");
        hint.lines().next().map(str::to_owned).expect("a line")
    };
    let made = |path: &str| format!("P1 openat(filename:path=p\"{path}\", flags=65) = <3 x #1>\n");
    let renamed = "P1 rename(a:from=p\".tmpfuXX7v\", b:to=p\"state\") = 0";
    for (text, rule) in [
        (made(".tmpfuXX7v") + renamed, "writes: [\".tmp??????\"]"),
        (made(".tmpfuXX7v"), "writes: [\".tmpfuXX7v\"]"),
        (
            made("/tmp/.tmpfuXX7v/data"),
            "writes: [\"/tmp/.tmp??????/data\"]",
        ),
        (made("a[1]"), "writes: [\"a[[]1]\"]"),
        (
            "P1 connect(family=2, ip=\"127.0.0.1\", port=40359) = 0".to_owned(),
            "network: [\"127.0.0.1:*\"]",
        ),
        (
            "P1 connect(family=2, ip=\"127.0.0.1\", port=8080) = 0".to_owned(),
            "network: [\"127.0.0.1:8080\"]",
        ),
    ] {
        assert_eq!(hint(&text), rule, "{text}");
    }
}
