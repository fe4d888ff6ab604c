//! Steps in what is told of processes, whose links lead to what they have.

use super::Why;
use super::doubt::Doubt;
use super::node::{Processes, Spot};
use super::walk::{Leads, MOST_LINKS, Magic, Over, Target, Walker};
use crate::ThreadId;

impl Walker<'_> {
    /// A step in what is told of processes.
    pub(super) fn step_of_process(&mut self, what: Processes, part: Box<[u8]>) -> Result<(), Over> {
        let follows = !self.todo.is_empty() || self.way.follows || self.is_folder;
        let number = std::str::from_utf8(&part)
            .ok()
            .and_then(|text| text.parse().ok());
        let one = |thread: Option<ThreadId>| thread.map_or(Processes::Stranger, Processes::One);
        let next = match (what, &*part) {
            (Processes::All, b"self") if follows => one(self.magics.own(false)),
            (Processes::All, b"thread-self") if follows => one(self.magics.own(true)),
            (Processes::All, b"self" | b"thread-self") => Processes::Plain,
            (Processes::All, b"net" | b"mounts") if follows => Processes::Plain,
            (Processes::All, _) => match number {
                Some(id) => one(self.magics.by_id(id)),
                None => Processes::Plain,
            },
            (Processes::One(thread), b"fd") => Processes::Descriptors(thread),
            (Processes::One(thread), b"cwd") if follows => {
                return self.magic(thread, Magic::Current);
            }
            (Processes::One(thread), b"root") if follows => return self.magic(thread, Magic::Root),
            (Processes::One(thread), b"exe") if follows => {
                let led = self.magic(thread, Magic::Program);
                return match led {
                    Err(Target::Unknown(Why::Descriptor)) => Err(self.unseen(&part)),
                    led => led,
                };
            }
            (Processes::One(_), b"map_files" | b"task") => Processes::Stranger,
            (Processes::One(_), _) => Processes::Plain,
            (Processes::Descriptors(thread), _) if follows => match number {
                Some(number) => return self.magic(thread, Magic::Descriptor(number)),
                None => return Err(Target::Missing),
            },
            (Processes::Stranger, _) if follows && self.leads_away(&part) => {
                return Err(self.unseen(&part));
            }
            (Processes::Stranger, b"fd" | b"task" | b"map_files") => Processes::Stranger,
            (Processes::Stranger, _) if number.is_some() => Processes::Stranger,
            (Processes::Stranger, _) => Processes::Plain,
            (Processes::Descriptors(_) | Processes::Plain, _) => Processes::Plain,
        };
        self.at = Spot {
            node: self.tree.process_node(self.at.node, &part, next),
            ..self.at
        };
        Ok(())
    }

    /// Whether what a stranger has under a name is a link to some file.
    fn leads_away(&self, part: &[u8]) -> bool {
        let is_in = |folder: &[u8]| self.tree.is_called(self.at.node, folder);
        matches!(part, b"cwd" | b"root" | b"exe") || is_in(b"fd") || is_in(b"map_files")
    }

    fn magic(&mut self, thread: ThreadId, magic: Magic) -> Result<(), Over> {
        self.walked.is_led = true;
        self.links += 1;
        if self.way.no_links || self.links > MOST_LINKS {
            return Err(Target::Missing);
        }
        self.walked.last = None;
        match self.magics.leads(self.tree, thread, magic) {
            Leads::To(spot, doubt) if doubt.as_ref().is_none_or(Doubt::is_cleared) => {
                self.at = spot;
                Ok(())
            }
            Leads::To(..) => Err(Target::Unknown(Why::Raced)),
            Leads::Nowhere if self.todo.is_empty() => Err(Target::Nowhere),
            Leads::Nowhere | Leads::Missing => Err(Target::Missing),
            Leads::Unknown => Err(Target::Unknown(Why::Descriptor)),
        }
    }
}
