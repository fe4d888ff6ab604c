//! What crashes teach, each on the smallest log that shows it.

use std::collections::BTreeSet;

use crate::crash::{
    Attribute, Change, Content, Coverage, Fault, Log, LogError, Lost, Model, Node, NodeId, Part,
    Pieces, Place, State, Step, Tree,
};

const ROOT: NodeId = NodeId(0);
const OLD: NodeId = NodeId(1);
const NEW: NodeId = NodeId(2);
const DIR: NodeId = NodeId(3);
const SUB: NodeId = NodeId(4);

fn at(folder: NodeId, name: &str) -> Place {
    Place {
        folder,
        name: name.as_bytes().to_vec(),
    }
}

fn enter(folder: NodeId, name: &str, node: NodeId) -> Step {
    Step::Change(Change::Enter {
        at: at(folder, name),
        node,
    })
}

fn rename(from: Place, to: Place) -> Step {
    Step::Change(Change::Rename {
        from,
        to,
        leaves: None,
    })
}

fn write(node: NodeId, at: u64, bytes: &[u8]) -> Step {
    Step::Change(Change::Write {
        node,
        at,
        bytes: bytes.to_vec().into(),
    })
}

fn truncate(node: NodeId, size: u64) -> Step {
    Step::Change(Change::Truncate { node, size })
}

fn sync(node: NodeId) -> Step {
    Step::Sync {
        node,
        only_data: false,
    }
}

/// A folder with the file `a` that holds `old`; the nodes NEW (a file), DIR and SUB are new.
fn log(old: &[u8], steps: Vec<Step>) -> Log {
    let root = Node::folder([(b"a".to_vec(), OLD)]);
    let start = Tree::new(
        ROOT,
        [(ROOT, root), (OLD, Node::file(Content::new(old.to_vec())))],
    );
    let new = [
        (NEW, Node::file(Content::default())),
        (DIR, Node::folder([])),
        (SUB, Node::folder([])),
    ];
    Log::new(start, new, steps).unwrap()
}

fn cut(model: &str, log: &Log) -> Pieces {
    let named = |name| Model::named(name).unwrap();
    // No file system of today: ext4 mounted with `dioread_lock`.
    let strict = || Model {
        size_after_data: true,
        ..named("ext4")
    };
    let model = match model {
        "strict" => strict(),
        name => named(name),
    };
    Pieces::new(log, &model)
}

/// All states, with what the files at `paths` hold: `None` where there is none.
fn states(pieces: &Pieces, paths: &[&str]) -> Vec<(State, Vec<Option<Vec<u8>>>)> {
    let explored = pieces.explore(100_000, 1);
    assert!(
        matches!(explored.coverage(), Coverage::All(_)),
        "{:?}",
        explored.coverage()
    );
    let held = |tree: &Tree, path: &&str| {
        tree.find(path.as_bytes())
            .and_then(Node::content)
            .map(Content::to_vec)
    };
    explored
        .map(|state| {
            let tree = pieces.tree(&state);
            let held = paths.iter().map(|path| held(&tree, path)).collect();
            (state, held)
        })
        .collect()
}

fn contents(model: &str, log: &Log, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    states(&cut(model, log), &[path])
        .into_iter()
        .flat_map(|(_, held)| held)
        .collect()
}

fn some<const N: usize>(contents: [&[u8]; N]) -> BTreeSet<Option<Vec<u8>>> {
    contents
        .into_iter()
        .map(|content| Some(content.to_vec()))
        .collect()
}

/// Writes `content` to a new file and renames it over `a`.
fn replace(content: &[u8], synced: bool) -> Log {
    let mut steps = vec![enter(ROOT, "t", NEW), write(NEW, 0, content)];
    steps.extend(synced.then(|| sync(NEW)));
    steps.push(rename(at(ROOT, "t"), at(ROOT, "a")));
    log(b"old", steps)
}

#[test]
fn rename_without_sync_leaves_an_empty_or_torn_file_under_the_new_name() {
    let content = [b'n'; 1024];
    let mut torn = content;
    torn[..512].fill(0);
    let seen = contents("posix", &replace(&content, false), "a");
    let second = [&content[..512], &[0; 512]].concat();
    assert_eq!(
        seen,
        some([b"old", b"", &[0; 1024], &torn, &second, &content])
    );
}

#[test]
fn ext4_sets_the_size_of_a_new_file_before_it_replaces_another_and_not_its_data() {
    let seen = contents("ext4", &replace(&[b'n'; 8192], false), "a");
    let [new, none] = [[b'n'; 4096], [0; 4096]];
    let (first, second) = ([new, none].concat(), [none, new].concat());
    assert_eq!(
        seen,
        some([b"old", &[b'n'; 8192], &[0; 8192], &first, &second])
    );
    // Under a name that was free it does not.
    let fresh = log(
        b"",
        vec![
            enter(ROOT, "t", NEW),
            write(NEW, 0, b"new"),
            rename(at(ROOT, "t"), at(ROOT, "b")),
        ],
    );
    assert!(contents("ext4", &fresh, "b").contains(&Some(Vec::new())));
    // Others do not when it replaces one.
    for model in ["xfs", "btrfs"] {
        let seen = contents(model, &replace(b"new", false), "a");
        assert!(seen.contains(&Some(Vec::new())), "{model}");
    }
}

#[test]
fn rename_after_sync_is_old_or_new() {
    for model in Model::NAMES {
        let seen = contents(model, &replace(&[b'n'; 1024], true), "a");
        assert_eq!(seen, some([b"old", &[b'n'; 1024]]), "{model}");
    }
}

#[test]
fn a_name_that_was_not_synced_is_lost_though_the_data_was() {
    let steps = |folder: bool| {
        let mut steps = vec![enter(ROOT, "b", NEW), write(NEW, 0, b"new"), sync(NEW)];
        steps.extend(folder.then(|| sync(ROOT)));
        steps.push(Step::Acknowledged);
        log(b"", steps)
    };
    let after = |model: &str, log: &Log| -> BTreeSet<Option<Vec<u8>>> {
        let states = states(&cut(model, log), &["b"]);
        let said = states
            .into_iter()
            .filter(|(state, _)| state.acknowledged == 1);
        said.flat_map(|(_, held)| held).collect()
    };
    let lost = [None, Some(b"new".to_vec())].into();
    assert_eq!(after("posix", &steps(false)), lost);
    assert_eq!(after("posix", &steps(true)), some([b"new"]));
    assert_eq!(after("ext4", &steps(false)), some([b"new"]));
}

#[test]
fn an_append_is_torn() {
    let content = [&[b'o'; 512][..], &[b'n'; 1024]].concat();
    let appended = log(&[b'o'; 512], vec![write(OLD, 512, &[b'n'; 1024])]);
    let zeros = |from: usize, to: usize| {
        let mut content = content.clone();
        content[from..to].fill(0);
        content
    };
    let seen = contents("posix", &appended, "a");
    let (none, first, second) = (zeros(512, 1536), zeros(1024, 1536), zeros(512, 1024));
    assert_eq!(seen, some([&[b'o'; 512], &content, &none, &first, &second]));
    // Two pages: the size grows at each, and a block of its own comes before the size.
    let long = log(b"", vec![write(OLD, 0, &[b'n'; 8192])]);
    assert_eq!(
        contents("strict", &long, "a"),
        some([b"", &[b'n'; 4096], &[b'n'; 8192]])
    );
}

#[test]
fn ext4_sets_the_size_in_a_block_that_the_file_has_before_the_data() {
    let seen = contents("ext4", &log(b"foo", vec![write(OLD, 3, b"bar")]), "a");
    assert_eq!(seen, some([b"foo", b"foobar", b"foo\0\0\0"]));
}

#[test]
fn the_header_of_a_wal_may_be_newer_than_the_frames() {
    let old = [[b'h'; 512], [b'1'; 512], [b'2'; 512]].concat();
    let steps = vec![write(OLD, 512, &[b'f'; 1024]), write(OLD, 0, &[b'H'; 512])];
    let header = |content: &Option<Vec<u8>>| content.as_ref().is_some_and(|all| all[0] == b'H');
    let stale = |content: &Option<Vec<u8>>| content.as_ref().is_some_and(|all| all[512] == b'1');
    let torn = log(&old, steps.clone());
    assert!(
        contents("posix", &torn, "a")
            .iter()
            .any(|all| header(all) && stale(all))
    );
    let synced = vec![
        steps[0].clone(),
        Step::Sync {
            node: OLD,
            only_data: true,
        },
        steps[1].clone(),
    ];
    assert!(
        !contents("posix", &log(&old, synced), "a")
            .iter()
            .any(|all| header(all) && stale(all))
    );
    assert!(
        !contents("ordered", &torn, "a")
            .iter()
            .any(|all| header(all) && stale(all))
    );
}

#[test]
fn writes_to_one_sector_show_in_their_order() {
    let steps = vec![
        write(OLD, 0, b"1"),
        write(OLD, 2, b"3"),
        write(OLD, 1, b"2"),
    ];
    let seen = contents("posix", &log(b"...", steps), "a");
    assert_eq!(seen, some([b"...", b"1..", b"1.3", b"123"]));
}

#[test]
fn rename_is_atomic() {
    let renamed = log(b"old", vec![rename(at(ROOT, "a"), at(ROOT, "b"))]);
    for model in Model::NAMES {
        let seen = states(&cut(model, &renamed), &["a", "b"]);
        let held = seen
            .into_iter()
            .map(|(_, held)| held.iter().map(Option::is_some).collect());
        let held: BTreeSet<Vec<bool>> = held.collect();
        assert_eq!(
            held,
            [vec![true, false], vec![false, true]].into(),
            "{model}"
        );
    }
}

#[test]
fn a_folder_has_one_name_and_is_never_inside_itself() {
    let steps = vec![
        enter(ROOT, "d", DIR),
        enter(DIR, "s", SUB),
        sync(ROOT),
        sync(DIR),
        Step::Acknowledged,
        rename(at(DIR, "s"), at(ROOT, "s")),
        rename(at(ROOT, "d"), at(SUB, "d")),
        rename(at(SUB, "d"), at(SUB, "e")),
    ];
    let moved = log(b"", steps);
    for model in Model::NAMES {
        let pieces = cut(model, &moved);
        for (state, _) in states(&pieces, &[])
            .iter()
            .filter(|(state, _)| state.acknowledged > 0)
        {
            let tree = pieces.tree(state);
            let names: Vec<NodeId> = tree
                .nodes
                .values()
                .filter_map(Node::entries)
                .flatten()
                .map(|(_, id)| *id)
                .collect();
            for folder in [DIR, SUB] {
                let count = names.iter().filter(|id| **id == folder).count();
                assert_eq!(count, 1, "{model}: {state:?} {tree:?}");
            }
        }
    }
}

#[test]
fn fdatasync_keeps_data_and_size_and_not_the_mode() {
    let set = Change::Set {
        node: OLD,
        attribute: Attribute::Mode(0o600),
    };
    let mode = |only_data: bool| {
        let sync = Step::Sync {
            node: OLD,
            only_data,
        };
        let steps = vec![
            Step::Change(set.clone()),
            write(OLD, 0, b"longer"),
            sync,
            Step::Acknowledged,
        ];
        let pieces = cut("posix", &log(b"old", steps));
        let all = pieces
            .explore(1000, 1)
            .filter(|state| state.acknowledged == 1);
        let seen: BTreeSet<_> = all
            .map(|state| {
                let tree = pieces.tree(&state);
                let node = tree.find(b"a").unwrap().clone();
                (node.attributes.mode, node.content().unwrap().to_vec())
            })
            .collect();
        seen
    };
    let longer = b"longer".to_vec();
    assert_eq!(
        mode(true),
        [(0o600, longer.clone()), (0o644, longer.clone())].into()
    );
    assert_eq!(mode(false), [(0o600, longer)].into());
}

#[test]
fn a_truncation_may_leave_zeros_before_the_old_end() {
    // The rest of the block is zeroed as data; the size follows.
    let seen = contents("strict", &log(b"abcdef", vec![truncate(OLD, 3)]), "a");
    assert_eq!(seen, some([b"abcdef", b"abc\0\0\0", b"abc"]));
    // Where they are apart, what was there shows again.
    let longer = log(b"abcdef", vec![truncate(OLD, 3), truncate(OLD, 5)]);
    assert!(contents("posix", &longer, "a").contains(&Some(b"abcde".to_vec())));
    assert!(!contents("strict", &longer, "a").contains(&Some(b"abcde".to_vec())));
}

#[test]
fn ext4_commits_no_more_than_the_last_change_of_what_is_synced() {
    let steps = vec![enter(ROOT, "b", NEW), sync(OLD), Step::Acknowledged];
    let seen = contents("ext4", &log(b"", steps), "b");
    assert!(
        seen.contains(&None),
        "a file that did not change commits nothing"
    );
    let steps = vec![
        enter(ROOT, "b", NEW),
        truncate(OLD, 9),
        sync(OLD),
        Step::Acknowledged,
    ];
    let pieces = cut("ext4", &log(b"", steps));
    let said = states(&pieces, &["b"])
        .into_iter()
        .filter(|(state, _)| state.acknowledged == 1);
    assert!(said.into_iter().all(|(_, held)| held[0].is_some()));
}

#[test]
fn states_are_counted_as_by_hand() {
    let count = |model: &str, log: &Log| {
        let pieces = cut(model, log);
        let explored = pieces.explore(1000, 1);
        let coverage = explored.coverage();
        let count = explored.count();
        assert_eq!(coverage, Coverage::All(count));
        count
    };
    // Nothing, the size alone, and with the size each subset of two sectors but the empty one.
    let append = log(b"", vec![write(OLD, 0, &[1; 1024])]);
    assert_eq!(count("posix", &append), 1 + 4);
    // Three sectors that are there already.
    let overwrite = log(&[0; 1536], vec![write(OLD, 0, &[1; 1536])]);
    assert_eq!(count("posix", &overwrite), 8);
    assert_eq!(count("ext4", &overwrite), 2);
    assert_eq!(count("ordered", &overwrite), 2);
    // No name, the first, both; after the acknowledgement the first is durable.
    let names = |said: bool| {
        let mut steps = vec![enter(ROOT, "d", DIR), sync(ROOT), enter(ROOT, "s", SUB)];
        steps.extend(said.then_some(Step::Acknowledged));
        log(b"", steps)
    };
    assert_eq!(count("posix", &names(false)), 3);
    assert_eq!(count("posix", &names(true)), 3 + 2);
    assert_eq!(count("ordered", &log(b"", vec![])), 1);
}

#[test]
fn pieces_that_nothing_shows_are_not_counted_apart() {
    // 64 sectors of a file without a name, and 64 of zeros on zeros.
    let hidden = log(b"", vec![write(NEW, 0, &[1; 32768])]);
    assert_eq!(
        cut("posix", &hidden).explore(10, 1).coverage(),
        Coverage::All(1)
    );
    let zeros = log(&[0; 32768], vec![write(OLD, 0, &[0; 32768])]);
    assert_eq!(
        cut("posix", &zeros).explore(10, 1).coverage(),
        Coverage::All(1)
    );
}

#[test]
fn a_bound_is_kept_and_said() {
    let big = log(&[0; 16384], vec![write(OLD, 0, &[1; 16384])]);
    let pieces = cut("posix", &big);
    let explored = pieces.explore(500, 7);
    assert_eq!(explored.coverage(), Coverage::Some { below_log2: 32 });
    let states: Vec<State> = explored.collect();
    assert_eq!(states.len(), 500);
    assert_eq!(states, pieces.explore(500, 7).collect::<Vec<_>>());
    assert!(
        states
            .iter()
            .zip(1..)
            .all(|(state, number)| state.number == number)
    );
    let trees: BTreeSet<_> = states
        .iter()
        .map(|state| {
            pieces
                .tree(state)
                .find(b"a")
                .unwrap()
                .content()
                .unwrap()
                .to_vec()
        })
        .collect();
    assert_eq!(trees.len(), 500);
    // The first is nothing lost; each sector alone is among the first.
    assert_eq!(states[0].lost, []);
    for sector in 0..32 {
        let part = Part::Bytes(sector * 512..sector * 512 + 512);
        assert!(states[..40].iter().any(|state| state.lost
            == [Lost {
                step: 0,
                part: part.clone()
            }]));
    }
}

#[test]
fn shrinking_finds_the_least_that_is_lost() {
    let steps = vec![
        enter(ROOT, "b", NEW),
        write(OLD, 0, &[1; 4096]),
        write(NEW, 0, &[2; 4096]),
        rename(at(ROOT, "b"), at(ROOT, "c")),
    ];
    let pieces = cut("posix", &log(&[0; 4096], steps));
    // Fails where the third sector is old.
    let mut asked = 0;
    let mut fails = |state: &State| {
        asked += 1;
        let tree = pieces.tree(state);
        tree.find(b"a").unwrap().content().unwrap().read(1024, 1) == [0]
    };
    let states: Vec<State> = pieces
        .explore(3000, 1)
        .filter(|state| fails(state))
        .collect();
    for state in states.iter().filter(|state| state.moment == 4) {
        let least = pieces.shrink(state, &mut fails);
        assert_eq!(
            least.lost,
            [Lost {
                step: 1,
                part: Part::Bytes(1024..1536)
            }]
        );
        assert_eq!(least.number, state.number);
    }
    assert!(
        states
            .iter()
            .any(|state| state.moment == 4 && state.lost.len() > 2)
    );
}

#[test]
fn what_is_durable_when_is_told() {
    let steps = vec![
        enter(ROOT, "b", NEW),
        write(NEW, 0, b"x"),
        sync(NEW),
        sync(ROOT),
    ];
    let pieces = cut("posix", &log(b"", steps.clone()));
    let told: Vec<_> = (0..5).map(|step| pieces.durable_by(step)).collect();
    assert_eq!(told, [Some(3), Some(2), None, None, None]);
    assert_eq!(cut("ext4", &log(b"", steps)).durable_by(0), Some(2));
}

#[test]
fn the_last_tree_is_what_the_program_saw() {
    let steps = vec![
        enter(ROOT, "b", NEW),
        write(NEW, 2, b"xy"),
        Step::Change(Change::Remove { at: at(ROOT, "a") }),
        truncate(NEW, 3),
    ];
    let log = log(b"old", steps);
    let file = Node::file(Content::new(b"\0\0x".to_vec()));
    let other = NodeId(77);
    let root = Node::folder([(b"b".to_vec(), other)]);
    assert_eq!(log.last(), Tree::new(ROOT, [(ROOT, root), (other, file)]));
    assert_eq!(log.after(0), *log.start());
    assert!(log.after(1).find(b"b").is_some() && log.after(1) != log.last());
    for model in Model::NAMES {
        let pieces = cut(model, &log);
        let first = pieces.explore(10, 1).next().unwrap();
        assert_eq!(
            (first.lost.len(), pieces.tree(&first)),
            (0, log.last()),
            "{model}"
        );
    }
}

#[test]
fn a_log_that_contradicts_itself_is_refused_with_the_step() {
    let check = |steps: Vec<Step>, fault: Fault| {
        let root = Node::folder([(b"a".to_vec(), OLD)]);
        let start = Tree::new(ROOT, [(ROOT, root), (OLD, Node::file(Content::default()))]);
        let new = [(DIR, Node::folder([])), (SUB, Node::folder([]))];
        let step = Some(steps.len() - 1);
        assert_eq!(
            Log::new(start, new, steps).unwrap_err(),
            LogError { step, fault }
        );
    };
    let remove = |place: Place| Step::Change(Change::Remove { at: place });
    check(vec![write(NEW, 0, b"x")], Fault::NoNode(NEW));
    check(vec![write(DIR, 0, b"x")], Fault::NoFile(DIR));
    check(vec![write(OLD, u64::MAX, b"x")], Fault::TooLarge(u64::MAX));
    check(vec![truncate(OLD, 1 << 63)], Fault::TooLarge(1 << 63));
    check(vec![enter(ROOT, "a", DIR)], Fault::Taken(at(ROOT, "a")));
    check(vec![enter(ROOT, "..", DIR)], Fault::BadName(at(ROOT, "..")));
    check(vec![enter(DIR, "s", SUB)], Fault::NoFolder(DIR));
    check(
        vec![enter(ROOT, "d", DIR), enter(ROOT, "e", DIR)],
        Fault::TwoNames(DIR),
    );
    check(vec![remove(at(ROOT, "b"))], Fault::NoName(at(ROOT, "b")));
    let full = [enter(ROOT, "d", DIR), enter(DIR, "s", SUB)];
    check(
        [&full[..], &[remove(at(ROOT, "d"))]].concat(),
        Fault::NotEmpty(DIR),
    );
    let inside = rename(at(ROOT, "d"), at(SUB, "d"));
    check([&full[..], &[inside]].concat(), Fault::Inside(DIR));
    let gone = [
        enter(ROOT, "d", DIR),
        remove(at(ROOT, "d")),
        enter(ROOT, "d", DIR),
    ];
    check(gone.to_vec(), Fault::TwoNames(DIR));
    check(vec![sync(NEW)], Fault::NoNode(NEW));
}
