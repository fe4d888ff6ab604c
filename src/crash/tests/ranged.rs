//! Syncs of a part of a file.

use std::collections::BTreeSet;

use crate::crash::ranges::PAGE;
use crate::crash::{
    Change, Content, Coverage, Log, Model, Node, NodeId, Pieces, Place, Step, Tree,
};

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

/// All that `old` may hold, in pages, at each number of promises.
fn held(model: &Model, steps: &[Step]) -> BTreeSet<(usize, Vec<u8>)> {
    let root = Node::folder([(b"old".to_vec(), OLD)]);
    let old = Node::file(Content::new(vec![b'o'; 3 * PAGE]));
    let start = Tree::new(ROOT, [(ROOT, root), (OLD, old)]);
    let new = [(NEW, Node::file(Content::default()))];
    let steps = steps.iter().cloned().chain([Step::Acknowledged]).collect();
    let log = Log::new(start, new, steps).expect("a log");
    let pieces = Pieces::new(&log, model);
    let states = pieces.explore(100_000, 0);
    assert!(matches!(states.coverage(), Coverage::All(_)));
    states
        .map(|state| {
            let tree = pieces.tree(&state);
            let bytes = tree.find(b"old").and_then(Node::content);
            (state.acknowledged, bytes.expect("a file").to_vec())
        })
        .collect()
}

#[test]
fn which_of_two_pages_was_changed_first_matters_to_the_models_alone_that_say_so() {
    let page = PAGE as u64;
    let bytes = |at, byte, length| {
        let bytes = vec![byte; length].into();
        let node = OLD;
        Step::Change(Change::Write { node, at, bytes })
    };
    // At the end of a page, where a larger sector reaches into the next one.
    let store = |at| bytes(at + page - 1024, b's', 1024);
    let truncate = |size| Step::Change(Change::Truncate { node: OLD, size });
    let mut models: Vec<_> = Model::NAMES
        .iter()
        .filter_map(|it| Model::named(it))
        .collect();
    let differs = |torn, page| Model {
        torn,
        page,
        size_after_data: true,
        ..Model::default()
    };
    models.extend(
        [(0, 0), (0, 4096), (4096, 512), (8192, 4096), (3000, 0)].map(|it| differs(it.0, it.1)),
    );
    let mut differing = BTreeSet::new();
    for model in &models {
        // Written into a page, across two, behind the end, and in a page that is durable.
        for (write, other) in [
            (bytes(page + 9, b'w', 7), 0),
            (bytes(2 * page - 3, b'w', 6), 0),
            (bytes(3 * page, b'w', 9), 2 * page),
            (bytes(4 * page, b'w', 9), page),
        ] {
            for before in [
                vec![],
                vec![store(page), sync(OLD, 0..3 * page)],
                vec![truncate(6 * page)],
            ] {
                for behind in [
                    vec![sync(OLD, page..2 * page)],
                    vec![truncate(page)],
                    vec![Step::SyncAll],
                ] {
                    let all = |two: [Step; 2]| {
                        let steps = before.iter().cloned().chain(two).chain(behind.clone());
                        held(model, &steps.collect::<Vec<_>>())
                    };
                    let one = all([store(other), write.clone()]);
                    if one != all([write.clone(), store(other)]) {
                        differing.insert((model.name.clone(), model.torn));
                    }
                }
            }
        }
    }
    let said = models.iter().filter(|model| model.orders_pages());
    let said: BTreeSet<_> = said.map(|it| (it.name.clone(), it.torn)).collect();
    assert_eq!(differing, said);
    assert_eq!(said.len(), 3);
}
