//! Syncs of a part of a file.

use std::collections::BTreeSet;

use crate::crash::{Change, Content, Log, Model, Node, NodeId, Pieces, Place, Step, Tree};

const ROOT: NodeId = NodeId(0);
const OLD: NodeId = NodeId(1);
const NEW: NodeId = NodeId(2);

fn write(node: NodeId, at: u64, byte: u8) -> Step {
    Step::Change(Change::Write {
        node,
        at,
        bytes: vec![byte; 512].into(),
    })
}

fn sync(node: NodeId, range: std::ops::Range<u64>) -> Step {
    Step::SyncRange {
        node,
        range,
        only_data: true,
    }
}

fn entered() -> Step {
    Step::Change(Change::Enter {
        at: Place {
            folder: ROOT,
            name: b"new".to_vec(),
        },
        node: NEW,
    })
}

/// What a file may hold behind the steps, once they were promised: the first byte of each 512.
fn promised(model: &str, name: &str, steps: Vec<Step>) -> BTreeSet<String> {
    let root = Node::folder([(b"old".to_vec(), OLD)]);
    let old = Node::file(Content::new(vec![b'o'; 1024]));
    let start = Tree::new(ROOT, [(ROOT, root), (OLD, old)]);
    let new = [(NEW, Node::file(Content::default()))];
    let steps = steps.into_iter().chain([Step::Acknowledged]).collect();
    let log = Log::new(start, new, steps).expect("a log");
    let pieces = Pieces::new(&log, &Model::named(model).expect("a model"));
    let states = pieces.explore(10_000, 0);
    let states = states.filter(|state| state.acknowledged == 1);
    let trees = states.map(|state| pieces.tree(&state));
    trees
        .filter_map(|tree| Some(tree.find(name.as_bytes())?.content()?.to_vec()))
        .map(|bytes| {
            let firsts = bytes.chunks(512).filter_map(|part| part.first());
            firsts.map(|byte| char::from(*byte)).collect()
        })
        .collect()
}

fn all<const N: usize>(contents: [&str; N]) -> BTreeSet<String> {
    contents.map(str::to_owned).into()
}

#[test]
fn a_sync_of_a_part_keeps_nothing_that_was_written_elsewhere_before() {
    let steps = || vec![write(OLD, 0, b'x'), write(OLD, 512, b'y')];
    let part = |range| steps().into_iter().chain([sync(OLD, range)]).collect();
    assert_eq!(promised("posix", "old", part(512..1024)), all(["oy", "xy"]));
    assert_eq!(promised("posix", "old", part(0..1024)), all(["xy"]));
    // A part of a sector is written with what came to it before.
    let again = vec![write(OLD, 0, b'x'), write(OLD, 0, b'z'), sync(OLD, 0..512)];
    assert_eq!(promised("posix", "old", again), all(["zo"]));
}

#[test]
fn a_sync_of_a_part_keeps_the_size_by_which_it_is_found_and_no_larger_one() {
    let steps = |range| {
        let writes = [entered(), write(NEW, 0, b'x'), write(NEW, 512, b'y')];
        writes.into_iter().chain([sync(NEW, range)]).collect()
    };
    let behind = promised("posix", "new", steps(512..1024));
    assert_eq!(behind, all(["\0y", "xy"]));
    let before = promised("posix", "new", steps(0..512));
    assert_eq!(before, all(["x", "x\0", "xy"]));
    // The size was long enough: an append is not kept.
    let longer = vec![
        write(OLD, 1024, b'l'),
        write(OLD, 0, b'x'),
        sync(OLD, 0..512),
    ];
    let longer = promised("posix", "old", longer);
    assert_eq!(longer, all(["xo", "xo\0", "xol"]));
}

#[test]
fn a_sync_of_a_part_of_a_file_commits_the_journal_of_ext4() {
    let steps = vec![entered(), write(OLD, 0, b'x'), sync(OLD, 0..512)];
    assert_eq!(promised("ext4", "old", steps.clone()), all(["xo"]));
    assert_eq!(promised("ordered", "new", steps), all([""]));
}
