//! Texts for values that mean nothing outside of their run.

use super::render::Writer;
use perf_records::glob::glob;
use std::collections::HashMap;
use std::fmt::Write;
use syscall_model::files::{FileKind, Lookup, OpenFile};
use syscall_model::mappings::Place;
use syscall_model::{Reached, ThreadId, UNREAD, Values, Varying, write_escaped, write_string};

/// Numbers pipes, sockets and similar files by the order in which the text names them.
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

/// The text for an address.
pub(super) const ADDRESS: &str = "<addr>";

const FOREIGN: &str = "<pid>";

/// The rule by which a number that is not the same in each run is left out, and the word in its
/// place.
const fn stand_in(what: Varying) -> (&'static str, &'static str) {
    match what {
        Varying::Time => ("times", "<time>"),
        Varying::Duration => ("durations", "<duration>"),
        Varying::Size => ("sizes", "<size>"),
        Varying::Port => ("ports", "<port>"),
        Varying::Machine => ("machine", "<machine>"),
        Varying::Cookie => ("cookies", "<cookie>"),
    }
}

/// The words in place of numbers in a structure.
pub(crate) const STAND_INS: [&str; 8] = [
    ADDRESS,
    FOREIGN,
    stand_in(Varying::Time).1,
    stand_in(Varying::Duration).1,
    stand_in(Varying::Size).1,
    stand_in(Varying::Port).1,
    stand_in(Varying::Machine).1,
    stand_in(Varying::Cookie).1,
];

impl Writer<'_> {
    pub(super) fn person(&mut self, thread: Option<ThreadId>, id: i32, out: &mut String) {
        if let Some(name) = thread.and_then(|thread| self.names.get(&thread)) {
            self.rules.insert("tasks");
            let _always_fits = write!(out, "{name}");
        } else if id <= 0 {
            out.push_str(&id.to_string());
        } else {
            self.rules.insert("foreign-tasks");
            out.push_str(FOREIGN);
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

    /// The same bytes with `$DIR` for the working directory, where they are its path and no part of
    /// a longer name: `/a/b` is neither in `/a/bc` nor in `/x/a/b`.
    pub(super) fn in_directory(&self, bytes: &[u8]) -> Vec<u8> {
        let directory = self.view.directory.as_deref().unwrap_or_default();
        let mut rest = bytes;
        let mut replaced = Vec::with_capacity(bytes.len());
        if is_like_directory(bytes) {
            replaced.push(b'$');
        }
        while let Some(at) = find(rest, directory.as_bytes()) {
            let (before, from) = rest.split_at(at);
            let behind = from.get(directory.len()..).unwrap_or_default();
            let begun = bytes.len() - from.len();
            replaced.extend_from_slice(before);
            let is_path = bytes.starts_with(b"/");
            let is_inner = is_path && begun > 0 && bytes.get(begun - 1).is_some_and(is_of_name);
            match is_inner || goes_on(behind) {
                true => replaced.extend_from_slice(directory.as_bytes()),
                false => replaced.extend_from_slice(b"$DIR"),
            }
            rest = behind;
        }
        replaced.extend_from_slice(rest);
        replaced
    }

    /// A path that begins with the working directory, or is it, with `$DIR` for that: `/a/b@tmp` is
    /// another folder than `/a/b`, though such a text may go on behind it.
    pub(super) fn path_in_directory(&self, path: &[u8]) -> Vec<u8> {
        let directory = self.view.directory.as_deref().unwrap_or_default();
        let below = path.strip_prefix(directory.as_bytes());
        let below = below.filter(|rest| matches!(rest.first(), None | Some(b'/')));
        match below.filter(|_| !directory.is_empty()) {
            Some(rest) => [b"$DIR", rest].concat(),
            None if is_like_directory(path) => [b"$", path].concat(),
            None => path.to_owned(),
        }
    }

    /// The same bytes with `$DIR` for the working directory and a number for each temporary name.
    fn stable(&mut self, bytes: &[u8]) -> Vec<u8> {
        let bytes = self.without_directory(bytes);
        let is_temporary = |name: &&[u8]| {
            let globs = &self.view.temporary;
            // A name that looks like the text for a temporary one gets a number of its own too.
            name.starts_with(b"<temporary:") || globs.iter().any(|pattern| glob(pattern, name))
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

    /// Whether a port is shown as it is; notes if it is not.
    fn shows_port(&mut self, port: i128) -> bool {
        let is_the_kernels =
            u16::try_from(port).is_ok_and(|port| self.trace.ports.is_the_kernels(port));
        self.hides_ports |= is_the_kernels;
        !is_the_kernels || self.shows_ports
    }

    /// Writes where a path led, if its own text does not say so.
    pub(super) fn led(&mut self, reached: &Reached, out: &mut String) {
        match reached.shown() {
            None => {}
            Some(Ok(path)) => {
                let path = self.stable(path);
                out.push_str(" -> ");
                write_string(out, &path);
            }
            Some(Err(why)) => {
                *self.unled.entry(why.to_string().into()).or_default() += 1;
                out.push_str(" -> ?");
            }
        }
    }

    fn write_file(&mut self, file: &OpenFile, out: &mut String) {
        let name = match file.class() {
            Some(class) => file.name_as(self.things.number(class, file.thing)),
            None => {
                let (first, name) = (file.name_as(1), file.name());
                // The number after it is no part of its name.
                let number = name.strip_prefix(first.as_slice()).unwrap_or_default();
                let stable = self.stable(&first);
                out.push('<');
                write_name(out, &stable, is_like_another(&file.kind, &stable));
                write_escaped(out, number);
                return out.push('>');
            }
        };
        out.push('<');
        write_escaped(out, &name);
        out.push('>');
    }
}

/// Whether a byte may be part of a name, and ends none in most texts.
fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'~' | 128..)
}

/// Whether a name goes on here; a dot may also end a sentence.
fn goes_on(behind: &[u8]) -> bool {
    match behind {
        [b'.', rest @ ..] => rest.first().is_some_and(is_of_name),
        behind => behind.first().is_some_and(is_of_name),
    }
}

/// Whether a string begins like the text for the working directory, with any number of dollars: it
/// gets one more.
fn is_like_directory(bytes: &[u8]) -> bool {
    let dollars = bytes.iter().take_while(|byte| **byte == b'$').count();
    let rest = bytes
        .get(dollars..)
        .and_then(|rest| rest.strip_prefix(b"DIR"));
    dollars > 0 && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Writes a name; in quotes if it would look like something else.
fn write_name(out: &mut String, name: &[u8], is_quoted: bool) {
    match is_quoted {
        true => write_string(out, name),
        false => write_escaped(out, name),
    }
}

/// Whether a name that a program chose looks like a name with a number, or like one without a path.
fn is_like_another(kind: &FileKind, name: &[u8]) -> bool {
    let is_delimited = name.iter().any(|byte| matches!(byte, b'<' | b'>' | b'"'));
    let is_free = match kind {
        // From the root, or from the text for the working directory.
        FileKind::Path(path) => !path.starts_with(b"/"),
        _ => false,
    };
    let is_word = || {
        let words: [&[u8]; 4] = [b"?", b"stdin", b"stdout", b"stderr"];
        words.contains(&name) || name.contains(&b':') || name.starts_with(b"$")
    };
    let is_unnamed = matches!(kind, FileKind::Path(_)) && name.ends_with(b"/#");
    is_delimited && !name.starts_with(b"<temporary:") && !has_temporary(name)
        || is_numbered(name)
        || is_unnamed
        || (is_free && is_word())
}

fn has_temporary(name: &[u8]) -> bool {
    find(name, b"/<temporary:").is_some()
}

/// Whether it ends like a name with a number behind it.
fn is_numbered(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    let before = name.get(..name.len().saturating_sub(digits));
    digits > 0 && before.is_some_and(|before| before.ends_with(b":"))
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
        out.push_str(ADDRESS);
    }

    fn mapping(&mut self, address: u64, place: Option<&Place>, out: &mut String) {
        let Some(place) = place else {
            return self.address(address, out);
        };
        self.rules.insert("mappings");
        let name = place.mapping.name();
        let behind = self.mappings.behind_name(place, &name);
        let name = self.stable(&name);
        let is_path = name.starts_with(b"/") || name.starts_with(b"$DIR");
        let is_quoted = is_path && (is_numbered(&name) || find(&name, b"+0x").is_some());
        out.push('<');
        write_name(out, &name, is_quoted);
        out.push_str(&behind);
        out.push('>');
    }

    /// Writes the file that it refers to; and the number if that has a meaning of its own, or the
    /// file is not known.
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
        if what == Varying::Port && self.shows_port(number) {
            out.push_str(&number.to_string());
            return true;
        }
        let (rule, text) = stand_in(what);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> FileKind {
        FileKind::Path(name.as_bytes().into())
    }

    fn is_quoted(kind: &FileKind, name: &str) -> bool {
        is_like_another(kind, name.as_bytes())
    }

    #[test]
    fn a_name_that_reads_like_another_with_a_number_is_in_quotes() {
        for name in ["/a/c:2", "/a/c:12", "/a/:1", "/a/#", "/a/<b", "/a/b>, 1"] {
            assert!(is_quoted(&path(name), name), "{name}");
        }
        for name in ["/a/c", "/a/c:", "/a/c:2x", "/a:2/c", "/a/c2", "/a/x#"] {
            assert!(!is_quoted(&path(name), name), "{name}");
        }
        let memory = FileKind::Memory(b"x:2".as_slice().into());
        assert!(is_quoted(&memory, "memfd:x:2"));
        assert!(!is_quoted(&memory, "memfd:x"));
    }

    #[test]
    fn a_path_of_nobody_knows_where_that_reads_like_a_stream_is_in_quotes() {
        for name in ["stdout", "?", "pipe:1 read", "memfd:x", "$DIR/x"] {
            assert!(is_quoted(&path(name), name), "{name}");
        }
        assert!(!is_quoted(&path("config"), "config"));
        let given = FileKind::Given(b"stdout".as_slice().into());
        assert!(!is_quoted(&given, "stdout"));
    }

    #[test]
    fn a_path_that_reads_like_the_working_directory_gets_a_dollar() {
        for name in ["$DIR", "$DIR/x", "$$DIR/x"] {
            assert!(is_like_directory(name.as_bytes()), "{name}");
        }
        for name in ["$DIRX", "x/$DIR", "DIR/x", "$", ""] {
            assert!(!is_like_directory(name.as_bytes()), "{name}");
        }
    }
}
