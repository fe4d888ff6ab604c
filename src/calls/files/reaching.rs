//! Which files the paths and descriptors of calls reached.

use super::super::tree::{
    Change, Doubt, Ground, New, Reached, Start, Target, Tree, Walked, Where, Why, change,
};
use super::super::{Call, Entry, address_place};
use super::arguments::PathArgument;
use super::directory::{Doubted, join, own_changes};
use super::effects::Ended;
use super::file::{FileKind, OpenFile};
use super::lookup::Lookup;
use super::opening::{open_flags, whole};
use super::pending::Pending;
use super::sees::Sees;
use super::tables::{At, Tables};
use super::way::{FIRST_PATH, Way};
use crate::memory::{Moment, State as Read};

const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const UNNAMED: u64 = 0o20_000_000;

/// What the paths of a call led to, by their arguments.
pub(super) type Walks = Vec<(u8, Walked)>;

impl Tables {
    /// Follows the names of files as well, over what was there before. What these paths lead to has
    /// them for names.
    #[must_use]
    pub fn over(mut self, ground: Box<dyn Ground>, aliases: &[Vec<u8>]) -> Self {
        let directory = self.initial.directory.clone().unwrap_or_default();
        self.tree = Some(Box::new(Tree::new(ground, &directory, aliases)));
        self
    }

    /// A call is entered: the moment, and what its descriptors refer to.
    pub(super) fn reaches(&mut self, at: At, name: Option<&'static str>, pending: &mut Pending) {
        let Some(tree) = &mut self.tree else { return };
        pending.since = tree.now();
        if name.and_then(change).is_some_and(Change::is_of_others) {
            tree.begins(at.thread);
        }
        for place in 0..6 {
            if let Lookup::Open(file) = pending.files.argument(place) {
                let reached = reached(tree, file);
                let anchored = match &file.place {
                    Where::At(spot, _) => tree.anchored_at(*spot),
                    _ => None,
                };
                pending.files.add_reached(place as u8, reached);
                pending.files.add_anchored(place as u8, anchored);
            }
        }
    }

    /// A call is over: where its paths led.
    pub(super) fn walks(
        &mut self,
        at: At,
        call: &mut Call,
        arguments: &[PathArgument],
        pending: &Pending,
    ) -> Walks {
        let Some(mut tree) = self.tree.take() else {
            return Walks::new();
        };
        let name = call.form().unwrap_or_default();
        let mut walks = Walks::new();
        let mut others = Vec::new();
        // What it binds to is told by its path as well.
        if name == "mount" {
            others.push(FIRST_PATH);
        }
        for argument in arguments.iter().chain(&others) {
            let walked = self.go(&mut tree, at, call, *argument, pending);
            walks.push((argument.path, walked));
        }
        let succeeded = matches!(Ended::of(&call.outcome), Ended::With(_));
        let opens = change(name) == Some(Change::Opens) && open_flags(call) & CREATE != 0;
        for (place, walked) in &mut walks {
            let is_raced = tree.is_raced(&walked.keys, pending.since, succeeded);
            let is_made = opens || matches!(change(name), Some(change) if change.makes(*place));
            let is_odd = match walked.target {
                Target::Absent => succeeded && !is_made,
                Target::Missing => succeeded,
                _ => false,
            };
            if is_raced {
                walked.target = Target::Unknown(Why::Raced);
            } else if is_odd {
                walked.target = Target::Unknown(Why::Contradiction);
            }
            let is_name = change(name).is_some_and(|change| change.is_of_name(*place));
            match walked.target {
                Target::At(spot) if !is_name && tree.is_strange(spot.node()) => {
                    walked.target = tree.strange(walked);
                }
                _ => {}
            }
            let mut supposed = None;
            if succeeded && tree.is_unseen(walked) {
                let change = change(name);
                let is_exclusive = match change {
                    Some(Change::Opens) => open_flags(call) & EXCLUSIVE != 0,
                    Some(Change::Renames(..)) => false,
                    _ => is_name,
                };
                if is_made && is_exclusive {
                    // It fails where something is.
                    walked.target = Target::Absent;
                } else if is_name {
                    let node = tree.unnamed(New::Unknown);
                    let folder = walked.last.as_ref().map(|(folder, _)| folder.of(node));
                    walked.target = folder.map_or(Target::Missing, Target::At);
                } else if change == Some(Change::Opens) {
                    supposed = tree.suppose(walked);
                }
            }
            let mut reached = tree.reached_by(at.thread, walked, is_name);
            if let (Some(supposed), Reached::Known { doubt, .. }) = (supposed, &mut reached)
                && doubt.replace(supposed).is_some()
            {
                // There are two doubts, of which one is told.
                walked.target = Target::Unknown(Why::Raced);
                reached = Reached::Unknown(Why::Raced);
            }
            call.files.add_reached(*place, reached);
            call.files.add_anchored(*place, tree.anchored(walked));
        }
        if let Some(place) = address_place(name).filter(|_| is_named_by(name))
            && let Some((_, mut walked)) = self.socket_path(&mut tree, (at, place), call, pending)
        {
            if tree.is_raced(&walked.keys, pending.since, succeeded) {
                walked.target = Target::Unknown(Why::Raced);
            }
            let reached = tree.reached_by(at.thread, &mut walked, false);
            call.files.add_reached(place as u8, reached);
            call.files.add_anchored(place as u8, tree.anchored(&walked));
        }
        self.tree = Some(tree);
        walks
    }

    fn go(
        &self,
        tree: &mut Tree,
        at: At,
        call: &Call,
        argument: PathArgument,
        pending: &Pending,
    ) -> Walked {
        let unknown = |why| Walked::unknown(why);
        let args = match call.entry {
            Entry::Seen { args, .. } | Entry::UnderWay { args, .. } => args,
            Entry::Uncorking => [u64::MAX; 6],
            Entry::Missing => return unknown(Why::Unread),
        };
        // The workload's own first execve was entered before anything was read, and tells its path
        // in the end.
        let told = || {
            let mut strings = call.memory.strings(usize::from(argument.path));
            let first = strings.next().filter(|piece| piece.state == Read::Whole)?;
            Some(&*first.bytes)
        };
        let path = match call.entry {
            Entry::Uncorking => told(),
            _ => whole(call, usize::from(argument.path), Moment::Enter),
        };
        let Some(path) = path else {
            // A null pointer is the file of the descriptor to some calls, and no file to all
            // others.
            return match args.get(usize::from(argument.path)) {
                Some(0) => self.of_descriptor(&args, argument, call),
                _ => unknown(Why::Unread),
            };
        };
        let Some(way) = Way::of(call, argument.path) else {
            return unknown(Why::Unread);
        };
        if path.is_empty() {
            return match way.takes_empty {
                true => self.of_descriptor(&args, argument, call),
                false => Walked::nothing(),
            };
        }
        let is_steady = pending.version.is_some()
            && self.steady(at) == pending.version.map(|before| before + own_changes(call));
        let directory = self.directories.get(at.directory).filter(|_| is_steady);
        let spots = directory
            .map(|directory| directory.spots.clone())
            .unwrap_or_default();
        let (Some(root), Some(space)) = (spots.root, spots.space) else {
            return unknown(Why::Start);
        };
        let (from, doubt) = match self.descriptor_of(&args, argument) {
            None => (spots.current.ok_or(Why::Start), spots.doubt),
            Some(place) => match call.files.argument(place) {
                Lookup::Open(file) => file.place.start(),
                Lookup::Closed if !path.starts_with(b"/") => return Walked::nothing(),
                _ => (Err(Why::Descriptor), None),
            },
        };
        let sees = Sees {
            tables: self,
            thread: at.thread,
        };
        let is_relative = !path.starts_with(b"/");
        let is_current = is_relative && self.descriptor_of(&args, argument).is_none();
        let base = match (&from, is_relative) {
            (Ok(from), true) => tree
                .names(from.node())
                .and_then(|names| names.first().cloned()),
            _ => Some(Box::default()),
        };
        let begin = Start { from, doubt, root };
        let mut walked = tree.walk(&begin, path, way, space, &sees);
        let start = self.initial.directory.as_deref().unwrap_or_default();
        walked.plain = base.map(|base| {
            let is_elsewhere = is_current && *base != *start;
            (join(&base, path, b"").into(), is_elsewhere)
        });
        walked
    }

    /// The argument that is a descriptor of a folder; `None` where it is the working directory.
    fn descriptor_of(&self, args: &[u64; 6], argument: PathArgument) -> Option<usize> {
        let place = usize::from(argument.directory?);
        (*args.get(place)? as i32 != libc::AT_FDCWD).then_some(place)
    }

    fn of_descriptor(&self, args: &[u64; 6], argument: PathArgument, call: &Call) -> Walked {
        let Some(place) = self.descriptor_of(args, argument) else {
            return Walked::nothing();
        };
        match call.files.argument(place) {
            Lookup::Open(file) => Walked::at(&file.place),
            Lookup::Closed => Walked::nothing(),
            _ => Walked::unknown(Why::Descriptor),
        }
    }

    /// The file that a call opened, made where it was not there.
    pub(super) fn opened_at(
        &mut self,
        call: &Call,
        argument: PathArgument,
        pending: &Pending,
    ) -> Where {
        let Some(tree) = &mut self.tree else {
            return Where::Unknown(Why::Descriptor);
        };
        let walks = pending.walks.iter();
        let Some((_, walked)) = walks.clone().find(|(place, _)| *place == argument.path) else {
            return Where::Unknown(Why::Unread);
        };
        let flags = open_flags(call);
        let doubt = || doubt_of(call, argument.path, walked);
        match (&walked.target, &walked.last) {
            (Target::At(spot), _) if flags & UNNAMED == UNNAMED => {
                Where::At(spot.of(tree.unnamed_in(spot.node())), doubt())
            }
            (Target::At(spot), _) => Where::At(*spot, doubt()),
            (Target::Absent, Some((folder, name))) => {
                let node = tree.unnamed(New::File);
                let moment = tree.now();
                tree.give((folder.node(), name), node, moment);
                Where::At(folder.of(node), doubt())
            }
            (Target::Nowhere, _) => Where::Nowhere,
            (Target::Unknown(why), _) => Where::Unknown(why.clone()),
            (Target::Absent | Target::Missing, _) => Where::Unknown(Why::Contradiction),
        }
    }

    /// Where a working or root directory is after it was changed to what an argument led to.
    pub(super) fn changed_to(pending: &Pending, call: &Call) -> Option<Doubted> {
        let (place, walked) = pending.walks.first()?;
        match &walked.target {
            Target::At(spot) => {
                let (at, doubt) = Where::At(*spot, doubt_of(call, *place, walked)).start();
                Some((at.ok()?, doubt))
            }
            _ => None,
        }
    }

    /// The run is over, and all of its calls were seen: settles what could not be known before.
    pub fn settle(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.settle();
        }
    }

    /// What a returned descriptor reached.
    pub(super) fn reached_result(&self, call: &mut Call) {
        let Some(tree) = &self.tree else { return };
        if let Lookup::Open(file) = call.files.result() {
            let reached = reached(tree, file);
            call.files.add_reached(super::lookup::RESULT as u8, reached);
        }
    }
}

/// What may still show that a path led elsewhere.
fn doubt_of(call: &Call, path: u8, walked: &Walked) -> Option<Doubt> {
    match call.files.reached(usize::from(path)) {
        Reached::Known { doubt, .. } => doubt.clone(),
        _ => walked.doubt.clone(),
    }
}

/// Whether a call names the address of a socket, which may be a path.
fn is_named_by(name: &str) -> bool {
    matches!(name, "bind" | "connect" | "sendmsg" | "sendto")
}

/// What a descriptor's file is called by now.
fn reached(tree: &Tree, file: &OpenFile) -> Reached {
    match &file.place {
        // Opened by a link of procfs, it is called as that was.
        Where::Nowhere if matches!(file.kind, FileKind::Path(_)) => Reached::Nowhere,
        Where::Nowhere => Reached::Untold,
        Where::Unknown(why) => Reached::Unknown(why.clone()),
        Where::At(..) if tree.why_lost().is_some() => {
            Reached::Unknown(tree.why_lost().unwrap_or(Why::Unread))
        }
        Where::At(spot, doubt) => match tree.names(spot.node()) {
            Some(names) => Reached::Known {
                names: names.into(),
                is_led: true,
                shown: None,
                doubt: doubt.clone(),
            },
            None => Reached::Unknown(Why::Names),
        },
    }
}
