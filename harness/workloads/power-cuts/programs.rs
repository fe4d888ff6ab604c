//! Random programs that change a folder.

use std::collections::BTreeMap;

use trace_harness::crash::{Attribute, Change, Content, Log, Node, NodeId, Place, Step, Tree};

/// Numbers from a seed: SplitMix64.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut dice = Self(seed ^ number.wrapping_mul(0xd129_0dd3_5a0c_b1e5));
        dice.bits();
        dice
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end.max(1)
    }

    pub(crate) fn of<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        let at = self.below(list.len() as u64);
        list.get(usize::try_from(at).unwrap_or(0))
    }
}

/// What the kernel may do by itself at any time, and is asked for between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meanwhile {
    Nothing,
    /// Everything is written.
    All,
    /// Dirty pages of a file are written, from an offset on for a length, 0: to the end.
    Pages(NodeId, u64, u64),
    /// The journal is committed: another file is synced.
    Commit,
    /// All of the metadata is committed and no data is written for it.
    Metadata,
}

/// A program: what the folder holds first, and the steps, with what happens behind each.
pub(crate) struct Program {
    pub(crate) log: Log,
    pub(crate) meanwhile: Vec<Meanwhile>,
}

const ROOT: NodeId = NodeId(0);
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const SIZES: [u64; 12] = [
    1, 100, 512, 1000, 4095, 4096, 4097, 5000, 8192, 9000, 12288, 20000,
];
/// Extended attributes, and the sizes of their values: those that an inode has room for, and one
/// that it has none for.
const XATTRS: [&[u8]; 2] = [b"user.a", b"trusted.b"];
const VALUES: [u64; 4] = [0, 1, 20, 300];
/// The numbers of new files and folders.
const NEW_FILES: std::ops::Range<u32> = 10..18;
const NEW_FOLDERS: std::ops::Range<u32> = 20..24;

impl Program {
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let start = start(dice);
        let files = NEW_FILES.map(|id| (NodeId(id), Node::file(Content::default())));
        let folders = NEW_FOLDERS.map(|id| (NodeId(id), Node::folder([])));
        let new: Vec<(NodeId, Node)> = files.chain(folders).collect();
        let make = |steps: &[Step]| Log::new(start.clone(), new.clone(), steps.to_vec());
        let wanted = 3 + dice.below(10);
        // Some begin as programs that save a file do.
        let mut steps = match dice.below(4) {
            0 => save(dice),
            _ => Vec::new(),
        };
        let mut log = make(&steps);
        for _ in 0..1000 {
            let Ok(known) = &log else { break };
            if steps.len() as u64 >= wanted {
                break;
            }
            let tree = known.last();
            let Some(next) = step(dice, &tree, &steps) else {
                continue;
            };
            let mut more = steps.clone();
            let synced = synced_with(dice, &next);
            more.push(next);
            more.extend(synced);
            if let Ok(made) = make(&more) {
                (steps, log) = (more, Ok(made));
            }
        }
        // An empty log has no contradiction.
        let log = log.unwrap_or_else(|error| unreachable!("{error}"));
        let meanwhile = (0..steps.len()).map(|at| meanwhile(dice, &log.after(at + 1)));
        let meanwhile = meanwhile.collect();
        Self { log, meanwhile }
    }
}

/// A sync that the call of a step makes beside, if one does: a write with `O_DSYNC` or `O_SYNC`.
fn synced_with(dice: &mut Dice, step: &Step) -> Option<Step> {
    let Step::Change(Change::Write { node, at, bytes }) = step else {
        return None;
    };
    let is_synced = dice.below(5) == 0 && !clears(bytes);
    is_synced.then(|| Step::SyncRange {
        node: *node,
        range: *at..*at + bytes.len() as u64,
        only_data: dice.below(2) == 0,
    })
}

/// Whether these bytes of a file are taken away instead of written: no write here is of zeros.
pub(crate) fn clears(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Writes a new file and renames it over another.
fn save(dice: &mut Dice) -> Vec<Step> {
    let place = |name: &str| Place {
        folder: ROOT,
        name: name.as_bytes().to_vec(),
    };
    let node = NodeId(NEW_FILES.start);
    let size = *dice.of(&SIZES).unwrap_or(&1);
    let bytes = vec![2; usize::try_from(size).unwrap_or(1)];
    let change = Step::Change;
    let sync = Step::Sync {
        node,
        only_data: dice.below(2) == 0,
    };
    let mut steps = vec![
        change(Change::Enter {
            at: place("e"),
            node,
        }),
        change(Change::Write {
            node,
            at: 0,
            bytes: bytes.into(),
        }),
        sync,
        change(Change::Rename {
            from: place("e"),
            to: place("a"),
            leaves: None,
        }),
    ];
    if dice.below(3) > 0 {
        steps.remove(2);
    }
    steps
}

fn start(dice: &mut Dice) -> Tree {
    let mut file = |fill: u8| {
        let size = match dice.below(4) {
            0 => 0,
            _ => *dice.of(&SIZES).unwrap_or(&0),
        };
        Node::file(Content::new(vec![fill; usize::try_from(size).unwrap_or(0)]))
    };
    let entry = |name: &str, id| (name.as_bytes().to_vec(), NodeId(id));
    let nodes = [
        (NodeId(1), file(201)),
        (NodeId(2), file(202)),
        (NodeId(4), file(204)),
        (NodeId(3), Node::folder([entry("a", 4)])),
        (
            ROOT,
            Node::folder([entry("a", 1), entry("b", 2), entry("d", 3)]),
        ),
    ];
    Tree::new(ROOT, nodes)
}

/// The files and the folders that have names.
fn there(tree: &Tree) -> (Vec<NodeId>, Vec<NodeId>) {
    let reached = tree.reached().into_iter();
    let is_file = |id: &NodeId| tree.nodes.get(id).is_some_and(|n| n.content().is_some());
    reached.partition(is_file)
}

/// The names of a tree.
fn places(tree: &Tree) -> BTreeMap<Place, NodeId> {
    let (_, folders) = there(tree);
    let mut places = BTreeMap::new();
    for folder in folders {
        let entries = tree.nodes.get(&folder).and_then(Node::entries);
        for (name, id) in entries.into_iter().flatten() {
            let name = name.clone();
            places.insert(Place { folder, name }, *id);
        }
    }
    places
}

fn meanwhile(dice: &mut Dice, tree: &Tree) -> Meanwhile {
    let (files, _) = there(tree);
    let file = dice.of(&files).copied();
    match (dice.below(100), file) {
        (0..6, _) => Meanwhile::All,
        (6..22, Some(file)) => Meanwhile::Pages(file, 0, 0),
        (22..34, Some(file)) => {
            let from = dice.below(5) * 4096;
            Meanwhile::Pages(file, from, 4096 * (1 + dice.below(2)))
        }
        (34..52, _) => Meanwhile::Commit,
        (52..62, _) => Meanwhile::Metadata,
        _ => Meanwhile::Nothing,
    }
}

fn enters(step: &Step, wanted: NodeId) -> bool {
    matches!(step, Step::Change(Change::Enter { node, .. }) if *node == wanted)
}

/// An extended attribute that is set, or removed where the node has it.
fn xattr(dice: &mut Dice, tree: &Tree, node: NodeId, fill: u8) -> Option<Attribute> {
    let name = dice.of(&XATTRS)?.to_vec();
    let known = &tree.nodes.get(&node)?.attributes.xattrs;
    let size = usize::try_from(*dice.of(&VALUES)?).ok()?;
    let value = match dice.below(3) {
        0 if known.contains_key(&name) => None,
        _ => Some(vec![fill; size]),
    };
    Some(Attribute::Xattr(name, value))
}

/// A sync of a file or a folder.
fn sync(dice: &mut Dice, file: Option<NodeId>, folders: &[NodeId]) -> Option<Step> {
    let is_folder = dice.below(13) > 6;
    let node = match is_folder {
        true => *dice.of(folders)?,
        false => file?,
    };
    let only_data = !is_folder && dice.below(7) > 3;
    Some(Step::Sync { node, only_data })
}

/// A step that may be made; whether it can is for the log to say.
fn step(dice: &mut Dice, tree: &Tree, steps: &[Step]) -> Option<Step> {
    let (files, folders) = there(tree);
    let places: Vec<(Place, NodeId)> = places(tree).into_iter().collect();
    let entered = |id: u32| steps.iter().any(|step| enters(step, NodeId(id)));
    let size = |id: NodeId| {
        let content = tree.nodes.get(&id).and_then(Node::content);
        content.map_or(0, Content::size)
    };
    let mut any = || {
        let folder = *dice.of(&folders)?;
        let name = dice.of(&NAMES)?.as_bytes().to_vec();
        Some(Place { folder, name })
    };
    let (place, other) = (any()?, any()?);
    let file = dice.of(&files).copied();
    let fill = u8::try_from(steps.len() + 1).ok()?;
    let mut length = *dice.of(&SIZES)?;
    if dice.below(3) == 0 {
        length = 1 + dice.below(6000);
    }
    let bytes = vec![fill; usize::try_from(length).ok()?];
    let write = |node, at| Change::Write {
        node,
        at,
        bytes: bytes.clone().into(),
    };
    Some(Step::Change(match dice.below(100) {
        0..12 => Change::Enter {
            at: place,
            node: NodeId(NEW_FILES.into_iter().find(|id| !entered(*id))?),
        },
        12..17 => Change::Enter {
            at: place,
            node: NodeId(NEW_FOLDERS.into_iter().find(|id| !entered(*id))?),
        },
        17..32 => write(file?, size(file?)),
        32..42 => write(file?, dice.below(size(file?))),
        42..45 => write(file?, size(file?) + *dice.of(&SIZES)?),
        45..47 => Change::Truncate {
            node: file?,
            size: 0,
        },
        47..50 => {
            let (node, at) = (file?, dice.below(size(file?)));
            let most = size(node).checked_sub(at).filter(|most| *most > 0)?;
            let length = length.min(most);
            let bytes = vec![0; usize::try_from(length).ok()?].into();
            Change::Write { node, at, bytes }
        }
        50..53 => Change::Truncate {
            node: file?,
            size: dice.below(size(file?)),
        },
        53..56 => Change::Truncate {
            node: file?,
            size: size(file?) + *dice.of(&SIZES)?,
        },
        56..68 => {
            let (from, node) = dice.of(&places)?.clone();
            let to = match dice.below(2) {
                0 => dice.of(&places)?.0.clone(),
                _ => other,
            };
            // The kernel lets a file replace a file, and a folder an empty one.
            let known = places.iter().find(|(place, _)| *place == to);
            if known.is_some_and(|(_, known)| files.contains(known) != files.contains(&node)) {
                return None;
            }
            let leaves = None;
            Change::Rename { from, to, leaves }
        }
        68..70 => {
            let (to, node) = dice.of(&places)?.clone();
            let from = dice.of(&places)?.0.clone();
            let leaves = Some(node);
            Change::Rename { from, to, leaves }
        }
        70..74 => Change::Enter {
            at: place,
            node: file?,
        },
        74..80 => Change::Remove {
            at: dice.of(&places)?.0.clone(),
        },
        80..82 => Change::Set {
            node: file?,
            attribute: Attribute::Mode(0o600 + u32::from(fill)),
        },
        82..86 => {
            let node = match dice.below(4) {
                0 => *dice.of(&folders)?,
                _ => file?,
            };
            let attribute = xattr(dice, tree, node, fill)?;
            Change::Set { node, attribute }
        }
        86..99 => return sync(dice, file, &folders),
        _ => return Some(Step::SyncAll),
    }))
}
