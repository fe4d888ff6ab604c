//! A folder of the disk as a tree.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use perf_live::sys::xattr;
use trace_harness::crash::{Attributes, Content, Kind, Node, NodeId, Tree};

/// Reads a folder with all in it; files with two names are one node.
pub(crate) fn read(folder: &Path) -> Result<Tree, Box<dyn Error>> {
    let mut known = BTreeMap::new();
    let mut tree = Tree::new(NodeId(0), []);
    tree.root = node(folder, &mut known, &mut tree)?;
    Ok(tree)
}

/// The attributes of a file that programs change.
fn xattrs(path: &Path) -> std::io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let names = xattr::names(path)?.into_iter();
    let names = names.filter(|name| Attributes::are_in_states(name));
    names
        .map(|name| {
            let value = xattr::value(path, &name)?;
            Ok((name, value))
        })
        .collect()
}

fn node(
    path: &Path,
    known: &mut BTreeMap<u64, NodeId>,
    tree: &mut Tree,
) -> Result<NodeId, Box<dyn Error>> {
    let about = fs::symlink_metadata(path)?;
    if let Some(id) = known.get(&about.ino()) {
        return Ok(*id);
    }
    let id = NodeId(u32::try_from(known.len())?);
    known.insert(about.ino(), id);
    let kind = if about.is_dir() {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name().as_bytes().to_vec();
            entries.insert(name, node(&entry.path(), known, tree)?);
        }
        Kind::Folder(entries)
    } else {
        Kind::File(Content::new(fs::read(path)?))
    };
    let attributes = Attributes {
        mode: about.mode() & 0o7777,
        owner: about.uid(),
        group: about.gid(),
        xattrs: xattrs(path)?,
    };
    tree.nodes.insert(id, Node { kind, attributes });
    Ok(id)
}
