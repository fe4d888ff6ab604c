//! The scenario that reproduces a state on which the recovery failed.

use super::CrashError;
use crate::crash::{Kind, NodeId, Tree};
use crate::run::{Bench, Item};
use crate::scenario::{Remnant, recovery};
use crate::verdict::Failure;
use perf_live::files;
use perf_records::units::shown;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What the first line of such a scenario begins with.
const WRITTEN: &str = "# Written by `harness crash`: ";

/// The mode that a folder has in a scenario.
const FOLDER: u32 = 0o755;

/// A state on which the recovery failed, as its power cut left it.
#[derive(Clone, Debug)]
pub struct Remains {
    /// What became of it.
    pub failure: Failure,
    /// What the recovery was told, by the name of its file.
    pub told: Vec<(&'static str, Vec<u8>)>,
    pub(super) item: Item,
    pub(super) tree: Tree,
}

/// A scenario that reproduces a state.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// Its file's name, and that of the folder with its files, without `.yaml`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The names and the bytes of the files of that folder.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Remains {
    /// The first line of the scenarios that are written of a scenario.
    #[must_use]
    pub fn first_line(&self) -> String {
        format!("{WRITTEN}{}", shown(&self.item.name))
    }

    /// Returns the scenario that lays this state out and runs the recovery on it.
    ///
    /// # Errors
    /// [`CrashError::Unwritten`] where the state has what no scenario lays out;
    /// [`CrashError::Text`].
    pub fn scenario(&self, bench: &Bench<'_>) -> Result<Reproduction, CrashError> {
        let number = self.failure.state;
        let place = self.item.file.file_stem().unwrap_or_default();
        let row = match self.item.row.as_str() {
            "" => String::new(),
            row => format!("[{row}]"),
        };
        let name = format!("{}{row}-state-{number:03}", place.to_string_lossy());
        let mut found = Vec::new();
        let mut walk = Walk {
            tree: &self.tree,
            seen: BTreeSet::new(),
            found: &mut found,
        };
        walk.folder(self.tree.root, "")
            .map_err(CrashError::Unwritten)?;
        let told = self.told.iter();
        found.extend(told.map(|(name, bytes)| ((*name).to_owned(), bytes.clone(), 0o644)));
        let (mut remnants, mut copies) = (Vec::new(), Vec::new());
        for (place, (path, bytes, mode)) in found.into_iter().enumerate() {
            // By number: a copy is no scenario, whatever the file's name.
            let copy = (place + 1).to_string();
            remnants.push(Remnant {
                path,
                from: PathBuf::from(&name).join(&copy),
                mode,
            });
            copies.push((copy, bytes));
        }
        let text = files::text(&self.item.file, files::SCENARIO);
        let text = text.map_err(|error| CrashError::Unfit(error.to_string()))?;
        let of = (self.item.file.as_path(), &*text, self.item.row.as_str());
        let description = format!("the recovery of {} from state {number}", self.item.name);
        let text = recovery(of, &bench.programs, &description, &remnants)
            .map_err(|complaint| CrashError::Text(Box::new(complaint)))?;
        Ok(Reproduction {
            text: format!("{}\n{}{text}", self.first_line(), self.comment()),
            name,
            files: copies,
        })
    }

    /// What the state is, as comments.
    fn comment(&self) -> String {
        let behind = self.failure.behind.as_deref();
        let cut = behind.unwrap_or("the start");
        let lost = self.failure.lost.iter().map(|lost| format!("lost: {lost}"));
        let lines = [format!("power cut behind {cut}")].into_iter().chain(lost);
        lines.map(|line| format!("# {}\n", shown(&line))).collect()
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    seen: BTreeSet<NodeId>,
    /// Path, bytes and mode of each file.
    found: &'a mut Vec<(String, Vec<u8>, u32)>,
}

impl Walk<'_> {
    /// Finds the files of a folder; says what a scenario cannot lay out.
    fn folder(&mut self, id: NodeId, above: &str) -> Result<(), String> {
        let tree = self.tree;
        let owner = |id: NodeId| {
            let attributes = tree.nodes.get(&id).map(|node| &node.attributes);
            attributes.map(|it| (it.owner, it.group))
        };
        let entries = tree.nodes.get(&id).and_then(|node| node.entries());
        for (name, child) in entries.into_iter().flatten() {
            let name = std::str::from_utf8(name).map_err(|_| "a name is no text".to_owned())?;
            let path = match above {
                "" => name.to_owned(),
                _ => format!("{above}/{name}"),
            };
            let Some(node) = tree.nodes.get(child) else {
                continue;
            };
            if owner(*child) != owner(tree.root) {
                return Err(format!("`{path}` has another owner"));
            }
            if !node.attributes.xattrs.is_empty() {
                return Err(format!("`{path}` has extended attributes"));
            }
            match &node.kind {
                Kind::Folder(entries) if entries.is_empty() => {
                    return Err(format!("`{path}` is an empty folder"));
                }
                Kind::Folder(_) if node.attributes.mode != FOLDER => {
                    return Err(format!("the folder `{path}` has another mode than 0755"));
                }
                Kind::Folder(_) => self.folder(*child, &path)?,
                Kind::File(_) if !self.seen.insert(*child) => {
                    return Err(format!("`{path}` is another name of a file"));
                }
                Kind::File(content) => {
                    let mode = node.attributes.mode;
                    self.found.push((path, content.to_vec(), mode));
                }
                Kind::Link(_) | Kind::Other { .. } => {
                    return Err(format!("`{path}` is no regular file"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::{Content, Node};

    fn walked(root: Node, others: Vec<(NodeId, Node)>) -> Result<Vec<String>, String> {
        let tree = Tree::new(NodeId(0), [(NodeId(0), root)].into_iter().chain(others));
        let mut found = Vec::new();
        let mut walk = Walk {
            tree: &tree,
            seen: BTreeSet::new(),
            found: &mut found,
        };
        walk.folder(NodeId(0), "")?;
        Ok(found.into_iter().map(|(path, ..)| path).collect())
    }

    #[test]
    fn what_no_scenario_can_lay_out_is_said() {
        let (one, two) = (NodeId(1), NodeId(2));
        let names = |names: &[(&str, NodeId)]| {
            let names = names.iter();
            Node::folder(names.map(|(name, id)| (name.as_bytes().to_vec(), *id)))
        };
        let file = || Node::file(Content::new(b"x".to_vec()));
        let mut folder = names(&[("f", two)]);
        folder.attributes.mode = FOLDER;
        let deep = walked(
            names(&[("d", one)]),
            vec![(one, folder.clone()), (two, file())],
        );
        assert_eq!(deep, Ok(vec!["d/f".to_owned()]));
        folder.attributes.mode = 0o700;
        let mut link = file();
        link.kind = Kind::Link(b"f".to_vec());
        let mut foreign = file();
        foreign.attributes.owner = 9;
        for (root, others, why) in [
            (
                names(&[("d", one)]),
                vec![(one, folder), (two, file())],
                "another mode",
            ),
            (
                names(&[("d", one)]),
                vec![(one, Node::folder([]))],
                "an empty folder",
            ),
            (
                names(&[("a", one), ("b", one)]),
                vec![(one, file())],
                "another name of a file",
            ),
            (names(&[("a", one)]), vec![(one, link)], "no regular file"),
            (names(&[("a", one)]), vec![(one, foreign)], "another owner"),
        ] {
            let said = walked(root, others).expect_err(why);
            assert!(said.contains(why), "{said}");
        }
    }
}
