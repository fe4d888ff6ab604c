//! The definition, written down the slow way.

mod syncs;
mod uncovered;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::crash::{Attribute, Attributes, Change, Kind, Log, Model, NodeId, Place, Step, Tree};

/// No file is longer.
const ROOM: usize = 20;

#[derive(Clone)]
struct File {
    bytes: Vec<u8>,
    size: u64,
}

/// All that a disk holds.
#[derive(Clone)]
struct Disk {
    names: BTreeMap<(NodeId, Vec<u8>), NodeId>,
    files: BTreeMap<NodeId, File>,
    attributes: BTreeMap<NodeId, Attributes>,
    kinds: Rc<BTreeMap<NodeId, Kind>>,
    root: NodeId,
}

#[derive(Clone)]
enum Op {
    Name(Place, Option<NodeId>),
    Size(NodeId, u64),
    Byte(NodeId, u64, u8),
    Set(NodeId, Attribute),
}

/// A piece, with the names of the locations that it writes.
pub(crate) struct Piece {
    step: usize,
    ops: Vec<Op>,
    locations: BTreeSet<String>,
    class: char,
    after: BTreeSet<usize>,
    durable: Option<usize>,
    /// Nodes whose inodes change, and those of which a data sync commits it.
    inodes: Vec<NodeId>,
    sizes: Vec<NodeId>,
    gives: Vec<NodeId>,
}

impl Disk {
    fn new(tree: &Tree) -> Self {
        let mut names = BTreeMap::new();
        let mut files = BTreeMap::new();
        for (id, node) in &tree.nodes {
            for (name, child) in node.entries().into_iter().flatten() {
                names.insert((*id, name.clone()), *child);
            }
            if let Some(content) = node.content() {
                let mut bytes = content.to_vec();
                bytes.resize(ROOM, 0);
                files.insert(
                    *id,
                    File {
                        bytes,
                        size: content.size(),
                    },
                );
            }
        }
        let nodes = tree.nodes.iter();
        let attributes = nodes.map(|(id, node)| (*id, node.attributes.clone()));
        let kinds = tree.nodes.iter().map(|(id, node)| (*id, node.kind.clone()));
        let (attributes, kinds) = (attributes.collect(), Rc::new(kinds.collect()));
        Self {
            names,
            files,
            attributes,
            kinds,
            root: tree.root,
        }
    }

    fn of(log: &Log) -> Self {
        let mut tree = log.start().clone();
        tree.nodes.extend(super::logs::new());
        Self::new(&tree)
    }

    fn apply(&mut self, ops: &[Op]) {
        for op in ops {
            match op {
                Op::Name(at, Some(node)) => {
                    self.names.insert((at.folder, at.name.clone()), *node);
                }
                Op::Name(at, None) => {
                    self.names.remove(&(at.folder, at.name.clone()));
                }
                Op::Size(node, size) => self.files.get_mut(node).unwrap().size = *size,
                Op::Byte(node, at, byte) => {
                    self.files.get_mut(node).unwrap().bytes[usize::try_from(*at).unwrap()] = *byte;
                }
                Op::Set(node, attribute) => {
                    let known = self.attributes.get_mut(node).unwrap();
                    match attribute.clone() {
                        Attribute::Mode(mode) => known.mode = mode,
                        Attribute::Owner(owner, group) => {
                            known.owner = owner;
                            known.group = group;
                        }
                        Attribute::Xattr(name, Some(value)) => {
                            known.xattrs.insert(name, value);
                        }
                        Attribute::Xattr(name, None) => {
                            known.xattrs.remove(&name);
                        }
                    }
                }
            }
        }
    }

    fn is_folder(&self, id: NodeId) -> bool {
        matches!(self.kinds[&id], Kind::Folder(_))
    }

    fn describe(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.walk(self.root, &mut Vec::new(), &mut text);
        text
    }

    /// Writes down a node: the number in the order of first visits, then what it is.
    fn walk(&self, id: NodeId, seen: &mut Vec<NodeId>, text: &mut Vec<u8>) {
        let known = seen.iter().position(|other| *other == id);
        text.push(u8::try_from(known.unwrap_or(seen.len())).unwrap());
        let folder = self.is_folder(id);
        assert!(
            known.is_none() || !folder,
            "a folder with two names: {id:?}"
        );
        if known.is_some() {
            return;
        }
        seen.push(id);
        let Attributes {
            mode,
            owner,
            group,
            xattrs,
        } = &self.attributes[&id];
        for number in [mode, owner, group] {
            text.extend(number.to_le_bytes());
        }
        for (name, value) in xattrs {
            text.extend([b"x", name.as_slice(), b"=", value].concat());
        }
        match &self.kinds[&id] {
            Kind::File(_) => {
                let file = &self.files[&id];
                text.push(b'f');
                text.extend(file.size.to_le_bytes());
                text.extend(&file.bytes[..usize::try_from(file.size).unwrap()]);
            }
            Kind::Folder(_) => {
                text.push(b'd');
                for ((_, name), child) in self
                    .names
                    .range((id, Vec::new())..(NodeId(id.0 + 1), Vec::new()))
                {
                    text.push(b'/');
                    text.extend(name);
                    text.push(0);
                    self.walk(*child, seen, text);
                }
                text.push(b'.');
            }
            Kind::Link(target) => text.extend([b"l", target.as_slice(), b"\0"].concat()),
            Kind::Other { mode, device } => {
                text.push(b'o');
                text.extend(mode.to_le_bytes());
                text.extend(device.to_le_bytes());
            }
        }
    }
}

/// Returns what tells trees apart, as `Disk::describe`.
pub(crate) fn describe(tree: &Tree) -> Vec<u8> {
    Disk::new(tree).describe()
}

/// Returns all states: each closed set of pieces at each moment.
pub(crate) fn states(log: &Log, model: &Model) -> BTreeSet<(Vec<u8>, usize)> {
    let pieces = pieces(log, model);
    let mask = |set: &BTreeSet<usize>| set.iter().fold(0_u32, |mask, piece| mask | 1 << piece);
    let after: Vec<u32> = pieces.iter().map(|piece| mask(&piece.after)).collect();
    let moments: Vec<(u32, u32, usize)> = (0..=log.steps().len())
        .map(|moment| {
            let of = |test: &dyn Fn(&Piece) -> bool| {
                mask(
                    &(0..pieces.len())
                        .filter(|piece| test(&pieces[*piece]))
                        .collect(),
                )
            };
            let there = of(&|piece| piece.step < moment);
            let durable = of(&|piece| piece.durable.is_some_and(|sync| sync < moment));
            let before = log.steps().iter().take(moment);
            (
                there,
                durable,
                before.filter(|step| **step == Step::Acknowledged).count(),
            )
        })
        .collect();
    let start = Disk::of(log);
    let mut states = BTreeSet::new();
    for set in 0..1_u32 << pieces.len() {
        if after
            .iter()
            .enumerate()
            .any(|(piece, after)| set >> piece & 1 == 1 && after & !set != 0)
        {
            continue;
        }
        let legal = moments
            .iter()
            .filter(|(there, durable, _)| set & !there == 0 && durable & !set == 0);
        let said: BTreeSet<usize> = legal.map(|(_, _, said)| *said).collect();
        if said.is_empty() {
            continue;
        }
        let mut disk = start.clone();
        for piece in (0..pieces.len()).filter(|piece| set >> piece & 1 == 1) {
            disk.apply(&pieces[piece].ops);
        }
        let text = disk.describe();
        states.extend(said.into_iter().map(|said| (text.clone(), said)));
    }
    states
}

/// Cuts a log.
pub(crate) fn pieces(log: &Log, model: &Model) -> Vec<Piece> {
    let mut disk = Disk::of(log);
    let mut pieces: Vec<Piece> = Vec::new();
    for (step, what) in log.steps().iter().enumerate() {
        match what {
            Step::Change(change) => {
                let first = pieces.len();
                uncovered::cut(step, log, model, &mut pieces);
                cut(step, change, model, &disk, &mut pieces);
                for piece in &pieces[first..] {
                    disk.apply(&piece.ops);
                }
            }
            Step::Sync { node, only_data } => {
                syncs::all(step, (*node, *only_data), model, &mut pieces);
            }
            Step::SyncRange {
                node,
                range,
                only_data,
            } => {
                let start = Disk::of(log).files[node].size;
                let of = (*node, *only_data);
                syncs::range(step, of, (range, start), model, &mut pieces);
            }
            Step::SyncAll => {
                let flushed = |piece: &&mut Piece| model.sync_all_flushes || piece.class != 'd';
                pieces
                    .iter_mut()
                    .filter(flushed)
                    .for_each(|piece| piece.durable = piece.durable.or(Some(step)));
            }
            Step::Acknowledged => {}
        }
    }
    // What is before a durable piece is durable with it.
    loop {
        let mut changed = false;
        for piece in 0..pieces.len() {
            let Some(sync) = pieces[piece].durable else {
                continue;
            };
            for before in pieces[piece].after.clone() {
                if pieces[before].durable.is_none_or(|known| known > sync) {
                    pieces[before].durable = Some(sync);
                    changed = true;
                }
            }
        }
        if !changed {
            return pieces;
        }
    }
}

fn unit(model: &Model) -> u64 {
    if model.torn > 0 {
        model.torn
    } else if model.page > 0 {
        model.page
    } else {
        4096
    }
}

/// The ends of the parts of `at..end`.
fn ends(at: u64, end: u64, unit: u64) -> Vec<u64> {
    (at + 1..=end)
        .filter(|to| *to == end || (unit > 0 && to % unit == 0))
        .collect()
}

fn zeros(node: NodeId, from: u64, to: u64) -> Vec<Op> {
    (from..to).map(|at| Op::Byte(node, at, 0)).collect()
}

fn cut(step: usize, change: &Change, model: &Model, disk: &Disk, pieces: &mut Vec<Piece>) {
    let whole = model.torn == 0 || model.in_order;
    let block = unit(model).max(model.page);
    match change {
        Change::Enter { at, node } => {
            let piece = add(
                pieces,
                model,
                step,
                'n',
                vec![Op::Name(at.clone(), Some(*node))],
            );
            give(pieces, piece, *node);
        }
        Change::Remove { at } => {
            let piece = add(pieces, model, step, 'n', vec![Op::Name(at.clone(), None)]);
            let gone = disk.names[&(at.folder, at.name.clone())];
            pieces[piece].inodes.push(gone);
        }
        Change::Rename { from, to, leaves } => {
            rename(step, (from, to, *leaves), model, disk, pieces)
        }
        Change::Write { node, at, bytes } => {
            let (old, end) = (disk.files[node].size, at + bytes.len() as u64);
            let byte = |at2: u64| Op::Byte(*node, at2, bytes[usize::try_from(at2 - at).unwrap()]);
            if whole {
                let mut ops: Vec<Op> = (*at..end).map(byte).collect();
                ops.extend((end > old).then_some(Op::Size(*node, end)));
                add(pieces, model, step, if end > old { 'g' } else { 'd' }, ops);
                return;
            }
            let first = pieces.len();
            let mut from = *at;
            for to in ends(*at, end, model.torn) {
                add(pieces, model, step, 'd', (from..to).map(byte).collect());
                from = to;
            }
            let data = first..pieces.len();
            let mut grows = ends(*at, end, model.page);
            if model.page > 0 {
                let filled = old.div_ceil(model.page) * model.page;
                if old < filled && filled < *at {
                    grows.insert(0, filled);
                }
            }
            for to in grows.into_iter().filter(|to| *to > old) {
                let piece = add(pieces, model, step, 'g', vec![Op::Size(*node, to)]);
                for data in data.clone().filter(|_| model.size_after_data) {
                    let Op::Byte(_, from, _) = pieces[data].ops[0] else {
                        panic!("data")
                    };
                    if from / block * block >= old && from < to {
                        pieces[piece].after.insert(data);
                    }
                }
            }
        }
        Change::Truncate { node, size } => truncate(step, (*node, *size), model, disk, pieces),
        Change::Range {
            node,
            at,
            bytes,
            size,
        } => {
            let old = disk.files[node].size;
            let mut ops: Vec<Op> = (*at..)
                .zip(bytes.iter())
                .map(|(at, byte)| Op::Byte(*node, at, *byte))
                .collect();
            if *size < old {
                ops.extend(zeros(*node, *size, ROOM as u64));
            }
            ops.extend((*size != old).then_some(Op::Size(*node, *size)));
            add(pieces, model, step, 'c', ops);
        }
        Change::Set { node, attribute } => {
            let ops = vec![Op::Set(*node, attribute.clone())];
            add(pieces, model, step, 'a', ops);
        }
        Change::Give { node, owner, mode } => {
            let both = [Attribute::Owner(owner.0, owner.1), Attribute::Mode(*mode)];
            let ops = both.map(|it| Op::Set(*node, it)).to_vec();
            add(pieces, model, step, 'a', ops);
        }
    }
}

fn truncate(
    step: usize,
    (node, size): (NodeId, u64),
    model: &Model,
    disk: &Disk,
    pieces: &mut Vec<Piece>,
) {
    let (room, block) = (ROOM as u64, unit(model).max(model.page));
    let whole = model.torn == 0 || model.in_order;
    let old = disk.files[&node].size;
    let mut ops = vec![Op::Size(node, size)];
    let mut before = Vec::new();
    if size == old {
        return;
    } else if size < old && whole {
        ops.extend(zeros(node, size, room));
    } else if size < old {
        let behind = size.div_ceil(block) * block;
        let mut from = size;
        for to in ends(size, behind.min(room), model.torn) {
            if from < old {
                before.push(add(pieces, model, step, 'd', zeros(node, from, to)));
            }
            from = to;
        }
        if behind < old {
            ops.extend(zeros(node, behind, room));
        }
    }
    let piece = add(pieces, model, step, 'c', ops);
    if model.size_after_data {
        pieces[piece].after.extend(before);
    }
}

fn rename(
    step: usize,
    (from, to, leaves): (&Place, &Place, Option<NodeId>),
    model: &Model,
    disk: &Disk,
    pieces: &mut Vec<Piece>,
) {
    let at = |place: &Place| disk.names.get(&(place.folder, place.name.clone())).copied();
    let (moved, replaced) = (at(from).unwrap(), at(to));
    let exchange = leaves.is_some() && leaves == replaced;
    let old = Op::Name(from.clone(), leaves);
    let new = Op::Name(to.clone(), Some(moved));
    let has_folder = disk.is_folder(moved) || leaves.is_some_and(|left| disk.is_folder(left));
    let piece = if from.folder == to.folder || has_folder || model.moves_whole {
        add(pieces, model, step, 'n', vec![old, new])
    } else {
        let piece = add(pieces, model, step, 'n', vec![new]);
        let other = add(pieces, model, step, 'n', vec![old]);
        if !exchange {
            pieces[other].after.insert(piece);
        }
        piece
    };
    if from.folder != to.folder {
        let mut moves = vec![(moved, to.folder)];
        moves.extend(leaves.filter(|_| exchange).map(|left| (left, from.folder)));
        moves.retain(|(node, _)| disk.is_folder(*node));
        for (node, folder) in &moves {
            // The folders on the way to the root.
            let mut way = vec![*folder];
            while let Some(((parent, _), _)) = disk
                .names
                .iter()
                .find(|(_, child)| **child == way[way.len() - 1])
            {
                way.push(*parent);
            }
            for other in 0..piece {
                let moves = |id: &NodeId| pieces[other].locations.contains(&format!("v{}", id.0));
                if way.iter().any(moves) {
                    pieces[piece].after.insert(other);
                }
            }
            pieces[piece].locations.insert(format!("v{}", node.0));
        }
    }
    if model.replace_after_data && replaced.is_some() && !exchange {
        for other in 0..piece {
            if pieces[other].class == 'g'
                && pieces[other].locations.contains(&format!("z{}", moved.0))
            {
                pieces[piece].after.insert(other);
            }
        }
    }
    if exchange && !model.exchange_touches {
        return;
    }
    give(pieces, piece, moved);
    leaves
        .into_iter()
        .for_each(|left| give(pieces, piece, left));
    // The inodes have changed when the whole of the rename has been made.
    let last = pieces.len() - 1;
    let (inodes, sizes) = (&pieces[piece].inodes, pieces[piece].sizes.clone());
    let changed: Vec<NodeId> = inodes.iter().copied().chain(replaced).collect();
    pieces[last].inodes.extend(changed);
    pieces[last].sizes.extend(sizes);
}

/// Notes that a piece gives a name to a node, and makes the node if no earlier piece changed it.
fn give(pieces: &mut [Piece], piece: usize, node: NodeId) {
    let known = node.0 < 5
        || pieces[..piece]
            .iter()
            .any(|other| other.inodes.contains(&node));
    pieces[piece].inodes.push(node);
    pieces[piece].gives.push(node);
    if !known {
        pieces[piece].sizes.push(node);
    }
}

/// Adds a piece, after all earlier ones that write one of its locations.
fn add(pieces: &mut Vec<Piece>, model: &Model, step: usize, class: char, ops: Vec<Op>) -> usize {
    let mut locations = BTreeSet::new();
    let (mut inodes, mut sizes) = (Vec::new(), Vec::new());
    for op in &ops {
        match op {
            Op::Name(place, _) => {
                locations.insert(format!("n{}/{}", place.folder.0, place.name.escape_ascii()));
                inodes.push(place.folder);
            }
            Op::Size(node, _) => {
                locations.insert(format!("z{}", node.0));
                inodes.push(*node);
                sizes.push(*node);
            }
            Op::Byte(node, at, _) => {
                locations.insert(format!("s{}.{}", node.0, at / unit(model)));
                if class == 'c' {
                    inodes.push(*node);
                    sizes.push(*node);
                }
            }
            Op::Set(node, attribute) => {
                let key = match attribute {
                    Attribute::Mode(_) => "mode".to_owned(),
                    Attribute::Owner(..) => "owner".to_owned(),
                    Attribute::Xattr(name, _) => format!("x{}", name.escape_ascii()),
                };
                locations.insert(format!("m{}.{key}", node.0));
                inodes.push(*node);
            }
        }
    }
    let after = (0..pieces.len())
        .filter(|other| {
            let other = &pieces[*other];
            let journal = "nac".contains(other.class) && class != 'd';
            model.in_order
                || !other.locations.is_disjoint(&locations)
                || (model.folders_in_order && journal)
        })
        .collect();
    let gives = Vec::new();
    pieces.push(Piece {
        step,
        ops,
        locations,
        class,
        after,
        durable: None,
        inodes,
        sizes,
        gives,
    });
    pieces.len() - 1
}
