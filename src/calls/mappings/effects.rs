//! What calls do to address spaces: when they are entered, and when they return.

use super::super::files::Lookup;
use super::super::pool::Key;
use super::super::{Call, Outcome};
use super::calls::Effect;
use super::maps::{Maps, Pending};
use super::place::Source;
use super::space::{Heap, Owner, Range, Segment, Taken};

// The same on all machines of `Abi`.
// Of `MAP_SHARED_VALIDATE` too.
const MAP_SHARED: u64 = libc::MAP_SHARED as u64;
const MAP_FIXED: u64 = libc::MAP_FIXED as u64;
const MAP_ANONYMOUS: u64 = libc::MAP_ANONYMOUS as u64;
const MREMAP_FIXED: u64 = libc::MREMAP_FIXED as u64;
const MREMAP_DONTUNMAP: u64 = libc::MREMAP_DONTUNMAP as u64;
const SHM_REMAP: u64 = libc::SHM_REMAP as u64;
// Commands of ipc(2): include/uapi/linux/ipc.h.
const SHMAT: u64 = 21;
const SHMDT: u64 = 22;

/// With these `mmap(2)` fails before it takes away what was there; with others it may have done
/// that (`mmap_region()`).
const HARMLESS: [i64; 5] = [
    libc::EBADF as i64,
    libc::EACCES as i64,
    libc::EPERM as i64,
    libc::EINVAL as i64,
    libc::EEXIST as i64,
];

/// What a call takes away wherever it succeeds.
fn is_fixed(effect: Effect, args: &[u64; 6]) -> bool {
    match effect {
        Effect::Maps => args[3] & MAP_FIXED != 0,
        Effect::Remaps => args[3] & MREMAP_FIXED != 0,
        _ => false,
    }
}

impl Maps {
    /// The range that a call with a fixed address replaces.
    fn target(&self, effect: Effect, args: &[u64; 6]) -> Option<Range> {
        match effect {
            _ if !is_fixed(effect, args) => None,
            Effect::Maps => Some(Range::new(args[0], self.page_up(args[1]))),
            Effect::Remaps => Some(Range::new(args[4], self.page_up(args[2]))),
            _ => None,
        }
    }

    /// What a call takes away from now on.
    pub(super) fn begin(&mut self, key: Key, effect: Effect, args: &[u64; 6]) -> Taken {
        let Some(space) = self.spaces.get(key) else {
            return Taken::new();
        };
        let source = Range::new(args[0], self.page_up(args[1]));
        let range = match effect {
            Effect::Unmaps | Effect::Remaps if args[0] & (self.page() - 1) == 0 => Some(source),
            Effect::Maps => self
                .target(effect, args)
                .filter(|range| space.owner(*range) == Owner::None),
            Effect::Detaches => space
                .whole(args[0])
                .filter(|(_, mapping)| mapping.source == Source::Shared)
                .map(|(range, _)| range),
            _ => None,
        };
        match range {
            Some(range) if range.start < range.end => {
                self.change(key, range, |space| space.take(range))
            }
            _ => Taken::new(),
        }
    }

    /// A call is over: what it changed, and where its result lies.
    pub(super) fn end(&mut self, key: Key, effect: Effect, pending: Pending, call: &mut Call) {
        let value = match call.outcome {
            Outcome::Returned { value, .. } if !(-4095..0).contains(&value) => value as u64,
            Outcome::Returned { value: error, .. } => {
                return self.failed(key, effect, pending, -error);
            }
            Outcome::Interrupted { errno, .. } | Outcome::Restarted { errno, .. } => {
                return self.failed(key, effect, pending, errno.into());
            }
            Outcome::Refused { .. } => {
                return self.failed(key, effect, pending, libc::ENOSYS.into());
            }
            Outcome::Untold { .. } | Outcome::NeverReturned | Outcome::Missing => {
                return self.forget_target(key, effect, &pending);
            }
        };
        match (effect, &pending.args) {
            (Effect::None | Effect::MakesTask, _) => {}
            (Effect::Breaks, args) => {
                self.set_break(key, args.map(|args| args[0]), value);
            }
            (Effect::Ipc, Some(args)) if !matches!(args[0] & 0xffff, SHMAT | SHMDT) => {}
            (Effect::Ipc | Effect::Anything, _) | (_, None) => {
                let all = Range::EVERYTHING;
                self.change(key, all, |space| space.forget(all));
            }
            (_, Some(args)) => self.succeeded(key, effect, args, (value, pending.taken), call),
        }
        let space = self.spaces.get(key);
        let found = space.and_then(|space| match effect {
            Effect::Breaks => space.find_break(value),
            Effect::Maps | Effect::Remaps | Effect::Attaches | Effect::MapsShadowStack => {
                space.find(value)
            }
            _ => None,
        });
        call.places.set_result(found);
    }

    fn succeeded(
        &mut self,
        key: Key,
        effect: Effect,
        args: &[u64; 6],
        (value, taken): (u64, Taken),
        call: &Call,
    ) {
        match effect {
            Effect::Maps => {
                let source = match call.files.argument(4) {
                    _ if args[3] & MAP_ANONYMOUS != 0 => Source::Anonymous,
                    Lookup::Open(file) => Source::File(file.clone()),
                    Lookup::Closed | Lookup::Unknown | Lookup::Untracked => Source::UnknownFile,
                };
                let range = Range::new(value, self.page_up(args[1]));
                let is_shared = args[3] & MAP_SHARED != 0;
                let space = self.spaces.get(key).filter(|_| is_fixed(effect, args));
                let owner = space.map_or(Owner::None, |space| match space.owner(range) {
                    Owner::One if !space.takes_in(value, &source, is_shared) => Owner::None,
                    owner => owner,
                });
                match owner {
                    Owner::One => {}
                    Owner::Unknown => self.change(key, range, |space| space.forget(range)),
                    Owner::None => self.map(key, range, (source, is_shared)),
                }
            }
            Effect::MapsShadowStack => {
                let range = Range::new(value, self.page_up(args[1]));
                self.map(key, range, (Source::Anonymous, false));
            }
            Effect::Attaches => {
                if args[2] & SHM_REMAP != 0 {
                    let above = Range {
                        start: value,
                        ..Range::EVERYTHING
                    };
                    self.change(key, above, |space| space.forget(above));
                }
                // How large the segment is only shmget(2) knows; it has one page at least.
                let range = Range::new(value, self.page());
                self.map(key, range, (Source::Shared, true));
            }
            Effect::Unmaps => {
                if let Some(space) = self.spaces.get_mut(key) {
                    space.rebase(&taken);
                }
            }
            Effect::Remaps => self.moved(key, args, value, taken),
            _ => {}
        }
    }

    fn failed(&mut self, key: Key, effect: Effect, pending: Pending, error: i64) {
        if let Some(space) = self.spaces.get_mut(key) {
            space.put_back(pending.taken.clone());
        }
        if !HARMLESS.contains(&error) || effect == Effect::Remaps {
            self.forget_target(key, effect, &pending);
        }
    }

    /// Forgets what is in the range that a call was to replace.
    fn forget_target(&mut self, key: Key, effect: Effect, pending: &Pending) {
        let target = pending
            .args
            .as_ref()
            .and_then(|args| self.target(effect, args));
        if let Some(range) = target {
            self.change(key, range, |space| space.forget(range));
        }
    }

    fn map(&mut self, key: Key, range: Range, source: (Source, bool)) {
        let mapping = self.new_mapping(source, range.end.saturating_sub(range.start));
        let segment = Segment {
            end: range.end,
            base: range.start,
            mapping: Some(mapping),
        };
        self.change(key, range, |space| space.put(range.start, segment));
    }

    /// `mremap(2)`: what was taken, cut or lengthened, and where it is now.
    fn moved(&mut self, key: Key, args: &[u64; 6], value: u64, taken: Taken) {
        let [old, old_length, new_length, flags, _, _] = *args;
        let (old_length, new_length) = (self.page_up(old_length), self.page_up(new_length));
        let range = Range::new(value, new_length);
        let distance = value.wrapping_sub(old);
        let stays = flags & MREMAP_DONTUNMAP != 0;
        // A size of 0 asks for the same pages a second time.
        let moving = match self.spaces.get(key) {
            Some(space) if old_length == 0 => space.segment(old).into_iter().collect(),
            _ => taken.clone(),
        };
        let old_end = old.saturating_add(old_length);
        self.change(key, range, |space| {
            space.take(range);
            for (start, segment) in moving {
                // The last one grows with the range.
                let grows = segment.end == old_end || old_length == 0;
                let end = match segment.end.wrapping_add(distance) {
                    _ if grows => range.end,
                    end => end.min(range.end),
                };
                let segment = Segment {
                    end,
                    base: segment.base.wrapping_add(distance),
                    ..segment
                };
                space.put(start.wrapping_add(distance), segment);
            }
            if stays {
                space.put_back(taken);
            }
        });
    }

    fn set_break(&mut self, key: Key, asked: Option<u64>, now: u64) {
        let Some(space) = self.spaces.get(key) else {
            return;
        };
        let heap = match space.heap.clone() {
            // It is where it was: nothing was asked for, or it was refused.
            Heap::Unasked if asked == Some(0) || asked.is_some_and(|asked| asked != now) => {
                let mapping = self.new_mapping((Source::Heap, false), 0);
                Heap::Known {
                    mapping,
                    start: now,
                    end: now,
                }
            }
            Heap::Known {
                mapping,
                start,
                end,
            } if now >= start => {
                let (before, after) = (self.page_up(end), self.page_up(now));
                let range = Range {
                    start: before.min(after),
                    end: before.max(after),
                };
                let segment = Segment {
                    end: range.end,
                    base: start,
                    mapping: Some(mapping.clone()),
                };
                if before < after {
                    self.change(key, range, |space| space.put(range.start, segment));
                } else if before > after {
                    self.change(key, range, |space| drop(space.take(range)));
                }
                Heap::Known {
                    mapping,
                    start,
                    end: now,
                }
            }
            _ => Heap::Unknown,
        };
        if let Some(space) = self.spaces.get_mut(key) {
            space.heap = heap;
        }
    }
}
