use super::*;
use crate::crash::{
    Attribute, Begin, Change, Content, Maker, Node, Opened, Replacing, Spot, Synced, Target,
};

fn spot(name: &str) -> Spot {
    Spot {
        folder: Vec::new(),
        name: name.as_bytes().to_vec(),
    }
}

fn opened(path: Option<&str>, inode: u64) -> Opened {
    Opened {
        path: path.map(|path| path.as_bytes().to_vec()),
        inode,
        ..Opened::default()
    }
}

/// A folder with a file `old` of three bytes, whose inode is 1.
fn start() -> (Tree, HashMap<FileId, NodeId>) {
    let (root, old) = (NodeId(0), NodeId(1));
    let tree = Tree::new(
        root,
        [
            (root, Node::folder([(b"old".to_vec(), old)])),
            (old, Node::file(Content::new(b"old".to_vec()))),
        ],
    );
    (tree, HashMap::from([(opened(None, 1).id(), old)]))
}

fn open(name: &str) -> (&'static str, Act, i64) {
    let act = Act::Open {
        at: spot(name),
        creates: true,
        empties: true,
        mode: 0o666,
        by: Maker {
            umask: 0o022,
            ..Maker::default()
        },
    };
    ("openat", act, 3)
}

fn write(file: Opened, begin: Begin, bytes: &str) -> (&'static str, Act, i64) {
    let returned = bytes.len() as i64;
    let act = Act::Write {
        file,
        begin,
        bytes: bytes.as_bytes().to_vec(),
        synced: Synced::No,
    };
    ("write", act, returned)
}

fn rename(from: &str, to: &str) -> (&'static str, Act, i64) {
    let act = Act::Rename {
        from: spot(from),
        to: spot(to),
        replacing: Replacing::Replaces,
    };
    ("rename", act, 0)
}

/// Builds the log of calls that one thread makes one after the other.
fn built(calls: Vec<(&'static str, Act, i64)>) -> Built {
    let (mut seen, mut ended) = (Vec::new(), Vec::new());
    for (number, (call, act, value)) in calls.into_iter().enumerate() {
        let time = 10 * number as u64;
        let is_look = matches!(act, Act::Mapped { .. } | Act::StoredIn { .. });
        seen.push(Seen {
            thread: 1,
            call,
            time: Nanos(time),
            act,
            left: None,
        });
        ended.extend((!is_look).then_some(Ended {
            thread: 1,
            call,
            returned: Some((Nanos(time + 5), value)),
            unentered: false,
            stack: None,
        }));
    }
    build_of(seen, ended)
}

fn build_of(seen: Vec<Seen>, ended: Vec<Ended>) -> Built {
    let (tree, inodes) = start();
    build(tree, inodes, seen, ended).expect("a log")
}

fn content(built: &Built, path: &str) -> Option<Vec<u8>> {
    assert_eq!(built.last, built.log.last());
    let node = built.last.find(path.as_bytes())?;
    node.content().map(Content::to_vec)
}

#[test]
fn a_file_is_known_by_its_present_path_and_without_one_by_its_inode() {
    let built = built(vec![
        open("new"),
        write(opened(Some("new"), 7), Begin::At(0), "one"),
        rename("new", "old"),
        write(opened(Some("old"), 7), Begin::End, "two"),
        // The file that was replaced is still open.
        write(opened(None, 1), Begin::At(0), "gone"),
    ]);
    assert_eq!(built.unknown, Vec::<String>::new());
    assert_eq!(content(&built, "old"), Some(b"onetwo".to_vec()));
    assert_eq!(content(&built, "new"), None);
    let mode = built.last.find(b"old").map(|node| node.attributes.mode);
    assert_eq!(mode, Some(0o644));
    assert_eq!(built.calls.last().map(String::as_str), Some("exit"));
}

#[test]
fn an_inode_that_comes_again_is_the_file_of_its_path() {
    let built = built(vec![
        ("unlink", Act::Remove(spot("old")), 0),
        open("new"),
        write(opened(Some("new"), 1), Begin::At(0), "new"),
        write(opened(None, 1), Begin::At(0), "NEW"),
    ]);
    assert_eq!(content(&built, "new"), Some(b"NEW".to_vec()));
}

#[test]
fn an_inode_that_comes_again_without_a_name_is_a_file_of_its_own() {
    let of = |path, handle: Option<&str>| Opened {
        handle: handle.map(|handle| handle.as_bytes().to_vec()),
        ..opened(path, 7)
    };
    let sync = |file| {
        (
            "fsync",
            Act::Sync {
                file,
                only_data: false,
            },
            0,
        )
    };
    let nameless = Act::Nameless {
        folder: None,
        mode: 0o644,
        by: Maker::default(),
    };
    let link = |file| Act::Link {
        of: Target::Opened(file),
        to: spot("again"),
    };
    let of_handles = |handles: [Option<&str>; 2]| {
        let [first, second] = handles;
        built(vec![
            open("new"),
            write(of(Some("new"), first), Begin::At(0), "one"),
            ("unlink", Act::Remove(spot("new")), 0),
            sync(of(None, first)),
            ("openat", nameless.clone(), 3),
            write(of(None, second), Begin::At(0), "two"),
            ("linkat", link(of(None, second)), 0),
        ])
    };
    let known = of_handles([Some("a"), Some("b")]);
    assert_eq!(known.unknown, Vec::<String>::new());
    assert_eq!(content(&known, "again"), Some(b"two".to_vec()));
    let nodes = |built: &Built| built.last.nodes.len();
    assert_eq!(
        nodes(&known),
        nodes(&of_handles([Some("a"), Some("a")])) + 1
    );
    // Nothing tells them apart.
    assert!(!of_handles([None, None]).unknown.is_empty());
}

#[test]
fn a_path_that_reads_like_that_of_a_removed_file_is_looked_at_as_it_stands() {
    let shown = |path: &str, inode| Opened {
        shown: Some(path.as_bytes().to_vec()),
        ..opened(None, inode)
    };
    let write = |file| write(file, Begin::At(0), "two");
    let built = |calls| built(calls);
    let known = built(vec![open("x (deleted)"), write(shown("x (deleted)", 7))]);
    assert_eq!(known.unknown, Vec::<String>::new());
    assert_eq!(content(&known, "x (deleted)"), Some(b"two".to_vec()));
    // It has another name, by which it was never seen.
    let unknown = built(vec![open("x"), write(shown("x (deleted)", 7))]);
    assert_eq!(unknown.unknown.len(), 1);
}

#[test]
fn a_folder_with_the_set_group_id_bit_gives_its_group_to_what_is_made_there() {
    let file = || Target::Watched(Vec::new());
    let by = Maker {
        owner: (1, 2),
        umask: 0o022,
    };
    let (owner, bit) = (
        Act::Owner {
            file: file(),
            user: u32::MAX,
            group: 7,
        },
        Act::Mode {
            file: file(),
            mode: 0o2755,
        },
    );
    let folder = Act::MakeFolder {
        at: spot("folder"),
        mode: 0o777,
        by,
    };
    let nameless = Act::Nameless {
        folder: Some(b"folder".to_vec()),
        mode: 0o600,
        by,
    };
    let link = Act::Link {
        of: Target::Opened(opened(None, 9)),
        to: spot("named"),
    };
    let built = built(vec![
        open("before"),
        ("chown", owner, 0),
        ("chmod", bit, 0),
        open("file"),
        ("mkdir", folder, 0),
        ("openat", nameless, 3),
        ("linkat", link, 0),
    ]);
    assert_eq!(built.unknown, Vec::<String>::new());
    let of = |path: &str| {
        let attributes = &built.last.find(path.as_bytes()).expect(path).attributes;
        (attributes.mode, attributes.owner, attributes.group)
    };
    assert_eq!(of("before"), (0o644, 0, 0));
    assert_eq!(of("file"), (0o644, 0, 7));
    assert_eq!(of("folder"), (0o2755, 1, 7));
    assert_eq!(of("named"), (0o600, 1, 7));
}

#[test]
fn what_a_call_says_it_did_is_done_and_no_more() {
    let (call, act, _) = write(opened(Some("old"), 1), Begin::At(0), "longer");
    let link = Act::Link {
        of: Target::Named(spot("failed")),
        to: spot("twice"),
    };
    let built = built(vec![
        (call, act, 4),
        rename("old", "failed"),
        ("unlink", Act::Remove(spot("old")), -2),
        ("link", link, 0),
        rename("failed", "twice"),
    ]);
    assert_eq!(content(&built, "twice"), Some(b"long".to_vec()));
    // Two names of one file: rename(2) does nothing.
    assert_eq!(content(&built, "failed"), Some(b"long".to_vec()));
}

#[test]
fn what_does_not_fit_together_is_not_known() {
    let (call, act, _) = write(opened(Some("nobody"), 9), Begin::At(0), "x");
    assert_eq!(built(vec![(call, act, 1)]).unknown.len(), 1);
    let one = |thread, call, time, act| Seen {
        thread,
        call,
        time: Nanos(time),
        act,
        left: None,
    };
    let end = |thread, call, returned| Ended {
        thread,
        call,
        returned,
        unentered: false,
        stack: None,
    };
    let removal = || Act::Remove(spot("old"));
    let alone = build_of(vec![one(1, "unlink", 1, removal())], Vec::new());
    assert_eq!(alone.unknown.len(), 1, "its end is missing");
    let unseen = build_of(Vec::new(), vec![end(1, "unlink", Some((Nanos(2), 0)))]);
    assert_eq!(unseen.unknown.len(), 1, "it was not seen");
    let never = vec![end(1, "unlink", None)];
    let never = build_of(vec![one(1, "unlink", 1, removal())], never);
    assert_eq!(never.unknown.len(), 1, "it did not return");
    let none = vec![end(1, "openat", None)];
    let none = build_of(vec![one(1, "openat", 1, Act::Nothing)], none);
    assert!(none.unknown.is_empty(), "it was about nothing");
    let of = |late| {
        let seen = vec![
            one(1, "unlink", 1, removal()),
            one(2, "fsync", 4, Act::SyncAll),
        ];
        let ended = vec![
            end(1, "unlink", Some((Nanos(late), 0))),
            end(2, "fsync", Some((Nanos(9), 0))),
        ];
        build_of(seen, ended).unknown.len()
    };
    assert_eq!((of(3), of(5)), (0, 1), "two threads at the same time");
}

#[test]
fn a_call_that_a_filter_answered_is_named_in_place_of_the_one_that_was_seen_next() {
    let answered = |call| Ended {
        thread: 1,
        call,
        returned: Some((Nanos(2), 0)),
        unentered: true,
        stack: None,
    };
    let removed = Seen {
        thread: 1,
        call: "unlink",
        time: Nanos(3),
        act: Act::Remove(spot("old")),
        left: None,
    };
    let end = Ended {
        unentered: false,
        stack: None,
        ..answered("unlink")
    };
    for (seen, ended) in [
        (vec![removed], vec![answered("fsync"), end]),
        (Vec::new(), vec![answered("fsync")]),
    ] {
        assert_eq!(
            build_of(seen, ended).unknown[0],
            "a seccomp filter, of the workload's own or of a policy, answered or refused a \
             `fsync`: the kernel did not make it, and nothing could hold it"
        );
    }
}

#[test]
fn a_write_that_is_a_sync_makes_durable_what_it_writes_and_nothing_else() {
    let (call, act, returned) = write(opened(Some("old"), 1), Begin::At(1), "xy");
    let Act::Write {
        file, begin, bytes, ..
    } = act
    else {
        panic!("a write")
    };
    let act = Act::Write {
        file,
        begin,
        bytes,
        synced: Synced::Data,
    };
    let built = built(vec![(call, act, returned)]);
    let expected = Step::SyncRange {
        node: NodeId(1),
        range: 1..3,
        only_data: true,
    };
    assert_eq!(built.log.steps().get(1), Some(&expected));
}

#[test]
fn a_way_to_make_room_that_is_not_known_is_not_known() {
    let of = |mode| {
        let act = Act::Allocate {
            file: opened(Some("old"), 1),
            mode,
            at: 0,
            length: 2,
        };
        built(vec![("fallocate", act, 0)])
    };
    assert!(of(0x10).unknown.is_empty());
    assert_eq!(content(&of(0x10), "old"), Some(b"\0\0d".to_vec()));
    assert_eq!(of(0x80).unknown.len(), 1);
}

#[test]
fn a_file_that_shares_blocks_of_another_has_its_bytes_like_written_ones() {
    let of = |at| {
        let (file, bytes) = (opened(Some("old"), 1), b"NEW".to_vec());
        built(vec![("ioctl", Act::Cloned { file, at, bytes }, 0)])
    };
    assert_eq!(content(&of(1), "old"), Some(b"oNEW".to_vec()));
    let write = Change::Write {
        node: NodeId(1),
        at: 1,
        bytes: b"NEW".to_vec().into(),
    };
    assert_eq!(of(1).log.steps().first(), Some(&Step::Change(write)));
    // Far behind its end, after a hole.
    let far = of(1 << 40);
    assert!(far.unknown.is_empty(), "{:?}", far.unknown);
    let size = |node: &Node| node.content().map(Content::size);
    assert_eq!(far.last.find(b"old").and_then(size), Some((1 << 40) + 3));
}

#[test]
fn room_is_made_as_a_size_and_what_is_cleared_as_zeros_alone() {
    let of = |mode, at, length| {
        let act = Act::Allocate {
            file: opened(Some("old"), 1),
            mode,
            at,
            length,
        };
        let log = built(vec![("fallocate", act, 0)]).log;
        log.steps()[..log.steps().len() - 1].to_vec()
    };
    let node = NodeId(1);
    let size = |size| Step::Change(Change::Truncate { node, size });
    let zeros = |at, length| {
        let bytes = vec![0; length].into();
        Step::Change(Change::Write { node, at, bytes })
    };
    let moved = |at, bytes: &[u8], size| {
        let bytes = bytes.into();
        Step::Change(Change::Range {
            node,
            at,
            bytes,
            size,
        })
    };
    // It holds "old". None of the flags, FALLOC_FL_KEEP_SIZE, and with PUNCH_HOLE.
    assert_eq!(of(0, 0, 2), []);
    assert_eq!(of(0, 1, 9), [size(10)]);
    assert_eq!(of(1, 0, 9), []);
    assert_eq!(of(3, 1, 9), [zeros(1, 2)]);
    assert_eq!(of(3, 5, 9), []);
    // FALLOC_FL_ZERO_RANGE, COLLAPSE_RANGE and INSERT_RANGE.
    assert_eq!(of(0x10, 2, 9), [zeros(2, 1), size(11)]);
    assert_eq!(of(0x8, 0, 1), [moved(0, b"ld", 2)]);
    assert_eq!(of(0x20, 1, 2), [moved(1, b"\0\0ld", 5)]);
}

#[test]
fn an_inode_that_comes_again_is_the_file_that_was_mapped_last() {
    let stored = Act::Mapped {
        file: opened(None, 1),
        content: Content::new(*b"NEW"),
    };
    let built = built(vec![
        ("unlink", Act::Remove(spot("old")), 0),
        open("new"),
        (
            "ftruncate",
            Act::Truncate {
                file: Target::Named(spot("new")),
                size: 3,
            },
            0,
        ),
        ("mmap", Act::Maps(opened(Some("new"), 1)), 4096),
        ("exit", stored, 0),
    ]);
    assert_eq!(content(&built, "new"), Some(b"NEW".to_vec()));
}

#[test]
fn permissions_that_a_call_took_are_in_its_change_of_the_owner_and_before_its_bytes() {
    let file = || Target::Named(spot("old"));
    let mode = |mode| Act::Mode { file: file(), mode };
    let owner = |user| Act::Owner {
        file: file(),
        user,
        group: u32::MAX,
    };
    let bytes = write(opened(Some("old"), 1), Begin::End, "x").1;
    let (mut seen, mut ended) = (Vec::new(), Vec::new());
    for (number, (call, act, left, value)) in [
        ("chmod", mode(0o6755), Some(0o4755), 0),
        ("chown", owner(3), Some(0o755), 0),
        ("chown", owner(4), Some(0o755), 0),
        ("chmod", mode(0o4755), None, 0),
        ("chown", owner(5), Some(0o755), -1),
        ("write", bytes, Some(0o755), 1),
    ]
    .into_iter()
    .enumerate()
    {
        let time = Nanos(10 * number as u64);
        seen.push(Seen {
            thread: 1,
            call,
            time,
            act,
            left,
        });
        ended.push(Ended {
            thread: 1,
            call,
            returned: Some((Nanos(time.0 + 5), value)),
            unentered: false,
            stack: None,
        });
    }
    let built = build_of(seen, ended);
    assert_eq!(built.unknown, Vec::<String>::new());
    let node = NodeId(1);
    let set = |attribute| Step::Change(Change::Set { node, attribute });
    let give = Change::Give {
        node,
        owner: (3, 0),
        mode: 0o755,
    };
    let wrote = Change::Write {
        node,
        at: 3,
        bytes: b"x".to_vec().into(),
    };
    let expected = [
        set(Attribute::Mode(0o4755)),
        Step::Change(give),
        set(Attribute::Owner(4, 0)),
        set(Attribute::Mode(0o4755)),
        set(Attribute::Mode(0o755)),
        Step::Change(wrote),
        Step::Acknowledged,
    ];
    assert_eq!(built.log.steps(), expected);
    assert_eq!(built.last, built.log.last());
}

#[test]
fn a_new_folder_has_no_bit_that_its_call_asks_for() {
    let make = |act| ("mkdir", act, 0);
    let by = Maker {
        umask: 0o022,
        ..Maker::default()
    };
    let (at, mode) = (spot("new"), 0o7777);
    let folder = built(vec![make(Act::MakeFolder { at, mode, by })]);
    let of = |built: &Built| built.last.find(b"new").map(|node| node.attributes.mode);
    assert_eq!(of(&folder), Some(0o1755));
    let (call, act, value) = open("new");
    let Act::Open {
        at,
        creates,
        empties,
        by,
        ..
    } = act
    else {
        panic!("{act:?}");
    };
    let act = Act::Open {
        at,
        creates,
        empties,
        mode,
        by,
    };
    assert_eq!(of(&built(vec![(call, act, value)])), Some(0o7755));
}

#[test]
fn a_look_at_some_pages_takes_back_nothing_that_was_written_to_others() {
    let page = 4096;
    let file = || opened(Some("old"), 1);
    let nameless = || opened(None, 1);
    let truncate = Act::Truncate {
        file: Target::Named(spot("old")),
        size: 3 * page,
    };
    let mut content = vec![0; 3 * page as usize];
    content[..3].copy_from_slice(b"old");
    let mut looked = Looked::default();
    let first = looked.look(nameless(), Content::new(content.clone()));
    // Stored into the last page: that is found in front of the write to it.
    content[2 * page as usize] = b's';
    let last = content[2 * page as usize..].to_vec();
    let second = looked.look_in(nameless(), 3 * page, (2 * page, last));
    let built = built(vec![
        ("ftruncate", truncate, 0),
        ("mmap", Act::Maps(file()), 4096),
        ("write", first, 0),
        write(file(), Begin::At(page), "w"),
        ("write", second.expect("a look"), 0),
        write(file(), Begin::At(2 * page + 1), "w"),
    ]);
    content[page as usize] = b'w';
    content[2 * page as usize + 1] = b'w';
    assert_eq!(self::content(&built, "old"), Some(content));
    assert_eq!(built.unknown, Vec::<String>::new());
    assert!(built.in_parts);
    let changes = built.log.steps().iter();
    let changes = changes.filter(|step| matches!(step, Step::Change(Change::Write { .. })));
    assert_eq!(changes.count(), 3);
}
