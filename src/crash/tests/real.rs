//! What power cuts left on real file systems (`ci/power-cuts`) and the first models did not allow,
//! each on the smallest log.

use std::collections::BTreeSet;

use crate::crash::{
    Change, Content, Coverage, Log, Model, Node, NodeId, Pieces, Place, Step, Tree,
};

const ROOT: NodeId = NodeId(0);
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
const FOLDER: NodeId = NodeId(3);
const NEW: NodeId = NodeId(4);
const NEW_FOLDER: NodeId = NodeId(5);

fn at(folder: NodeId, name: &str) -> Place {
    let name = name.as_bytes().to_vec();
    Place { folder, name }
}

fn rename(from: Place, to: Place, leaves: Option<NodeId>) -> Step {
    Step::Change(Change::Rename { from, to, leaves })
}

fn write(node: NodeId, bytes: &[u8]) -> Step {
    let bytes = bytes.into();
    Step::Change(Change::Write { node, at: 0, bytes })
}

fn sync(node: NodeId) -> Step {
    let only_data = false;
    Step::Sync { node, only_data }
}

/// What the files at paths hold in each folder that a power cut may leave after these steps, on a
/// folder with the files `a` and `b`, which hold their names, and the folder `d`.
fn left(model: &str, mut steps: Vec<Step>, paths: &[&str]) -> BTreeSet<Vec<Option<String>>> {
    steps.push(Step::Acknowledged);
    let entry = |name: &str, id| (name.as_bytes().to_vec(), id);
    let file = |bytes: &[u8]| Node::file(Content::new(bytes.to_vec()));
    let start = Tree::new(
        ROOT,
        [
            (
                ROOT,
                Node::folder([entry("a", A), entry("b", B), entry("d", FOLDER)]),
            ),
            (A, file(b"a")),
            (B, file(b"b")),
            (FOLDER, Node::folder([])),
        ],
    );
    let new = [(NEW, file(b"")), (NEW_FOLDER, Node::folder([]))];
    let log = Log::new(start, new, steps).unwrap();
    let pieces = Pieces::new(&log, &Model::named(model).unwrap());
    let explored = pieces.explore(100_000, 1);
    assert!(matches!(explored.coverage(), Coverage::All(_)));
    let last = explored.filter(|state| state.acknowledged == 1);
    let held = |tree: &Tree| {
        let content = |path: &&str| {
            let node = tree.find(path.as_bytes())?;
            let bytes = node.content().map(Content::to_vec).unwrap_or_default();
            Some(String::from_utf8(bytes).unwrap())
        };
        paths.iter().map(content).collect()
    };
    last.map(|state| held(&pieces.tree(&state))).collect()
}

fn some(content: &str) -> Option<String> {
    Some(content.to_owned())
}

fn enter(name: &str, node: NodeId) -> Step {
    let at = at(ROOT, name);
    Step::Change(Change::Enter { at, node })
}

#[test]
fn a_size_comes_before_the_data() {
    for model in ["ext4", "xfs", "btrfs"] {
        let steps = vec![enter("n", NEW), write(NEW, b"new"), sync(ROOT)];
        let held = left(model, steps, &["n"]);
        assert!(held.contains(&vec![some("\0\0\0")]), "{model}: {held:?}");
    }
}

#[test]
fn a_truncation_comes_before_the_data_that_it_leaves() {
    let truncate = Step::Change(Change::Truncate { node: A, size: 3 });
    for model in ["ext4", "xfs", "btrfs"] {
        let steps = vec![write(A, b"nnnnnn"), truncate.clone()];
        let held = left(model, steps, &["a"]);
        assert!(held.contains(&vec![some("a\0\0")]), "{model}: {held:?}");
    }
}

#[test]
fn a_write_behind_the_end_may_leave_a_file_that_ends_with_its_page() {
    let far = Step::Change(Change::Write {
        node: A,
        at: 9000,
        bytes: b"n"[..].into(),
    });
    for model in ["posix", "ext4", "xfs", "btrfs"] {
        let held = left(model, vec![far.clone()], &["a"]);
        let ends = |size| {
            held.iter()
                .any(|held| held[0].as_ref().unwrap().len() == size)
        };
        assert!(ends(1) && ends(4096) && ends(9001), "{model}");
        assert!(!ends(8192) && !ends(9000), "{model}");
    }
}

#[test]
fn an_exchange_of_files_is_committed_by_a_sync_of_one_of_them_but_on_xfs() {
    let steps = || {
        let exchange = rename(at(ROOT, "a"), at(ROOT, "b"), Some(B));
        vec![exchange, sync(A)]
    };
    let (before, after) = ([some("a"), some("b")], [some("b"), some("a")]);
    let of = |model| left(model, steps(), &["a", "b"]);
    assert_eq!(of("ext4"), [after.to_vec()].into());
    assert_eq!(of("xfs"), [before.to_vec(), after.to_vec()].into());
    // A sync of the folder commits it.
    let exchange = rename(at(ROOT, "a"), at(ROOT, "b"), Some(B));
    let synced = left("xfs", vec![exchange, sync(ROOT)], &["a", "b"]);
    assert_eq!(synced, [after.to_vec()].into());
}

#[test]
fn a_sync_of_all_does_not_flush_what_was_written_over_on_xfs() {
    let steps = || vec![write(A, b"n"), Step::SyncAll];
    for (model, flushes) in [("ext4", true), ("btrfs", true), ("xfs", false)] {
        let held = left(model, steps(), &["a"]);
        assert_eq!(!held.contains(&vec![some("a")]), flushes, "{model}");
    }
    // A sync of the file behind it does.
    let synced = left("xfs", [steps(), vec![sync(A)]].concat(), &["a"]);
    assert_eq!(synced, [vec![some("n")]].into());
}

#[test]
fn a_file_that_moves_to_another_folder_has_both_names_on_btrfs_for_a_moment() {
    let move_it = || vec![rename(at(ROOT, "a"), at(FOLDER, "c"), None)];
    let (a, c) = ("a", "d/c");
    let both = vec![some("a"), some("a")];
    for (model, whole) in [
        ("ext4", true),
        ("xfs", true),
        ("btrfs", false),
        ("posix", false),
    ] {
        let held = left(model, move_it(), &[a, c]);
        assert_eq!(!held.contains(&both), whole, "{model}");
        assert!(!held.contains(&vec![None, None]), "{model}");
        // Within its folder it has one.
        let within = left(
            model,
            vec![rename(at(ROOT, "a"), at(ROOT, "c"), None)],
            &[a, "c"],
        );
        assert_eq!(within.len(), 2, "{model}: {within:?}");
    }
    // The sync of the new folder brings the new name, that of the old one takes the old one.
    let synced = left("btrfs", [move_it(), vec![sync(FOLDER)]].concat(), &[a, c]);
    assert_eq!(synced, [both, vec![None, some("a")]].into());
    let synced = left("btrfs", [move_it(), vec![sync(ROOT)]].concat(), &[a, c]);
    assert_eq!(synced, [vec![None, some("a")]].into());
}

#[test]
fn a_file_that_moves_into_a_new_folder_is_lost_with_it_where_names_have_no_order() {
    let make = || enter("m", NEW_FOLDER);
    let move_it = || rename(at(ROOT, "a"), at(NEW_FOLDER, "c"), None);
    for (model, in_order) in [
        ("ext4", true),
        ("xfs", true),
        ("btrfs", false),
        ("posix", false),
    ] {
        let held = |steps| left(model, steps, &["a", "m/c"]);
        let none = vec![None, None];
        // The sync is of what is in the folder, and not of its name.
        let synced = held(vec![make(), move_it(), sync(NEW_FOLDER)]);
        assert_eq!(!synced.contains(&none), in_order, "{model}: {synced:?}");
        for steps in [
            vec![make(), sync(ROOT), move_it()],
            vec![make(), sync(ROOT), move_it(), sync(NEW_FOLDER)],
            vec![make(), move_it(), sync(ROOT)],
        ] {
            let held = held(steps);
            assert!(!held.contains(&none), "{model}: {held:?}");
        }
    }
}

#[test]
fn a_sync_of_btrfs_does_not_bring_the_changes_before_it() {
    let steps = || vec![enter("m", NEW_FOLDER), enter("n", NEW), sync(NEW)];
    let of = |model| left(model, steps(), &["m", "n"]);
    let (both, alone) = (vec![some(""), some("")], vec![None, some("")]);
    assert_eq!(of("ext4"), [both.clone()].into());
    assert_eq!(of("xfs"), [both].into());
    assert!(of("btrfs").contains(&alone));
}

#[test]
fn a_name_that_btrfs_has_synced_is_gone_with_the_last_of_two_renames_alone() {
    let to_other = rename(at(ROOT, "n"), at(ROOT, "a"), None);
    let to_folder = rename(at(ROOT, "a"), at(FOLDER, "n"), None);
    let steps = || {
        let first = vec![enter("n", NEW), sync(NEW)];
        [first, vec![to_other.clone(), to_folder.clone()]].concat()
    };
    let net = vec![None, some("a"), some("")];
    for (model, allows) in [("btrfs", true), ("posix", true), ("ext4", false)] {
        let held = left(model, steps(), &["n", "a", "d/n"]);
        assert_eq!(held.contains(&net), allows, "{model}");
    }
}

/// What `a` holds once all of that was promised, where it is synced, emptied and linked.
fn emptied(model: &str, between: &[Step], last: Step) -> BTreeSet<Vec<Option<String>>> {
    let size = |size| Step::Change(Change::Truncate { node: A, size });
    let mut steps = vec![write(A, b"aaaa"), sync(A), size(0)];
    steps.extend_from_slice(between);
    steps.push(last);
    left(model, steps, &["a"])
}

#[test]
fn a_synced_file_that_is_emptied_and_linked_may_be_as_long_as_before_the_sync_on_btrfs() {
    let link = || {
        let (at, node) = (at(ROOT, "e"), A);
        Step::Change(Change::Enter { at, node })
    };
    let shown = |text: &str| BTreeSet::from([vec![Some(text.to_owned())]]);
    let (empty, old) = (shown(""), shown("aaaa"));
    let none = BTreeSet::new();
    let synced: BTreeSet<_> = empty.union(&old).cloned().collect();
    for (model, more) in [
        ("btrfs", shown("a")),
        ("posix", shown("a")),
        ("xfs", none.clone()),
    ] {
        let all: BTreeSet<_> = synced.union(&more).cloned().collect();
        assert_eq!(emptied(model, &[], link()), all, "{model}");
        let renamed = rename(at(ROOT, "a"), at(ROOT, "a2"), None);
        let found = emptied(
            model,
            &[renamed],
            rename(at(ROOT, "a2"), at(ROOT, "a"), None),
        );
        assert!(more.is_subset(&found), "{model}: {found:?}");
        // Without a new name, or behind a commit, it is not so.
        assert_eq!(emptied(model, &[], sync(FOLDER)), synced, "{model}");
        let found = emptied(model, &[Step::SyncAll], link());
        assert!(more.is_disjoint(&found), "{model}: {found:?}");
    }
}
