//! What stands in a trace for the values that mean nothing outside their run.

use super::render::Writer;
use crate::syscall::files::{Lookup, OpenFile};
use crate::syscall::mappings::Place;
use crate::syscall::select::glob_matches;
use crate::syscall::{ThreadId, UNREAD, Values, Varying, write_escaped, write_string};
use std::collections::HashMap;
use std::fmt::Write;

/// Pipes, sockets and their like by the order in which the text names them.
#[derive(Debug, Default)]
pub(super) struct Things {
    numbers: HashMap<u64, u32>,
    of_class: HashMap<&'static str, u32>,
    temporary: Vec<Vec<u8>>,
}

impl Things {
    fn number(&mut self, class: &'static str, thing: u64) -> u32 {
        *self.numbers.entry(thing).or_insert_with(|| {
            let last = self.of_class.entry(class).or_default();
            *last += 1;
            *last
        })
    }

    fn temporary(&mut self, name: &[u8]) -> usize {
        let known = self.temporary.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.temporary.push(name.to_owned());
            self.temporary.len() - 1
        });
        place + 1
    }
}

/// The ports that Linux gives to sockets that ask for none (`net.ipv4.ip_local_port_range`), unless the machine is set up otherwise.
const CHOSEN_PORTS: std::ops::RangeInclusive<i128> = 32768..=60999;

impl Writer<'_> {
    pub(super) fn person(&mut self, thread: Option<ThreadId>, id: i32, out: &mut String) {
        if let Some(name) = thread.and_then(|thread| self.names.get(&thread)) {
            self.rules.insert("tasks");
            let _always_fits = write!(out, "{name}");
        } else if id <= 0 {
            out.push_str(&id.to_string());
        } else {
            self.rules.insert("foreign-tasks");
            out.push_str("<pid>");
        }
    }

    /// The same bytes with `$DIR` for the working directory, as the text has it.
    fn without_directory(&mut self, bytes: &[u8]) -> Vec<u8> {
        let replaced = self.in_directory(bytes);
        if replaced != bytes {
            self.rules.insert("directory");
        }
        replaced
    }

    /// The same bytes with `$DIR` for the working directory.
    pub(super) fn in_directory(&self, bytes: &[u8]) -> Vec<u8> {
        let directory = self.view.directory.as_deref().unwrap_or_default();
        let mut rest = bytes;
        let mut replaced = Vec::with_capacity(bytes.len());
        while let Some(at) = find(rest, directory.as_bytes()) {
            let (before, from) = rest.split_at(at);
            replaced.extend_from_slice(before);
            replaced.extend_from_slice(b"$DIR");
            rest = from.get(directory.len()..).unwrap_or_default();
        }
        replaced.extend_from_slice(rest);
        replaced
    }

    /// The same bytes with `$DIR` for the working directory and a number for each temporary name.
    fn stable(&mut self, bytes: &[u8]) -> Vec<u8> {
        let bytes = self.without_directory(bytes);
        let is_temporary = |name: &&[u8]| {
            let globs = &self.view.temporary;
            globs.iter().any(|glob| glob_matches(glob.as_bytes(), name))
        };
        if !bytes
            .split(|byte| *byte == b'/')
            .any(|name| is_temporary(&name))
        {
            return bytes;
        }
        let mut replaced = Vec::new();
        for (place, name) in bytes.split(|byte| *byte == b'/').enumerate() {
            if place > 0 {
                replaced.push(b'/');
            }
            if is_temporary(&name) {
                let number = self.things.temporary(name);
                replaced.extend_from_slice(format!("<temporary:{number}>").as_bytes());
            } else {
                replaced.extend_from_slice(name);
            }
        }
        self.rules.insert("temporary");
        replaced
    }

    fn write_file(&mut self, file: &OpenFile, out: &mut String) {
        let name = match file.class() {
            Some(class) => file.name_as(self.things.number(class, file.thing)),
            None => {
                let (first, name) = (file.name_as(1), file.name());
                // The number behind it is no part of its name.
                let number = name.strip_prefix(first.as_slice()).unwrap_or_default();
                [self.stable(&first).as_slice(), number].concat()
            }
        };
        out.push('<');
        write_escaped(out, &name);
        out.push('>');
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    if wanted.is_empty() {
        return None;
    }
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

impl Values for Writer<'_> {
    fn task(&mut self, id: i32, out: &mut String) {
        let thread = self.trace.ids.inner(id, self.moment);
        self.person(thread, id, out);
    }

    fn unread(&mut self, out: &mut String) {
        self.unread += 1;
        out.push_str(UNREAD);
    }
    fn address(&mut self, _: u64, out: &mut String) {
        self.rules.insert("addresses");
        out.push_str("<addr>");
    }

    fn mapping(&mut self, address: u64, place: Option<&Place>, out: &mut String) {
        let Some(place) = place else {
            return self.address(address, out);
        };
        self.rules.insert("mappings");
        let name = place.mapping.name();
        let behind = self.mappings.behind_name(place, &name);
        let name = self.without_directory(&name);
        out.push('<');
        write_escaped(out, &name);
        out.push_str(&behind);
        out.push('>');
    }

    /// What it refers to; the number as well where it means something by itself, or nothing else is known.
    fn descriptor(&mut self, number: i32, file: Lookup<'_>, out: &mut String) {
        match file {
            Lookup::Open(file) => {
                if (0..=2).contains(&number) {
                    out.push_str(&number.to_string());
                } else {
                    self.rules.insert("descriptors");
                }
                self.write_file(file, out);
            }
            Lookup::Unknown => {
                let _always_fits = write!(out, "{number}<?>");
            }
            Lookup::Closed | Lookup::Untracked => out.push_str(&number.to_string()),
        }
    }

    fn string(&mut self, bytes: &[u8], out: &mut String) {
        let bytes = self.stable(bytes);
        write_string(out, &bytes);
    }

    fn varying(&mut self, what: Varying, number: i128, out: &mut String) -> bool {
        let (rule, text) = match what {
            Varying::Port if !CHOSEN_PORTS.contains(&number) => {
                out.push_str(&number.to_string());
                return true;
            }
            Varying::Time => ("times", "<time>"),
            Varying::Duration => ("durations", "<duration>"),
            Varying::Size => ("sizes", "<size>"),
            Varying::Port => ("ports", "<port>"),
            Varying::Machine => ("machine", "<machine>"),
            Varying::Cookie => ("cookies", "<cookie>"),
        };
        self.rules.insert(rule);
        out.push_str(text);
        false
    }

    fn varying_hex(&mut self, what: Varying, number: u64, out: &mut String) {
        self.varying(what, number.into(), out);
    }

    fn contents(&self) -> usize {
        self.view.contents
    }
}
