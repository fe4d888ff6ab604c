//! Walks over a small ground, and what changes do to them.

use super::walk::NoMagic;
use super::*;
use crate::ThreadId;
use crate::files::Way;
use std::collections::BTreeMap;

/// Folders end in a slash, links have an arrow; files with the same number are one.
#[derive(Debug)]
struct Map(BTreeMap<&'static str, Found>);

impl Ground for Map {
    fn look(&mut self, path: &[u8]) -> Found {
        let path = std::str::from_utf8(path).expect("text");
        self.0.get(path).cloned().unwrap_or(Found::Missing)
    }

    fn is_file(&mut self, path: &[u8]) -> bool {
        path == b"/usr/late"
    }

    fn sharing(&self) -> Sharing {
        Sharing::Alone
    }

    fn to_survey(&mut self, folder: &[u8]) -> Vec<Vec<u8>> {
        let below = format!("{}/", String::from_utf8_lossy(folder));
        let names = self.0.keys().filter(|name| name.starts_with(&below));
        names.map(|name| name.as_bytes().to_vec()).collect()
    }
}

const ME: ThreadId = ThreadId(1);
const OTHER: ThreadId = ThreadId(2);

fn tree(aliases: &[&str]) -> Tree {
    let link = |to: &str| Found::Link(None, to.as_bytes().into());
    let ground = BTreeMap::from([
        ("/w", Found::Folder(None)),
        ("/w/d", Found::Folder(None)),
        ("/w/d/e", Found::Folder(None)),
        ("/w/deep", link("d/e")),
        ("/w/secret", Found::File(Some((1, 7)))),
        ("/w/twin", Found::File(Some((1, 7)))),
        ("/w/round", link("round")),
        ("/dark", Found::Unknown),
        ("/proc", Found::Processes),
        ("/lib", link("usr/lib")),
        ("/usr", Found::Folder(None)),
        ("/usr/lib", Found::Folder(None)),
        ("/usr/lib/c", Found::File(None)),
        ("/usr/late", Found::Unknown),
        ("/usr/gone", Found::Unknown),
    ]);
    let aliases: Vec<Vec<u8>> = aliases.iter().map(|it| it.as_bytes().to_vec()).collect();
    Tree::new(Box::new(Map(ground)), b"/w", &aliases)
}

fn walk(tree: &mut Tree, path: &str) -> Walked {
    let start = Start {
        from: Ok(tree.before(b"/w").expect("the directory")),
        doubt: None,
        root: tree.root(),
    };
    let way = Way {
        follows: true,
        ..Way::default()
    };
    tree.walk(&start, path.as_bytes(), way, Space::FIRST, &NoMagic)
}

fn names(tree: &mut Tree, path: &str) -> Vec<String> {
    let walked = walk(tree, path);
    let names = tree.names_of(&walked, false).expect("names");
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    names.iter().map(|name| text(name)).collect()
}

fn last(tree: &mut Tree, path: &str) -> (NodeId, Box<[u8]>) {
    let (folder, name) = walk(tree, path).last.expect("a name");
    (folder.node(), name)
}

#[test]
fn what_is_behind_a_link_and_dots_is_where_the_kernel_goes() {
    let mut tree = tree(&[]);
    let secret = ["/w/secret", "/w/twin"];
    for path in [
        "secret",
        "/w/secret",
        "d/../secret",
        "deep/../../secret",
        "//w/./secret",
    ] {
        let mut found = names(&mut tree, path);
        found.sort_unstable();
        assert_eq!(found, secret, "{path}");
    }
    assert_eq!(walk(&mut tree, "deep/../secret").target, Target::Absent);
    assert_eq!(walk(&mut tree, "round").target, Target::Missing);
    assert_eq!(walk(&mut tree, "secret/x").target, Target::Missing);
    let dark = walk(&mut tree, "/dark/x").target;
    assert!(matches!(dark, Target::Unknown(Why::Unseen(_))));
}

#[test]
fn only_what_the_run_made_and_dots_are_said_to_lead() {
    let mut tree = tree(&[]);
    assert!(!walk(&mut tree, "/lib/c").is_led);
    assert!(walk(&mut tree, "d/../secret").climbs);
    assert!(walk(&mut tree, "deep/..").climbs);
    assert!(!walk(&mut tree, "d/e").is_led);
}

#[test]
fn a_path_that_is_written_out_is_a_name_of_what_it_leads_to() {
    let mut tree = tree(&["/lib/c"]);
    assert!(names(&mut tree, "/usr/lib/c").contains(&"/lib/c".to_owned()));
}

/// What was opened under a name that nobody looked at in time.
fn supposed(tree: &mut Tree, path: &str) -> (Walked, Doubt) {
    let mut walked = walk(tree, path);
    assert!(tree.is_unseen(&walked), "{path}");
    let doubt = tree.suppose(&mut walked).expect("a name");
    (walked, doubt)
}

#[test]
fn a_name_that_nobody_saw_in_time_is_what_lies_there_in_the_end() {
    let mut tree = tree(&[]);
    let (walked, doubt) = supposed(&mut tree, "/usr/late");
    let (_, other) = supposed(&mut tree, "/usr/gone");
    let expected: Vec<Box<[u8]>> = vec![Box::from(&b"/usr/late"[..])];
    assert_eq!(tree.names_of(&walked, false), Some(expected));
    assert!(!doubt.is_cleared());
    tree.settle();
    assert!(doubt.is_cleared() && !other.is_cleared());
    // What lies in a folder that nobody could look at stays unknown.
    let dark = walk(&mut tree, "/dark/x");
    assert!(!tree.is_unseen(&dark));
}

#[test]
fn a_name_that_nobody_saw_in_time_stays_unknown_where_the_run_changes_it_later() {
    for changed in ["the name", "its folder", "what is mounted"] {
        let mut tree = tree(&[]);
        let (walked, doubt) = supposed(&mut tree, "/usr/late");
        let moment = tree.now();
        let folder = walk(&mut tree, "/usr");
        let (Target::At(spot), Some((root, name))) = (folder.target, folder.last) else {
            panic!("it is there");
        };
        let new = tree.unnamed(New::File);
        match changed {
            "the name" => {
                let (folder, name) = walked.last.expect("a name");
                tree.give((folder.node(), &name), new, moment);
            }
            "its folder" => {
                tree.take_away((root.node(), &name), moment);
                tree.give((root.node(), b"usr2"), spot.node(), moment);
            }
            _ => drop(tree.mount(new, spot, Space::FIRST, moment)),
        }
        tree.settle();
        assert!(!doubt.is_cleared(), "{changed}");
    }
}

#[test]
fn a_file_keeps_the_names_that_it_had() {
    let mut tree = tree(&[]);
    let Target::At(secret) = walk(&mut tree, "secret").target else {
        panic!("it is there");
    };
    let (from, to) = (last(&mut tree, "secret"), last(&mut tree, "d/new"));
    let moment = tree.now();
    tree.take_away((from.0, &from.1), moment);
    tree.give((to.0, &to.1), secret.node(), moment);
    assert_eq!(walk(&mut tree, "secret").target, Target::Absent);
    let found = names(&mut tree, "d/new");
    assert_eq!(found.first().map(String::as_str), Some("/w/d/new"));
    assert!(found.contains(&"/w/secret".to_owned()));
}

#[test]
fn what_is_mounted_over_a_name_has_that_name_too() {
    let mut tree = tree(&[]);
    let Target::At(secret) = walk(&mut tree, "secret").target else {
        panic!("it is there");
    };
    let Target::At(on) = walk(&mut tree, "/usr/lib/c").target else {
        panic!("it is there");
    };
    let moment = tree.now();
    tree.mount(secret.node(), on, Space::FIRST, moment);
    assert!(names(&mut tree, "/lib/c").contains(&"/w/secret".to_owned()));
    let copy = tree.copy_space(Space::FIRST);
    assert!(tree.has_mounts(copy));
}

#[test]
fn where_dots_lead_from_what_may_be_the_root_of_an_unattached_mount_is_not_known() {
    let mut one = tree(&[]);
    let Target::At(folder) = walk(&mut one, "d").target else {
        panic!("it is there");
    };
    one.part(folder.node());
    assert!(matches!(walk(&mut one, "d/e/..").target, Target::At(_)));
    for path in ["d/..", "d/../secret", "d/e/../../secret"] {
        let found = walk(&mut one, path).target;
        assert!(matches!(found, Target::Unknown(Why::Start)), "{path}");
    }
    let mut one = tree(&[]);
    let at = |one: &mut Tree, path: &str| match walk(one, path).target {
        Target::At(spot) => spot,
        other => panic!("{path}: {other:?}"),
    };
    let (what, on) = (at(&mut one, "d").node(), at(&mut one, "/usr/lib"));
    let moment = one.now();
    one.mount(what, on, Space::FIRST, moment);
    assert_eq!(at(&mut one, "/usr/lib/.."), at(&mut one, "/usr"));
    let mounted = at(&mut one, "/usr/lib");
    one.part_mount(mounted);
    let found = walk(&mut one, "/usr/lib/..").target;
    assert!(matches!(found, Target::Unknown(Why::Start)));
}

#[test]
fn what_is_mounted_spreads_once_a_shared_mount_was_copied_and_until_all_are_private() {
    let mut tree = tree(&[]);
    let space = Space::FIRST;
    assert!(!tree.spreads(space), "each is alone in its group");
    let copy = tree.copy_space(space);
    tree.copies_mount(copy);
    assert!(tree.spreads(copy));
    assert!(tree.spreads(space), "it shares with the other one");
    let root = tree.root();
    let below = root.of(last(&mut tree, "d/e").0);
    tree.unshare(copy, below);
    assert!(tree.spreads(copy));
    tree.unshare(copy, root);
    assert!(!tree.spreads(copy) && !tree.spreads(space));
    tree.copies_mount(copy);
    assert!(!tree.spreads(copy), "none is shared");
    tree.share(copy, Sharing::Alone);
    tree.copies_mount(copy);
    assert!(tree.spreads(copy));
}

#[test]
fn a_change_by_another_thread_on_the_way_puts_a_walk_in_doubt() {
    let mut tree = tree(&[]);
    let since = tree.now();
    tree.begins(OTHER);
    let walked = walk(&mut tree, "d/e");
    let elsewhere = walk(&mut tree, "/usr/lib/c");
    let doubt = tree
        .doubt(ME, &walked.keys)
        .expect("a thread is changing names");
    let other = tree.doubt(ME, &elsewhere.keys).expect("the same");
    assert!(!doubt.is_cleared() && !other.is_cleared());
    let key = last(&mut tree, "d");
    let moment = tree.now();
    tree.take_away((key.0, &key.1), moment);
    tree.ends(OTHER, &vec![key]);
    assert!(!doubt.is_cleared() && other.is_cleared());
    assert!(tree.is_raced(&walked.keys, since, true));
    assert!(!tree.is_raced(&elsewhere.keys, since, true));
}

#[test]
fn a_change_whose_names_are_not_known_may_have_been_of_any() {
    let mut tree = tree(&[]);
    tree.begins(OTHER);
    let mut walked = walk(&mut tree, "d/e");
    let reached = tree.reached_by(ME, &mut walked, false);
    tree.ends_unseen(OTHER, "renameat");
    assert_eq!(reached.names().expect("asked"), Err(&Why::Raced));
    assert_eq!(tree.why_lost(), Some(Why::Lost("renameat")));
}

#[test]
fn to_go_to_and_fro_in_doubt_is_no_deeper_doubt_and_one_that_is_too_deep_is_no_start() {
    let mut tree = tree(&[]);
    tree.begins(OTHER);
    let root = tree.root();
    let before = tree.before(b"/w").expect("a folder");
    let mut place = Where::At(before, None);
    let go = |tree: &mut Tree, place: &Where, to: &[u8]| {
        let (from, doubt) = place.start();
        let start = Start { from, doubt, root };
        let mut walked = tree.walk(&start, to, Way::default(), Space::FIRST, &NoMagic);
        tree.reached_by(ME, &mut walked, false);
        match walked.target {
            Target::At(spot) => Where::At(spot, walked.doubt),
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..1000 {
        for to in [&b"d"[..], b".."] {
            place = go(&mut tree, &place, to);
            assert!(place.start().0.is_ok());
        }
    }
    // Each of these ways is another.
    let mut n = 0;
    while place.start().0.is_ok() {
        place = go(&mut tree, &place, &[&b"d/../"[..]].repeat(n + 1).concat());
        n += 1;
    }
    assert!((10..100).contains(&n), "{n}");
}

#[test]
fn what_starts_in_doubt_is_certain_when_that_is_and_a_change_from_there_is_lost_when_it_is_not() {
    for is_raced in [false, true] {
        let mut tree = tree(&[]);
        tree.begins(OTHER);
        let mut opened = walk(&mut tree, "d");
        tree.reached_by(ME, &mut opened, false);
        let Target::At(spot) = opened.target else {
            panic!("{opened:?}");
        };
        let place = Where::At(spot, opened.doubt);
        assert_eq!(place.spot(), Err(Why::Raced));
        let (from, doubt) = place.start();
        let root = tree.root();
        let start = Start { from, doubt, root };
        let mut walked = tree.walk(&start, b"e", Way::default(), Space::FIRST, &NoMagic);
        let reached = tree.reached_by(ME, &mut walked, false);
        assert_eq!(reached.names().expect("asked"), Err(&Why::Raced));
        tree.relies_on(ME, &walked, "mkdirat");
        let changed = last(&mut tree, if is_raced { "d" } else { "other" });
        tree.ends(OTHER, &vec![changed]);
        assert_eq!(reached.names().expect("asked").is_err(), is_raced);
        let lost = is_raced.then_some(Why::Lost("mkdirat"));
        assert_eq!(tree.why_lost(), lost);
        assert_eq!(place.start().0.is_err(), is_raced);
    }
}

#[test]
fn what_was_made_on_the_way_of_a_call_that_succeeded_was_there() {
    let mut tree = tree(&[]);
    let since = tree.now();
    let key = last(&mut tree, "new");
    let node = tree.unnamed(New::File);
    let moment = tree.now();
    tree.give((key.0, &key.1), node, moment);
    let walked = walk(&mut tree, "new");
    assert!(!tree.is_raced(&walked.keys, since, true));
    assert!(tree.is_raced(&walked.keys, since, false));
}

#[test]
fn after_a_change_that_was_not_understood_nothing_is_known() {
    let mut tree = tree(&[]);
    tree.lose("mount");
    assert_eq!(tree.before(b"/w/secret"), None);
    assert_eq!(tree.why_lost(), Some(Why::Lost("mount")));
}

#[test]
fn a_hard_link_of_a_file_that_nobody_looked_at_leaves_all_else_known() {
    let mut tree = tree(&[]);
    let supposed = walk(&mut tree, "/usr/late");
    let doubt = tree.suppose(&mut supposed.clone()).expect("a name");
    let moment = tree.now();
    let node = tree.unseen_file(&supposed, moment).expect("a name");
    let to = last(&mut tree, "new");
    tree.give((to.0, &to.1), node, moment);
    // It is not known which it is, by neither name, also where it lies in the end.
    for path in ["/usr/late", "new"] {
        let walked = walk(&mut tree, path);
        assert!(matches!(walked.target, Target::Unknown(Why::Unseen(_))));
        assert!(!tree.is_unseen(&walked), "{path}");
        assert!(tree.unseen_file(&walked, moment) == Some(node), "{path}");
    }
    tree.settle();
    assert!(!doubt.is_cleared());
    assert_eq!(names(&mut tree, "/usr/lib/c"), ["/usr/lib/c"]);
    // What a call may have put under a name is another thing than what was there before; and so is
    // what lies behind a folder that is not known.
    let key = last(&mut tree, "/usr/gone");
    tree.forget((key.0, &key.1), moment);
    for path in ["/usr/gone", "/dark/x"] {
        let walked = walk(&mut tree, path);
        assert_eq!(tree.unseen_file(&walked, moment), None, "{path}");
    }
}

/// Processes of a procfs: each has the run's folder, and one that ends has nothing.
#[derive(Debug)]
struct Open;

impl Holding for Open {
    fn holds(&self, task: Task, what: Magic) -> Holds {
        match (task, what) {
            (Task::Numbered(_), _) => Holds::Unknown,
            (_, Magic::Current) => Holds::File(b"/w".to_vec()),
            (_, Magic::Root) => Holds::File(b"/".to_vec()),
            (_, Magic::Program) => Holds::File(b"/usr/lib/c".to_vec()),
            (_, Magic::Descriptor(3)) => Holds::File(b"/w/secret".to_vec()),
            (_, Magic::Descriptor(4)) => Holds::Removed(b"/w/d/gone".to_vec()),
            (_, Magic::Descriptor(5)) => Holds::Nowhere,
            (_, Magic::Descriptor(_)) => Holds::Nothing,
        }
    }
}

#[test]
fn a_path_that_is_gone_for_a_call_that_waits_ends_where_that_of_a_run_does() {
    let sought = |path: &str, way: Way| {
        let Tree { ground, .. } = tree(&[]);
        let begins = Begins {
            root: b"/",
            folder: Some(b"/w"),
        };
        seek(ground, &Open, begins, path.as_bytes(), way).reached
    };
    let follows = Way {
        follows: true,
        ..Way::default()
    };
    for (path, way, name) in [
        ("/lib/c", follows, "/usr/lib/c"),
        ("/lib", Way::default(), "/lib"),
        ("/lib/", Way::default(), "/usr/lib"),
        ("deep/none", follows, "/w/d/e/none"),
        ("deep/../secret", follows, "/w/d/secret"),
        ("round/x", follows, "/w/round/x"),
        ("/proc/self/cwd/deep/new", follows, "/w/d/e/new"),
        ("/proc/thread-self/root/lib/c", follows, "/usr/lib/c"),
        ("/proc/self/exe", follows, "/usr/lib/c"),
        ("/proc/self/exe", Way::default(), "/proc/self/exe"),
        ("/proc/self/maps", follows, "/proc/self/maps"),
        ("/proc/self/fd/3", follows, "/w/secret"),
        ("/proc/self/fd/4", follows, "/w/d/gone"),
        ("/proc/self/fd/9", follows, ""),
    ] {
        let reached = sought(path, way);
        let names = reached.names().expect("asked").expect("known");
        let first = names.first().map_or(&b""[..], |name| name);
        let first = String::from_utf8_lossy(first);
        assert_eq!(first, name, "{path} {way:?}");
        // As the run's own walk.
        if !path.starts_with("/proc") {
            let mut tree = tree(&[]);
            let from = tree.before(b"/w").ok_or(Why::Start);
            let root = tree.root();
            let doubt = None;
            let start = Start { from, doubt, root };
            let mut walked = tree.walk(&start, path.as_bytes(), way, Space::FIRST, &NoMagic);
            assert_eq!(
                tree.reached_by(ME, &mut walked, false).names(),
                reached.names()
            );
        }
    }
    assert_eq!(sought("/proc/self/fd/5", follows), Reached::Nowhere);
    let unknown = [sought("/proc/7/fd/3", follows), sought("/dark", follows)];
    assert!(unknown.iter().all(|it| matches!(it, Reached::Unknown(_))));
}

#[test]
fn a_path_that_is_written_out_is_another_name_of_what_it_is_and_of_what_it_leads_to() {
    let Tree { ground, .. } = tree(&[]);
    let paths = ["/lib", "/lib/c", "/w/secret", "/w/none"];
    let paths = paths.map(|path| path.as_bytes().to_vec());
    let aliases = aliases(ground, b"/w", &paths);
    let told = |it: &Alias| {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        (text(&it.name), text(&it.place), it.is_folder)
    };
    let told: Vec<_> = aliases.iter().map(told).collect();
    let expected = [
        ("/lib", "/lib", false),
        ("/lib", "/usr/lib", true),
        ("/lib/c", "/usr/lib/c", false),
        // One name is as good as the other.
        ("/w/secret", "/w/twin", false),
    ];
    let expected = expected.map(|(name, place, is)| (name.to_owned(), place.to_owned(), is));
    assert_eq!(told, expected);
    assert_eq!(aliases[3].identity, Some((1, 7)));
}
