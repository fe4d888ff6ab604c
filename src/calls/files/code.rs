//! The files that the kernel executes for a call. The call names the program alone: the interpreter
//! behind `#!` and the loader are named in the files, and told by what the kernel maps
//! (`load_elf_binary()`).

use super::super::tree::{Reached, Start, Target, Tree, Why};
use super::super::{Call, ThreadId};
use super::calls::{self, Effect};
use super::effects::Ended;
use super::pending::Pending;
use super::sees::Sees;
use super::tables::{At, Tables};
use super::way::Way;

/// A file that the kernel mapped as code when a program was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The name by which it may be executed and that leads to it ([`Tables::allow`]); else its path
    /// as the process sees it (`d_path()`).
    pub path: Box<[u8]>,
    /// Which file it is.
    pub reached: Reached,
    /// What it is to the program.
    pub role: CodeRole,
}

/// What a file of code is to the program that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRole {
    /// The program itself.
    Program,
    /// What the kernel executes in its place: what its `#!` line names, or `binfmt_misc`.
    Interpreter,
    /// What the kernel starts first, and what loads the rest: `PT_INTERP` of an ELF file.
    Loader,
}

/// What the kernel adds to the path of a file that has no name any more (`d_path()`).
pub(super) const DELETED: &[u8] = b" (deleted)";

/// The beginning of what it calls a file in memory.
const MEMORY: &[u8] = b"/memfd:";

impl Tables {
    /// Follows by which of these names an interpreter or a loader may be meant: absolute paths, and
    /// folders with a slash behind them, any of whose files may be.
    #[must_use]
    pub fn allow(mut self, programs: Vec<Vec<u8>>) -> Self {
        self.programs = programs;
        self
    }

    /// The kernel mapped a file as code for a thread that executes a program.
    pub fn mapped(&mut self, thread: ThreadId, path: &[u8]) {
        // The kernel's own code (`[vdso]`), and memory.
        let is_file = path.starts_with(b"/") && !path.starts_with(b"//anon");
        let has_names = self.tree.is_some();
        if let Some(thread) = self.thread(thread).filter(|_| is_file && has_names) {
            // A file may have several segments of code.
            if !thread.code.iter().any(|known| **known == *path) {
                thread.code.push(path.into());
            }
        }
    }

    /// Puts into a call that has executed a program what the kernel mapped for it.
    pub(super) fn tells_code(&mut self, at: At, call: &mut Call, pending: &Pending) {
        let executes = calls::plan(call.abi, call.number).effect == Effect::Executes;
        let has_done = matches!(Ended::of(&call.outcome), Ended::With(_));
        let Some(thread) = self.thread(at.thread).filter(|_| executes && has_done) else {
            return;
        };
        let paths = std::mem::take(&mut thread.code);
        let Some(mut tree) = self.tree.take() else {
            return;
        };
        let mut all = Vec::new();
        for path in &paths {
            let mut code = self.code_at(&mut tree, at, path, pending);
            if !all.is_empty() {
                code.role = CodeRole::Loader;
            }
            all.push(code);
        }
        call.files.set_code(all);
        self.tree = Some(tree);
    }

    fn code_at(&self, tree: &mut Tree, at: At, path: &[u8], pending: &Pending) -> Code {
        let mut code = Code {
            path: path.into(),
            reached: Reached::Unknown(Why::Unread),
            role: CodeRole::Interpreter,
        };
        let program = pending.walks.first().map(|(_, walked)| &walked.target);
        if path.starts_with(MEMORY) && path.ends_with(DELETED) {
            if program == Some(&Target::Nowhere) {
                code.role = CodeRole::Program;
            }
            code.reached = Reached::Nowhere;
            return code;
        }
        let directory = self.directories.get(at.directory);
        let spots = directory.map(|it| it.spots.clone()).unwrap_or_default();
        let (Some(root), Some(space)) = (spots.root, spots.space) else {
            code.reached = Reached::Unknown(Why::Start);
            return code;
        };
        let sees = Sees {
            tables: self,
            thread: at.thread,
        };
        let start = Start {
            from: Ok(root),
            doubt: None,
            root,
        };
        let way = Way {
            follows: true,
            ..Way::default()
        };
        let mut go = |path: &[u8]| tree.walk(&start, path, way, space, &sees);
        let mut walked = go(path);
        if let Target::Unknown(why) = walked.target {
            code.reached = Reached::Unknown(why);
            return code;
        }
        let Target::At(spot) = walked.target else {
            // It has no name any more, or the kernel did not tell it (`//toolong`).
            let had = path.strip_suffix(DELETED).unwrap_or_default();
            if let Some(Target::At(program)) = program
                && let Some(names) = tree.names(program.node())
                && names.iter().any(|name| **name == *had)
            {
                code.role = CodeRole::Program;
            }
            return code;
        };
        let is_it = |target: &Target| matches!(target, Target::At(it) if it.node() == spot.node());
        if program.is_some_and(is_it) {
            code.role = CodeRole::Program;
        } else {
            let leads = |name: &Vec<u8>| {
                let walked = go(name);
                is_it(&walked.target) && !walked.is_led
            };
            let own = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let mut names = self.programs.iter().map(|name| match name.ends_with(b"/") {
                true => [name, own].concat(),
                false => name.clone(),
            });
            if let Some(name) = names.find(leads) {
                code.path = name.into();
            }
        }
        code.reached = match tree.is_raced(&walked.keys, pending.since, true) {
            true => Reached::Unknown(Why::Raced),
            false => tree.reached_by(at.thread, &mut walked, false),
        };
        code
    }
}
