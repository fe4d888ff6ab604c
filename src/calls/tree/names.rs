//! The names of files: those of before the run, and all that they had.

use super::Space;
use super::node::{NodeId, ROOT, Spot, Tree};
use super::walk::{NoMagic, Start, Target};
use crate::files::Way;

/// At most this many names are compared.
const MOST_NAMES: usize = 64;

impl Tree {
    /// Where a path led before the run.
    pub(crate) fn before(&mut self, path: &[u8]) -> Option<Spot> {
        match self.walk_before(path, true) {
            Target::At(spot) => Some(spot),
            _ => None,
        }
    }

    pub(super) fn walk_before(&mut self, path: &[u8], follows: bool) -> Target {
        let start = Start {
            from: Ok(self.root()),
            doubt: None,
            root: self.root(),
        };
        let way = Way {
            follows,
            ..Way::default()
        };
        self.walk(&start, path, way, Space::FIRST, &NoMagic).target
    }

    /// Gives the file behind a path this path as a name, where links lead there.
    pub(super) fn alias(&mut self, path: &[u8]) {
        let parts = path.split(|byte| *byte == b'/');
        let is_clean = !parts.clone().any(|part| matches!(part, b".." | b"."));
        for follows in [false, true] {
            let Target::At(spot) = self.walk_before(path, follows) else {
                continue;
            };
            // A name that hangs on no folder hangs on the root.
            let name = path.strip_prefix(b"/").unwrap_or(path);
            if is_clean
                && !self
                    .names(spot.node)
                    .iter()
                    .flatten()
                    .any(|it| **it == *path)
            {
                self.link(spot.node, ROOT, name);
            }
        }
    }

    /// Looks at what was laid out and may have several names, so that all of these are known.
    pub(super) fn survey(&mut self, folder: &[u8]) {
        self.walk_before(folder, false);
        let mut names = self.ground.to_survey(folder);
        // Folder by folder, the last name first.
        let is_slash = |byte: &u8| *byte == b'/';
        names.sort_by(|one, other| other.split(is_slash).cmp(one.split(is_slash)));
        for name in names {
            self.walk_before(&name, false);
        }
    }

    /// Every absolute path that a file was seen to have; `None` where there are too many.
    pub(crate) fn names(&self, node: NodeId) -> Option<Vec<Box<[u8]>>> {
        let mut found = Vec::new();
        self.gather(node, &mut Vec::new(), &mut found)?;
        found.reverse();
        Some(found)
    }

    fn gather(
        &self,
        node: NodeId,
        on_the_way: &mut Vec<NodeId>,
        found: &mut Vec<Box<[u8]>>,
    ) -> Option<()> {
        if node == ROOT && on_the_way.is_empty() {
            found.push(Box::from(&b"/"[..]));
        }
        on_the_way.push(node);
        for (folder, name) in &self.node(node).links {
            // A folder that was mounted within itself has its shorter names.
            if on_the_way.contains(folder) {
                continue;
            }
            let mut above = Vec::new();
            if *folder == ROOT {
                above.push(Box::default());
            }
            self.gather(*folder, on_the_way, &mut above)?;
            for folder in above {
                let path: Box<[u8]> = [&folder, &b"/"[..], name].concat().into();
                if !found.contains(&path) {
                    found.push(path);
                }
                if found.len() > MOST_NAMES {
                    return None;
                }
            }
        }
        on_the_way.pop();
        Some(())
    }
}
