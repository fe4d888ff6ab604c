//! A call that is held, in the form in which expectations look at calls.

use crate::trace::{Builder, Deed, Reached, Value, View};
use perf_live::gate::{Aliases, Held, Paths, Start, Streams, Wanted, name_of};
use perf_live::host::Host;
use perf_records::units::{Nanos, Pid, Tid};
use std::os::fd::AsFd;
use std::sync::Arc;
use syscall_model::files::{FileKind, Way, path_from};
use syscall_model::many::read_as;
use syscall_model::memory::Memory;
use syscall_model::names;
use syscall_model::pointers;
use syscall_model::{
    self as model, Actor, Call, Entry, Observation, Outcome, Shares, ShortName, Signatures,
    ThreadId,
};

/// The workload's first process, `P1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Main {
    /// How many pid namespaces lie between the harness and it.
    pub(super) level: usize,
    /// Its pid there; `None` where that was not told.
    pub(super) id: Option<i32>,
}

impl Main {
    /// Whether a process is it; `None` where that is not known.
    fn is(self, host: &Host, process: u32) -> Option<bool> {
        let status = host.process(Pid(process))?;
        Some(*status.ids.get(self.level)? == self.id?)
    }
}

/// A number that no process of a trace has.
const NOT_THE_FIRST: u32 = 0;

/// What a call's deed is made of.
pub(super) struct Maker<'a> {
    pub(super) host: &'a Host,
    pub(super) signatures: &'a Signatures<'a>,
    pub(super) view: &'a View,
    /// The first process, where a fault asks for it.
    pub(super) main: Option<Main>,
    /// What the workload was started with as standard input, output and error.
    pub(super) streams: Option<&'a Streams>,
    pub(super) paths: &'a mut Paths,
    /// The other names of files.
    pub(super) aliases: &'a Arc<Aliases>,
}

/// The call's deed. What its paths and descriptors refer to is as procfs has it at this moment.
/// `None` where it is not known enough of.
pub(super) fn of(maker: Maker<'_>, (held, memory): (&Held, &Memory)) -> Option<Deed> {
    let Maker {
        host,
        signatures,
        view,
        main,
        streams,
        paths,
        aliases,
    } = maker;
    let process = host.process_of(held.thread).unwrap_or(held.thread);
    let actor = Actor {
        thread: ThreadId(0),
        pid: Pid(process),
        tid: Tid(process),
        comm: ShortName::new(&host.name_of(process).unwrap_or_default()),
    };
    let made = (held.abi, held.number);
    let ((abi, number), words) = read_as(made, held.native_words(), memory);
    let entry = Entry::Seen {
        time: Nanos(1),
        args: words,
    };
    let mut builder = Builder::new(true);
    let mut tell = |observation| builder.observe(&observation, |_| true);
    tell(Observation::Born {
        child: actor,
        parent: None,
        shares: Shares::default(),
    });
    tell(Observation::Entered {
        actor,
        abi,
        number,
        entry,
        is_answered: false,
    });
    let mut memory = memory.clone();
    pointers::widen(abi, number, &mut memory);
    let call = Call {
        actor,
        abi,
        number,
        entry,
        outcome: Outcome::Missing,
        memory,
        files: Default::default(),
        places: Default::default(),
        injected: Default::default(),
    };
    let name = names::name_of(abi, number).unwrap_or_default();
    let ways = (0..6).map(|place| Some((path_from(name, place)?, Way::of(&call, place))));
    let ways: Vec<Option<(Option<u8>, Option<Way>)>> = ways.collect();
    tell(Observation::Call(call));
    let trace = builder.finish().normalise(view, signatures);
    let mut deed = trace
        .blocks
        .into_iter()
        .flat_map(|block| block.deeds)
        .next()?;
    if let Some(main) = main
        && !main.is(host, process)?
    {
        deed.task.process = NOT_THE_FIRST;
    }
    let mut place = Place {
        host,
        view,
        held,
        is_of_queue: name.starts_with("mq_"),
        streams,
        paths,
        aliases,
    };
    for (part, way) in deed.fields.iter_mut().zip(ways) {
        match &mut part.value {
            Value::UnknownFile { number, .. } => part.value = place.descriptor(*number),
            Value::Path {
                given,
                absolute,
                reached,
            } => {
                let Some((from, way)) = way else {
                    continue;
                };
                let from = from.and_then(|from| words.get(usize::from(from)));
                let from = from.map(|number| *number as i32);
                (*absolute, *reached) = match way {
                    None => (None, Reached::Unknown("its flags were not read".into())),
                    Some(way) if given.is_empty() => place.beside(from, way),
                    Some(way) => place.path(&place.spelled(given), from, way),
                };
            }
            _ => {}
        }
    }
    Some(deed)
}

struct Place<'a> {
    host: &'a Host,
    view: &'a View,
    held: &'a Held,
    /// Whether it is a call on message queues, whose links are those of paths.
    is_of_queue: bool,
    streams: Option<&'a Streams>,
    paths: &'a mut Paths,
    aliases: &'a Arc<Aliases>,
}

impl Place<'_> {
    fn descriptor(&self, number: i32) -> Value {
        let name = match name_of(self.host, (self.held.thread, number), self.streams) {
            Ok(name) => name.unwrap_or_default(),
            Err(_) => {
                return Value::UnknownFile {
                    number,
                    description: None,
                };
            }
        };
        let queue = name.strip_prefix(b"/").filter(|_| self.is_of_queue);
        let (name, names) = match queue {
            Some(queue) => (FileKind::Queue(queue.into()).word(), Vec::new()),
            None if name.starts_with(b"/") => {
                let mut names = vec![name.clone()];
                let place = self.host.place_of(self.held.thread, number);
                if let (false, Ok(place)) = (self.aliases.is_empty(), place) {
                    self.aliases.add_of_file(&mut names, place.as_fd());
                }
                (self.in_directory(name), names)
            }
            None => (name, Vec::new()),
        };
        let reached = match names.is_empty() {
            false => Reached::Known {
                names: names.into_iter().map(|it| self.in_directory(it)).collect(),
                is_led: false,
            },
            true => Reached::Nowhere,
        };
        Value::File {
            number,
            description: None,
            name,
            reached,
        }
    }

    /// The file that an empty path means: that of the descriptor in front of it
    /// (`AT_EMPTY_PATH`), if the call takes it so.
    fn beside(&mut self, descriptor: Option<i32>, way: Way) -> (Option<Vec<u8>>, Reached) {
        let (absolute, reached) = match descriptor {
            Some(number) if number != libc::AT_FDCWD => match self.descriptor(number) {
                Value::File { name, reached, .. } => (Some(name), reached),
                _ => (None, Reached::Unknown("its descriptor was not read".into())),
            },
            _ if way.takes_empty => return self.path(b".", None, way),
            _ => (None, Reached::Untold),
        };
        match way.takes_empty {
            true => (absolute, reached),
            // Nothing is there: no file has an empty name.
            false => (
                absolute,
                Reached::Known {
                    names: Vec::new(),
                    is_led: false,
                },
            ),
        }
    }

    /// The path from the root, and which file it reaches.
    fn path(
        &mut self,
        given: &[u8],
        directory: Option<i32>,
        way: Way,
    ) -> (Option<Vec<u8>>, Reached) {
        let (host, thread) = (self.host, self.held.thread);
        let folder = directory.unwrap_or(libc::AT_FDCWD);
        let start = match way.in_root {
            true => Start::in_folder(host, thread, folder),
            false => Start::of(host, thread, folder, given),
        };
        let from = match directory {
            _ if given.starts_with(b"/") => start.as_ref().ok().and_then(|it| it.root_name().ok()),
            Some(number) if number != libc::AT_FDCWD => host.descriptor_link(thread, number).ok(),
            _ => host.directory_of(thread).ok(),
        };
        let (Some(from), Ok(start)) = (from, start) else {
            let why = "its folder could not be read while it was held";
            return (None, Reached::Unknown(why.into()));
        };
        let absolute = without_dots(&[from.as_slice(), b"/", given].concat());
        let wanted = Wanted {
            thread,
            start,
            path: given.to_vec(),
            way,
            streams: self.streams.copied(),
            aliases: Arc::clone(self.aliases),
        };
        let reached = match self.paths.reach(wanted) {
            Ok(reached) => self.told(&reached),
            Err(error) => {
                let why = format!("where it leads could not be read while it was held: {error}");
                Reached::Unknown(why.into())
            }
        };
        (Some(self.in_directory(absolute)), reached)
    }

    fn told(&self, reached: &model::Reached) -> Reached {
        match (reached.names(), reached) {
            (None, _) => Reached::Untold,
            (Some(Err(why)), _) => Reached::Unknown(why.to_string().into()),
            (Some(Ok(names)), model::Reached::Known { is_led, .. }) => Reached::Known {
                names: names
                    .iter()
                    .map(|name| self.in_directory(name.to_vec()))
                    .collect(),
                is_led: *is_led,
            },
            (Some(Ok(_)), _) => Reached::Nowhere,
        }
    }

    /// A path as the call has it, of one as the trace shows it: the working directory in place of
    /// `$DIR`, and one dollar less where the path itself begins so.
    fn spelled(&self, shown: &[u8]) -> Vec<u8> {
        let dollars = shown.iter().take_while(|byte| **byte == b'$').count();
        let rest = shown
            .get(dollars..)
            .and_then(|rest| rest.strip_prefix(b"DIR"));
        let is_like = rest.filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
        match (dollars, is_like) {
            (1, Some(rest)) => {
                let directory = self.view.directory.as_deref().unwrap_or_default();
                [directory.as_bytes(), rest].concat()
            }
            (2.., Some(_)) => shown.get(1..).unwrap_or_default().to_vec(),
            _ => shown.to_vec(),
        }
    }

    fn in_directory(&self, name: Vec<u8>) -> Vec<u8> {
        let directory = self
            .view
            .directory
            .as_deref()
            .unwrap_or_default()
            .as_bytes();
        match name.strip_prefix(directory) {
            Some(rest) if rest.is_empty() || rest.starts_with(b"/") => {
                [b"$DIR".as_slice(), rest].concat()
            }
            _ => name,
        }
    }
}

/// A path from the root without empty parts and `.`.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|byte| *byte == b'/');
    let parts = parts.filter(|part| !part.is_empty() && *part != b".");
    let joined: Vec<u8> = parts
        .flat_map(|part| [b"/".as_slice(), part].concat())
        .collect();
    match joined.is_empty() {
        true => b"/".to_vec(),
        false => joined,
    }
}
