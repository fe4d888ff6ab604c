//! What calls do to the names of files.

use super::super::tree::{
    Change, Keys, New, NodeId, Sharing, Space, Spot, Start, Target, Tree, Walked, Why, change,
};
use super::super::{Addressed, Call, SocketAddress, addressed};
use super::effects::Ended;
use super::file::{FileKind, Object};
use super::lookup::Lookup;
use super::opening::whole;
use super::pending::Pending;
use super::sees::Sees;
use super::tables::{At, Tables};
use super::way::Way;
use crate::ThreadId;
use crate::memory::Moment;
use std::sync::Arc;

/// `MNT_DETACH` of `umount2(2)`, `OPEN_TREE_CLONE` of `open_tree(2)`.
const DETACH: u64 = 2;
const CLONE: u64 = 1;

impl Tables {
    /// What a call that ended did to the names of files.
    pub(super) fn renames(&mut self, at: At, call: &Call, pending: &Pending) {
        let Some(name) = call.form() else { return };
        let Some(change) = change(name) else { return };
        let Some(mut tree) = self.tree.take() else {
            return;
        };
        let changed = match Ended::of(&call.outcome) {
            Ended::Without(_) => Some(Keys::new()),
            Ended::With(_) | Ended::Unseen if change == Change::Opens => Some(Keys::new()),
            Ended::With(_) => self.change_names(&mut tree, at, change, call, pending),
            Ended::Unseen => forget_names(&mut tree, (at.thread, name), change, pending),
        };
        match changed {
            Some(changed) => tree.ends(at.thread, &changed),
            None => {
                tree.ends_unseen(at.thread, name);
            }
        }
        self.tree = Some(tree);
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each change")]
    /// Applies a change that succeeded; `None` if it is not known what it changed.
    fn change_names(
        &self,
        tree: &mut Tree,
        at: At,
        change: Change,
        call: &Call,
        pending: &Pending,
    ) -> Option<Keys> {
        let args = call.entry.args()?;
        let walk = |path: u8| {
            let mut walks = pending.walks.iter();
            walks
                .find(|(place, _)| *place == path)
                .map(|(_, walked)| walked)
        };
        let moment = tree.now();
        let name = call.form().unwrap_or_default();
        for (_, walked) in &pending.walks {
            tree.relies_on(at.thread, walked, name);
        }
        let named = |walked: Option<&Walked>| -> Option<(NodeId, Box<[u8]>)> {
            let walked = walked?;
            let (folder, name) = walked.last.as_ref()?;
            let is_sure = !matches!(walked.target, Target::Unknown(Why::Raced));
            is_sure.then(|| (folder.node(), name.clone()))
        };
        let file = |walked: Option<&Walked>| match walked?.target {
            Target::At(spot) => Some(spot),
            _ => None,
        };
        let mut made = |new: New, path: u8| -> Option<Keys> {
            let (folder, name) = named(walk(path))?;
            let node = tree.unnamed(new);
            tree.give((folder, &name), node, moment);
            Some(vec![(folder, name)])
        };
        match change {
            Change::Opens => Some(Keys::new()),
            Change::MakesFolder | Change::MakesNode => {
                let path = pending.walks.first()?.0;
                let new = match change {
                    Change::MakesFolder => New::Folder,
                    _ => New::File,
                };
                made(new, path)
            }
            Change::MakesLink(path) => {
                let to = whole(call, 0, Moment::Enter);
                made(to.map_or(New::Unknown, |to| New::Link(Arc::from(to))), path)
            }
            Change::Links(from, to) => {
                const FOLLOW: u64 = 0x400;
                let (folder, name) = named(walk(to))?;
                let mut changed = vec![(folder, name.clone())];
                let node = match file(walk(from)) {
                    Some(spot) => spot.node(),
                    None if call.form() == Some("linkat") && args[4] & FOLLOW != 0 => return None,
                    None => {
                        let walked = walk(from)?;
                        changed.extend(named(Some(walked)));
                        walk(to).filter(|walked| walked.target == Target::Absent)?;
                        tree.unseen_file(walked, moment)?
                    }
                };
                tree.give((folder, &name), node, moment);
                Some(changed)
            }
            Change::Renames(from, to) => {
                const EXCHANGE: u64 = 2;
                const WHITEOUT: u64 = 4;
                let flags = if name == "renameat2" { args[4] } else { 0 };
                let node = file(walk(from))?.node();
                let (one, other) = (named(walk(from))?, named(walk(to))?);
                let replaced = file(walk(to)).map(|spot| spot.node());
                if replaced == Some(node) {
                    return Some(Keys::new());
                }
                match (flags & EXCHANGE != 0, flags & WHITEOUT != 0) {
                    (true, _) => tree.give((one.0, &one.1), replaced?, moment),
                    (_, true) => {
                        let node = tree.unnamed(New::File);
                        tree.give((one.0, &one.1), node, moment);
                    }
                    _ => tree.take_away((one.0, &one.1), moment),
                }
                tree.give((other.0, &other.1), node, moment);
                Some(vec![one, other, (node, Box::from(&b".."[..]))])
            }
            Change::Removes(path) => {
                let (folder, name) = named(walk(path))?;
                tree.take_away((folder, &name), moment);
                Some(vec![(folder, name)])
            }
            Change::Binds => {
                let Some((path, walked)) = self.socket_path(tree, (at, 1), call, pending) else {
                    return Some(Keys::new());
                };
                // It fails where something is.
                let is_free = !matches!(walked.target, Target::At(_)) && !path.is_empty();
                tree.relies_on(at.thread, &walked, "bind");
                let (folder, name) = named(Some(&walked)).filter(|_| is_free)?;
                let node = tree.unnamed(New::File);
                tree.give((folder, &name), node, moment);
                Some(vec![(folder, name)])
            }
            Change::Mounts => {
                const REMOUNT: u64 = 32;
                const BIND: u64 = 4096;
                const MOVE: u64 = 8192;
                const WITH_ALL_BELOW: u64 = 16384;
                let flags = args[3];
                if flags & REMOUNT != 0 {
                    return Some(Keys::new());
                }
                let space = self.directories.get(at.directory)?.spots.space?;
                // In the kernel's order (`path_mount()`).
                if flags & BIND == 0 && flags & OF_GROUPS != 0 {
                    let is_whole = flags & WITH_ALL_BELOW != 0;
                    let from = file(walk(1)).filter(|_| is_whole);
                    set_group(tree, space, flags, from);
                    return Some(Keys::new());
                }
                let on = file(walk(1)).filter(|_| !tree.spreads(space))?;
                let what = match (flags & BIND != 0, flags & MOVE != 0) {
                    (_, true) => return None,
                    (true, _) if flags & WITH_ALL_BELOW != 0 && tree.has_mounts(space) => {
                        return None;
                    }
                    (true, _) => {
                        let what = file(walk(0))?.node();
                        tree.copies_mount(space);
                        what
                    }
                    _ => {
                        let kind = whole(call, 2, Moment::Enter);
                        tree.new_file_system(matches!(kind, Some(b"tmpfs" | b"ramfs")))
                    }
                };
                Some(tree.mount(what, on, space, moment))
            }
            Change::MovesMount => {
                const SET_GROUP: u64 = 0x100;
                let space = self.directories.get(at.directory)?.spots.space?;
                if args[4] & SET_GROUP != 0 {
                    tree.share(space, Sharing::Peers);
                    return Some(Keys::new());
                }
                let on = file(walk(3)).filter(|_| !tree.spreads(space))?;
                let is_made = whole(call, 1, Moment::Enter).is_some_and(<[u8]>::is_empty)
                    && matches!(
                        call.files.argument(0),
                        Lookup::Open(file) if file.kind == FileKind::Object(Object::Mount)
                    );
                let what = match &walk(1)?.target {
                    _ if is_made => tree.new_file_system(false),
                    Target::At(spot) if !tree.is_mounted(*spot) => {
                        tree.copies_mount(space);
                        spot.node()
                    }
                    _ => return None,
                };
                Some(tree.mount(what, on, space, moment))
            }
            Change::Unmounts => {
                let space = self.directories.get(at.directory)?.spots.space?;
                let spot = file(walk(0)).filter(|_| !tree.spreads(space))?;
                if name == "umount2" && args[1] & DETACH != 0 {
                    tree.part_mount(spot);
                }
                tree.unmount(spot, space, moment)
            }
            Change::OpensTree | Change::SetsMounts => {
                if change == Change::OpensTree && args[2] & CLONE != 0 {
                    tree.part(file(walk(1))?.node());
                }
                if name == "open_tree" || name == "open_tree_attr" && args[3] == 0 {
                    return Some(Keys::new());
                }
                // `struct mount_attr`: `attr_set`, `attr_clr`, `propagation`, `userns_fd`.
                const RECURSIVE: u64 = 0x8000;
                let space = self.directories.get(at.directory)?.spots.space?;
                let group = whole(call, 3, Moment::Enter).and_then(|it| it.get(16..24));
                let group = u64::from_ne_bytes(group?.try_into().ok()?);
                let is_whole = name == "mount_setattr" && args[2] & RECURSIVE != 0;
                let from = walk(1).and_then(|walked| file(Some(walked)));
                set_group(tree, space, group, from.filter(|_| is_whole));
                // Of one that is attached nowhere there may be a copy by now.
                tree.copies_mount(space);
                Some(Keys::new())
            }
        }
    }

    /// Where the address of a socket leads: its path, and to what; `None` without a path.
    pub(super) fn socket_path(
        &self,
        tree: &mut Tree,
        (at, place): (At, usize),
        call: &Call,
        pending: &Pending,
    ) -> Option<(Vec<u8>, Walked)> {
        const UNIX: u16 = 1;
        let named = addressed(call, "sendmsg").filter(|_| call.name() == Some("sendmsg"));
        let path = match &named {
            Some(Addressed::At(SocketAddress::Path(path))) => path,
            Some(_) => return None,
            None => {
                let Some(address) = whole(call, place, Moment::Enter) else {
                    return Some((Vec::new(), Walked::unknown(Why::Unread)));
                };
                let (family, path) = address.split_first_chunk()?;
                if u16::from_ne_bytes(*family) != UNIX {
                    return None;
                }
                path.split(|byte| *byte == 0).next()?
            }
        };
        if path.is_empty() {
            return None;
        }
        let is_steady = pending.version.is_some() && self.steady(at) == pending.version;
        let directory = self.directories.get(at.directory).filter(|_| is_steady);
        let spots = directory
            .map(|directory| directory.spots.clone())
            .unwrap_or_default();
        let walked = match (spots.current, spots.root, spots.space) {
            (Some(current), Some(root), Some(space)) => {
                let start = Start {
                    from: Ok(current),
                    doubt: spots.doubt,
                    root,
                };
                let sees = Sees {
                    tables: self,
                    thread: at.thread,
                };
                let way = Way {
                    follows: call.name() != Some("bind"),
                    ..Way::default()
                };
                tree.walk(&start, path, way, space, &sees)
            }
            _ => Walked::unknown(Why::Start),
        };
        Some((path.to_vec(), walked))
    }
}

/// Flags that make mounts shared, private, followers or such as cannot be copied.
const OF_GROUPS: u64 = SHARED | SLAVE | PRIVATE | UNBINDABLE;
const UNBINDABLE: u64 = 1 << 17;
const PRIVATE: u64 = 1 << 18;
const SLAVE: u64 = 1 << 19;
const SHARED: u64 = 1 << 20;

/// Puts mounts of a space into groups or takes them out of theirs: all that are below `from`, where
/// that is said.
fn set_group(tree: &mut Tree, space: Space, flags: u64, from: Option<Spot>) {
    match (
        flags & SHARED != 0,
        flags & (PRIVATE | UNBINDABLE) != 0,
        from,
    ) {
        (true, ..) => tree.share(space, Sharing::Alone),
        (false, true, Some(from)) => tree.unshare(space, from),
        // Those that follow others may still do so.
        _ => {}
    }
}

/// Forgets what a change may have done: it is not known whether it took place.
fn forget_names(
    tree: &mut Tree,
    (thread, name): (ThreadId, &'static str),
    change: Change,
    pending: &Pending,
) -> Option<Keys> {
    if matches!(
        change,
        Change::Mounts
            | Change::MovesMount
            | Change::Unmounts
            | Change::OpensTree
            | Change::SetsMounts
            | Change::Binds
    ) {
        return None;
    }
    let moment = tree.now();
    let mut keys = Keys::new();
    for (_, walked) in &pending.walks {
        tree.relies_on(thread, walked, name);
        if walked.target == Target::Unknown(Why::Raced) {
            return None;
        }
        let (folder, name) = walked.last.as_ref()?;
        tree.forget((folder.node(), name), moment);
        keys.push((folder.node(), name.clone()));
    }
    (!keys.is_empty()).then_some(keys)
}
