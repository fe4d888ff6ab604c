//! The arguments of a call: their names and types are the running kernel's, by its tracepoints'
//! formats.

use super::kinds::{self, ArgKind, ReturnKind};
use super::layout::{Layout, Word, layout};
use super::meaning::{self, Depends};
use super::names::{self, Abi};
use super::pointers;
use super::relatives;
use super::structs::StructKind;
use perf_records::format::{Field, Format, Shape, Width};
use std::sync::{Arc, OnceLock};

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The kernel's name for it.
    pub name: Arc<str>,
    /// What its value is.
    pub kind: ArgKind,
    /// The name that such an argument has in all calls; see [`Signature::place_of`].
    pub alias: Option<&'static str>,
    /// Whether the call has no such argument, and does what the native one does for its word.
    pub is_implied: bool,
}

/// The form of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its arguments; six words of no known meaning where the kernel has no tracepoint for the
    /// call.
    pub arguments: Vec<Argument>,
    /// What it returns.
    pub returns: ReturnKind,
    /// What of this depends on the words of a call; `None` for nothing.
    pub depends: Option<Depends>,
    /// The name of the call that it describes.
    pub name: &'static str,
    /// The arguments that are pointers for some commands only.
    pub by_command: Vec<usize>,
    /// Whether it has arguments that its registers do not tell: those of `socketcall` are in
    /// memory.
    pub hides: bool,
    /// Whether what it returns is not what the native call returns whose form it has.
    pub hides_result: bool,
}

/// What the words of one call are, by its command and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meanings {
    /// What each of its words is.
    pub arguments: [ArgKind; 6],
    /// How many of them mean something to this call.
    pub shown: usize,
    /// Those of them that the call does not have, a bit each.
    pub implied: u8,
    /// What its result is.
    pub returns: ReturnKind,
}

impl Meanings {
    /// The arguments that mean something: where they stand and what they are.
    pub fn meant(&self) -> impl Iterator<Item = (usize, ArgKind)> {
        let all = self.arguments.iter().copied().enumerate().take(self.shown);
        all.filter(|(_, kind)| *kind != ArgKind::Unused)
    }

    /// Those of them that the call has.
    pub fn shown(&self) -> impl Iterator<Item = (usize, ArgKind)> {
        let is_implied = |place: usize| self.implied >> place & 1 == 1;
        self.meant().filter(move |(place, _)| !is_implied(*place))
    }
}

impl Signature {
    /// Returns the place of the argument with this name: the kernel's own name, or else an alias,
    /// which says what the argument is.
    ///
    /// | alias | of a call that has one such argument, under whatever name |
    /// |---|---|
    /// | `path` | a path |
    /// | `from`, `to` | the first and the second of two paths |
    /// | `target` | what a symbolic link is to say |
    /// | `dir` | the descriptor that the path is relative to |
    /// | `fd` | a descriptor, where there is no path |
    /// | `flags`, `mode`, `signal`, `pid`, `length` | these |
    /// | `data` | what is read or written |
    /// | `address` | the address of a socket |
    #[must_use]
    pub fn place_of(&self, word: &str) -> Option<usize> {
        let place = |is: &dyn Fn(&Argument) -> bool| self.arguments.iter().position(is);
        place(&|argument| *argument.name == *word)
            .or_else(|| place(&|argument| argument.alias == Some(word)))
    }

    /// What the words of a call of this form are.
    #[must_use]
    pub fn meanings(&self, words: &[u64; 6]) -> Meanings {
        let mut arguments = [ArgKind::Word; 6];
        let mut implied = 0;
        for (place, (to, argument)) in arguments.iter_mut().zip(&self.arguments).enumerate() {
            *to = argument.kind;
            implied |= u8::from(argument.is_implied) << place;
        }
        let mut meanings = Meanings {
            arguments,
            shown: self.arguments.len(),
            implied,
            returns: self.returns,
        };
        if let Some(depends) = self.depends {
            depends.resolve(words, &mut meanings);
        }
        for place in &self.by_command {
            let kind = pointers::by_command(self.name, *place, words);
            if let (Some(kind), Some(to)) = (kind, meanings.arguments.get_mut(*place)) {
                *to = kind;
            }
        }
        meanings
    }
}

/// A source of formats by tracepoint name within the system `syscalls`; `None` for what is not
/// there.
type FormatSource<'a> = dyn Fn(&str) -> Option<Arc<Format>> + Send + Sync + 'a;

/// The signatures of a kernel's calls, each read when it is first asked for.
pub struct Signatures<'a> {
    source: Box<FormatSource<'a>>,
    native: Vec<OnceLock<Signature>>,
    foreign: std::sync::Mutex<std::collections::HashMap<(Abi, i32), Arc<Signature>>>,
    unknown: Signature,
}

// Far above any number in use; a number beyond has no name either.
const NATIVE_NUMBERS: usize = 1024;

impl std::fmt::Debug for Signatures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signatures").finish_non_exhaustive()
    }
}

impl<'a> Signatures<'a> {
    /// Takes the formats from this source.
    #[must_use]
    pub fn new(source: Box<FormatSource<'a>>) -> Self {
        Self {
            source,
            native: std::iter::repeat_with(OnceLock::new)
                .take(NATIVE_NUMBERS)
                .collect(),
            foreign: std::sync::Mutex::default(),
            unknown: six_words(),
        }
    }

    /// Calls `with` with the signature of a call.
    pub fn with<R>(&self, abi: Abi, number: i32, with: impl FnOnce(&Signature) -> R) -> R {
        let place = usize::try_from(number)
            .ok()
            .filter(|_| abi == Abi::native());
        if let Some(slot) = place.and_then(|place| self.native.get(place)) {
            return with(slot.get_or_init(|| self.read(abi, number)));
        }
        let Ok(mut foreign) = self.foreign.lock() else {
            return with(&self.unknown);
        };
        let known = foreign
            .entry((abi, number))
            .or_insert_with(|| Arc::new(self.read(abi, number)));
        let signature = Arc::clone(known);
        drop(foreign);
        with(&signature)
    }

    fn read(&self, abi: Abi, number: i32) -> Signature {
        let Some(name) = names::name_of(abi, number) else {
            return six_words();
        };
        let native = Abi::native();
        let natives = relatives::natives(native, name);
        let like = natives.first().copied().unwrap_or(name);
        let formats = names::tracefs_names(like);
        let mut formats = formats.filter_map(|event| (self.source)(&format!("sys_enter_{event}")));
        let is_foreign = abi != native;
        let known = match formats.next() {
            Some(format) => from_format(like, &format),
            None => Signature {
                returns: kinds::return_kind(like),
                hides: is_foreign,
                hides_result: is_foreign && relatives::is_many(name),
                ..six_words()
            },
        };
        match layout(abi, number) {
            _ if relatives::is_many(name) => of_many(known),
            Some(layout) => known.laid_out(*layout),
            None => known,
        }
    }
}

impl Signature {
    /// The same for a convention in which the arguments come from elsewhere, in registers of 32
    /// bits.
    fn laid_out(mut self, layout: Layout) -> Self {
        let fallback = if layout.rest {
            None
        } else {
            Some(Word::Unknown)
        };
        for (place, argument) in self.arguments.iter_mut().enumerate() {
            let word = layout.words.get(place).copied().or(fallback);
            match (word, argument.kind) {
                (Some(Word::Unknown), _) => {
                    *argument = nothing();
                    self.hides = true;
                }
                (Some(Word::Both(..) | Word::Pages(_)), _) => {}
                (Some(Word::Is(_)), _) => argument.is_implied = true,
                (_, ArgKind::Long | ArgKind::Offset) => argument.kind = ArgKind::Int,
                _ => {}
            }
        }
        if self.hides {
            (self.depends, self.by_command) = (None, Vec::new());
        }
        self.hides_result |= !layout.returns;
        self
    }
}

/// An argument without any description.
fn nothing() -> Argument {
    Argument {
        name: "".into(),
        kind: ArgKind::Unused,
        alias: None,
        is_implied: false,
    }
}

/// `socketcall` and `ipc`: which operation it is stands in the name, and the rest is its own
/// affair.
fn of_many(known: Signature) -> Signature {
    Signature {
        arguments: Vec::new(),
        depends: None,
        by_command: Vec::new(),
        hides: true,
        hides_result: false,
        returns: ReturnKind::Number,
        ..known
    }
}

fn from_format(name: &'static str, format: &Format) -> Signature {
    // Kernels from 6.19 on add the contents behind pointers as further fields, `__data_loc`, under
    // names with two underscores.
    let fields = format
        .fields
        .iter()
        .filter(|field| !field.name.starts_with("__"));
    let arguments = fields.enumerate().map(|(place, field)| Argument {
        name: field.name.as_str().into(),
        kind: kind(name, place, field),
        alias: None,
        is_implied: false,
    });
    let mut arguments: Vec<_> = arguments.take(6).collect();
    add_aliases(&mut arguments);
    Signature {
        name,
        by_command: pointers::places_by_command(name).collect(),
        depends: meaning::depends(name, &arguments),
        arguments,
        returns: kinds::return_kind(name),
        hides: false,
        hides_result: false,
    }
}

fn add_aliases(arguments: &mut [Argument]) {
    let aliases = aliases(arguments);
    for (place, alias) in aliases {
        if let Some(argument) = arguments.get_mut(place) {
            argument.alias = Some(alias);
        }
    }
}

/// Whether an argument is what an alias stands for.
type IsSuch<'a> = &'a dyn Fn(&Argument) -> bool;

fn aliases(arguments: &[Argument]) -> Vec<(usize, &'static str)> {
    let all = |is: IsSuch<'_>| -> Vec<usize> {
        let places = (0..).zip(arguments).filter(|(_, it)| is(it));
        places.map(|(place, _)| place).collect()
    };
    let paths = all(&|it| it.kind == ArgKind::Path);
    let mut aliases = match *paths {
        [path] => vec![(path, "path")],
        [from, to] => vec![(from, "from"), (to, "to")],
        _ => Vec::new(),
    };
    let descriptor = if paths.is_empty() { "fd" } else { "dir" };
    let is_target = |it: &Argument| it.kind == ArgKind::Text && !paths.is_empty();
    let is_address = |it: &Argument| it.kind == ArgKind::Struct(StructKind::SocketAddress);
    let rules: [(&'static str, IsSuch<'_>); 9] = [
        (descriptor, &|it| it.kind == ArgKind::Fd),
        ("target", &is_target),
        ("flags", &|it| it.name.contains("flag")),
        ("mode", &|it| it.kind == ArgKind::Octal),
        ("signal", &|it| it.kind == ArgKind::Signal),
        ("pid", &|it| it.kind == ArgKind::Pid),
        ("length", &|it| it.kind == ArgKind::Size),
        ("data", &|it| it.kind == ArgKind::Buffer),
        ("address", &is_address),
    ];
    for (alias, is) in rules {
        if let [place] = *all(is) {
            aliases.push((place, alias));
        }
    }
    aliases
}

/// What the argument is, and whether its C type leaves half of the register without a meaning.
fn kind(name: &str, place: usize, field: &Field) -> ArgKind {
    match (
        kinds::arg_kind(name, place, &field.name, &field.c_type),
        field.shape,
    ) {
        (ArgKind::Hex, Shape::Integer(integer)) if integer.width <= Width::W4 => ArgKind::Hex32,
        (kind, _) => kind,
    }
}

fn six_words() -> Signature {
    let argument = |place| Argument {
        name: format!("arg{place}").into(),
        kind: ArgKind::Word,
        alias: None,
        is_implied: false,
    };
    Signature {
        arguments: (0..6).map(argument).collect(),
        returns: ReturnKind::Number,
        hides: false,
        hides_result: false,
        depends: None,
        name: "",
        by_command: Vec::new(),
    }
}
