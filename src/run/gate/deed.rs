//! A call that is held, in the form in which expectations look at calls.

use crate::trace::{Builder, Deed, Reached, Value, View};
use perf_live::gate::{Held, Look, Paths, Start, Streams, name_of};
use perf_live::host::Host;
use perf_records::units::{Nanos, Pid, Tid};
use std::io;
use syscall_model::files::FileKind;
use syscall_model::memory::Memory;
use syscall_model::names;
use syscall_model::{
    Actor, Call, Entry, Observation, Outcome, Shares, ShortName, Signatures, ThreadId,
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
    } = maker;
    let process = host.process_of(held.thread).unwrap_or(held.thread);
    let actor = Actor {
        thread: ThreadId(0),
        pid: Pid(process),
        tid: Tid(process),
        comm: ShortName::new(&host.name_of(process).unwrap_or_default()),
    };
    let entry = Entry::Seen {
        time: Nanos(1),
        args: held.native_words(),
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
        abi: held.abi,
        number: held.number,
        entry,
        is_answered: false,
    });
    tell(Observation::Call(Call {
        actor,
        abi: held.abi,
        number: held.number,
        entry,
        outcome: Outcome::Missing,
        memory: memory.clone(),
        files: Default::default(),
        places: Default::default(),
        injected: Default::default(),
    }));
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
    let name = names::name_of(held.abi, held.number).unwrap_or_default();
    let mut place = Place {
        host,
        view,
        held,
        is_of_queue: name.starts_with("mq_"),
        streams,
        paths,
    };
    let mut directory = None;
    for part in &mut deed.fields {
        let before = directory.take();
        match &mut part.value {
            Value::UnknownFile { number, .. } => {
                directory = Some(*number);
                part.value = place.descriptor(*number);
            }
            Value::File { number, .. } => directory = Some(*number),
            Value::Path {
                given,
                absolute,
                reached,
            } if given.is_empty() => {
                (*absolute, *reached) = place.beside(before);
            }
            Value::Path {
                given,
                absolute,
                reached,
            } => {
                // Its first argument is no folder.
                let from = before.filter(|_| name != "inotify_add_watch");
                (*absolute, *reached) = place.path(&place.spelled(given), from);
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
        let name = match queue {
            Some(queue) => FileKind::Queue(queue.into()).word(),
            None => self.in_directory(name),
        };
        let reached = match name.starts_with(b"/") || name.starts_with(b"$DIR") {
            true => Reached::Known {
                names: vec![name.clone()],
                is_led: false,
            },
            false => Reached::Nowhere,
        };
        Value::File {
            number,
            description: None,
            name,
            reached,
        }
    }

    /// The file that an empty path means: that of the descriptor in front of it
    /// (`AT_EMPTY_PATH`).
    fn beside(&mut self, descriptor: Option<i32>) -> (Option<Vec<u8>>, Reached) {
        match descriptor {
            Some(number) if number != libc::AT_FDCWD => match self.descriptor(number) {
                Value::File { name, reached, .. } => (Some(name), reached),
                _ => (None, Reached::Unknown("its descriptor was not read".into())),
            },
            _ => self.path(b".", None),
        }
    }

    fn path(&mut self, given: &[u8], directory: Option<i32>) -> (Option<Vec<u8>>, Reached) {
        let thread = self.held.thread;
        let from = match directory {
            Some(number) if number != libc::AT_FDCWD => self.host.descriptor_link(thread, number),
            _ => self.host.directory_of(thread),
        };
        let Ok(from) = from else {
            let why = "its folder could not be read while it was held";
            return (None, Reached::Unknown(why.into()));
        };
        let absolute = match given.starts_with(b"/") {
            true => given.to_vec(),
            false => [from.as_slice(), b"/", given].concat(),
        };
        let absolute = without_dots(&absolute);
        let folder = directory.unwrap_or(libc::AT_FDCWD);
        let start = match self.is_rooted() {
            Ok(true) => Start::in_folder(self.host, thread, folder),
            Ok(false) => Start::of(self.host, thread, folder, given),
            Err(error) => Err(error),
        };
        let reached = match start.and_then(|start| self.paths.resolve(start, given)) {
            Ok(name) => {
                let is_led = name != absolute;
                Reached::Known {
                    names: vec![self.in_directory(name)],
                    is_led,
                }
            }
            // Nothing is there: the path leads where it says.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Reached::Known {
                names: vec![self.in_directory(absolute.clone())],
                is_led: false,
            },
            Err(error) => {
                let why = format!("where it leads could not be read while it was held: {error}");
                Reached::Unknown(why.into())
            }
        };
        (Some(self.in_directory(absolute)), reached)
    }

    /// Whether the folder of the call's path is its root (`RESOLVE_IN_ROOT` of `openat2(2)`).
    fn is_rooted(&mut self) -> io::Result<bool> {
        let held = self.held;
        if names::name_of(held.abi, held.number) != Some("openat2") {
            return Ok(false);
        }
        let [_, _, how, ..] = held.native_words();
        let look = Look {
            host: self.host,
            held,
            paths: &mut *self.paths,
            is_rooted: false,
        };
        // struct open_how: flags, mode, resolve.
        Ok(look.word(how.wrapping_add(16))? & libc::RESOLVE_IN_ROOT != 0)
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
