//! Random logs and models.

use crate::crash::{Attribute, Change, Content, Kind, Log, Model, Node, NodeId, Place, Step, Tree};

/// Numbers from a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (bits ^ (bits >> 33)) % end
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }
}

/// Returns a named model with small units, or any mixture of switches.
pub(crate) fn model(dice: &mut Dice) -> Model {
    let mut model = Model::named(dice.of(&Model::NAMES)).unwrap();
    if dice.coin() {
        model.size_after_data = dice.coin();
        model.folders_in_order = dice.coin();
        model.sync_commits = dice.coin();
        model.sync_brings_name = dice.coin();
        model.replace_after_data = dice.coin();
        model.exchange_touches = dice.coin();
        model.moves_whole = dice.coin();
        model.sync_all_flushes = dice.coin();
        model.emptied_uncovers = dice.coin();
        model.in_order = dice.below(8) == 0;
    }
    model.torn = dice.of(&[0, 1, 2, 4, 4, 4]);
    model.page = dice.of(&[0, 4, 8, 8]);
    model
}

const ROOT: NodeId = NodeId(0);

/// Returns a log of at most 12 steps and `pieces` pieces.
pub(crate) fn log(dice: &mut Dice, model: &Model, pieces: usize) -> Log {
    let old = Node::file(Content::new(
        b"abcdefgh"[..usize::try_from(dice.below(9)).unwrap()].to_vec(),
    ));
    let entry = |name: &[u8], id| (name.to_vec(), NodeId(id));
    let start = Tree::new(
        ROOT,
        [
            (
                ROOT,
                Node::folder([entry(b"a", 1), entry(b"d", 2), entry(b"e", 3)]),
            ),
            (NodeId(1), old),
            (NodeId(2), Node::folder([entry(b"b", 1)])),
            (NodeId(3), Node::folder([entry(b"f", 4)])),
            (NodeId(4), Node::folder([])),
        ],
    );
    let new = new();
    let make = |steps: Vec<Step>| Log::new(start.clone(), new.clone(), steps);
    let mut steps: Vec<Step> = Vec::new();
    let most = 2 + dice.below(11);
    let mut full = 0;
    for _ in 0..80 {
        if steps.len() as u64 == most || full > 3 {
            break;
        }
        let mut more = steps.clone();
        more.push(step(dice));
        let Ok(log) = make(more.clone()) else {
            continue;
        };
        if super::naive::pieces(&log, model).len() <= pieces {
            steps = more;
        } else {
            full += 1;
        }
    }
    make(steps).unwrap()
}

/// Returns the nodes that steps make.
pub(crate) fn new() -> [(NodeId, Node); 5] {
    [
        (NodeId(5), Node::file(Content::default())),
        (NodeId(6), Node::file(Content::default())),
        (NodeId(7), Node::folder([])),
        (NodeId(8), Node::of(Kind::Link(b"a".to_vec()), 0o777)),
        (
            NodeId(9),
            Node::of(
                Kind::Other {
                    mode: 0o020_000,
                    device: 0,
                },
                0,
            ),
        ),
    ]
}

fn place(dice: &mut Dice) -> Place {
    let folder = NodeId(dice.of(&[0, 0, 0, 2, 2, 3, 4, 7]));
    Place {
        folder,
        name: dice.of(&[b"a", b"b", b"d", b"e", b"f", b"g"]).to_vec(),
    }
}

fn bytes(dice: &mut Dice) -> Vec<u8> {
    let len = 1 + dice.below(7);
    let byte = dice.of(b"xyz\0");
    (0..len)
        .map(|_| if dice.below(5) == 0 { 0 } else { byte })
        .collect()
}

/// Moves a folder to another folder.
fn folder_move(dice: &mut Dice) -> Step {
    let mut place = || Place {
        folder: NodeId(dice.of(&[0, 2, 3, 4])),
        name: dice.of(&[b"d", b"e", b"f"]).to_vec(),
    };
    let (from, to) = (place(), place());
    Step::Change(Change::Rename {
        from,
        to,
        leaves: None,
    })
}

fn step(dice: &mut Dice) -> Step {
    let file = NodeId(dice.of(&[1, 1, 5, 5, 6]));
    let any = NodeId(u32::try_from(dice.below(10)).unwrap());
    if dice.below(12) == 0 {
        return folder_move(dice);
    }
    Step::Change(match dice.below(18) {
        0..=2 => Change::Enter {
            at: place(dice),
            node: NodeId(dice.of(&[1, 5, 5, 6, 6, 7, 7, 8])),
        },
        3 => Change::Remove { at: place(dice) },
        4..=6 => {
            let leaves = dice.of(&[None, None, None, Some(NodeId(9)), Some(any)]);
            Change::Rename {
                from: place(dice),
                to: place(dice),
                leaves,
            }
        }
        7..=10 => Change::Write {
            node: file,
            at: dice.below(12),
            bytes: bytes(dice).into(),
        },
        11 | 12 => Change::Truncate {
            node: file,
            size: dice.of(&[0, 0, 1, 3, 5, 8, 13]),
        },
        13 => {
            let (at, bytes) = (dice.below(9), bytes(dice));
            let size = at + bytes.len() as u64 + dice.below(4);
            Change::Range {
                node: file,
                at,
                bytes: bytes.into(),
                size,
            }
        }
        14 => {
            let attribute = match dice.below(5) {
                0 => Attribute::Mode(dice.of(&[0o600, 0o644])),
                1 => Attribute::Owner(1, 2),
                2 => Attribute::Xattr(b"user.k".to_vec(), Some(b"v".to_vec())),
                3 => Attribute::Xattr(b"user.k".to_vec(), None),
                _ => {
                    return Step::Change(Change::Give {
                        node: any,
                        owner: (3, 4),
                        mode: dice.of(&[0o600, 0o755]),
                    });
                }
            };
            Change::Set {
                node: any,
                attribute,
            }
        }
        15 if dice.below(3) == 0 => {
            let at = dice.below(9);
            return Step::SyncRange {
                node: file,
                range: at..at + 1 + dice.below(8),
                only_data: dice.coin(),
            };
        }
        15 | 16 => {
            return Step::Sync {
                node: any,
                only_data: dice.coin(),
            };
        }
        _ => {
            return dice
                .of(&[&Step::SyncAll, &Step::Acknowledged, &Step::Acknowledged])
                .clone();
        }
    })
}
