//! A folder as a tree, and a tree as a folder.

use super::labels::{self, Labels, Owner};
use super::originals::Originals;
use crate::crash::{Attributes, Content, FileId, Kind, Node, NodeId, Tree, Watched};
use perf_live::sandbox::{FileType, Left, LeftContent, held};
use perf_live::sys::inode;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};
use std::path::{Path, PathBuf};

/// A folder before its run, and which node each inode is.
#[derive(Debug)]
pub(in crate::run) struct Before {
    pub(in crate::run) tree: Tree,
    pub(in crate::run) inodes: HashMap<FileId, NodeId>,
    /// The devices that they are on.
    pub(in crate::run) devices: BTreeSet<u64>,
}

/// Reads a folder that nothing changes at this moment.
///
/// # Errors
/// Those of reading it.
pub(in crate::run) fn scan(root: &Path) -> io::Result<Before> {
    let mut before = Before {
        tree: Tree::new(NodeId(0), []),
        inodes: HashMap::new(),
        devices: BTreeSet::new(),
    };
    before.tree.root = before.add(root)?;
    Ok(before)
}

impl Before {
    fn add(&mut self, path: &Path) -> io::Result<NodeId> {
        let status = fs::symlink_metadata(path)?;
        let file = FileId {
            inode: status.ino(),
            handle: handle(path)?,
        };
        if let Some(known) = self.inodes.get(&file) {
            return Ok(*known);
        }
        self.devices.insert(status.dev());
        let id = NodeId(u32::try_from(self.inodes.len()).map_err(io::Error::other)?);
        self.inodes.insert(file, id);
        let kind = status.file_type();
        let kind = if kind.is_dir() {
            let mut entries = BTreeMap::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let node = self.add(&entry.path())?;
                entries.insert(entry.file_name().into_vec(), node);
            }
            Kind::Folder(entries)
        } else if kind.is_symlink() {
            Kind::Link(fs::read_link(path)?.into_os_string().into_vec())
        } else if kind.is_file() {
            let file = File::open(path)?;
            // There is no bound to what a folder may hold.
            let parts = held(&file, u64::MAX)?.unwrap_or_default();
            Kind::File(Content::of_parts(status.size(), parts))
        } else {
            let is_device = kind.is_char_device() || kind.is_block_device();
            Kind::Other {
                mode: status.mode() & libc::S_IFMT,
                device: if is_device { status.rdev() } else { 0 },
            }
        };
        let attributes = Attributes {
            mode: status.mode() & 0o7777,
            owner: status.uid(),
            group: status.gid(),
            xattrs: labels::of(path)?,
        };
        self.tree.nodes.insert(id, Node { kind, attributes });
        Ok(id)
    }
}

/// The handle of a file, of which a link is not followed.
fn handle(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut options = File::options();
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    let file = options.read(true).custom_flags(flags).open(path)?;
    inode::handle_of(file.as_fd())
}

/// Makes a folder, which is there and empty, what a tree is.
///
/// # Errors
/// Those of making files.
pub(super) fn lay(tree: &Tree, root: &Path, originals: &Originals) -> io::Result<()> {
    let mut laying = Laying {
        tree,
        originals,
        made: BTreeMap::new(),
    };
    laying.fill(tree.root, root)
}

struct Laying<'a> {
    tree: &'a Tree,
    originals: &'a Originals,
    /// The first name of each file.
    made: BTreeMap<NodeId, PathBuf>,
}

impl Laying<'_> {
    fn fill(&mut self, folder: NodeId, path: &Path) -> io::Result<()> {
        let tree = self.tree;
        let Some(node) = tree.nodes.get(&folder) else {
            return Ok(());
        };
        for (name, child) in node.entries().into_iter().flatten() {
            self.make(*child, &path.join(OsStr::from_bytes(name)))?;
        }
        finish(path, &node.attributes)
    }

    fn make(&mut self, id: NodeId, path: &Path) -> io::Result<()> {
        let Some(node) = self.tree.nodes.get(&id) else {
            return Ok(());
        };
        if let Some(first) = self.made.get(&id) {
            return fs::hard_link(first, path);
        }
        match &node.kind {
            Kind::Folder(_) => {
                fs::DirBuilder::new().mode(0o700).create(path)?;
                return self.fill(id, path);
            }
            Kind::Link(to) => {
                std::os::unix::fs::symlink(OsStr::from_bytes(to), path)?;
                labels::give(path, &node.attributes.xattrs)?;
                own(path, &node.attributes)?;
            }
            Kind::File(content) => {
                let mut options = File::options();
                let options = options.write(true).create_new(true).mode(0o600);
                let file = options.open(path)?;
                if !self.originals.fill(id, content, &file)? {
                    write(&file, content)?;
                }
                finish(path, &node.attributes)?;
            }
            Kind::Other { mode, device } => other(path, *mode, *device, &node.attributes)?,
        }
        self.made.insert(id, path.to_owned());
        Ok(())
    }
}

/// A file up to this size in bytes is written at once; of a larger one its parts are, so that its
/// holes take no room.
const WHOLE: u64 = 1 << 20;

/// Writes what a file holds into one that is empty.
pub(super) fn write(file: &File, content: &Content) -> io::Result<()> {
    if content.size() <= WHOLE {
        return file.write_all_at(&content.to_vec(), 0);
    }
    file.set_len(content.size())?;
    let mut parts = content.parts();
    parts.try_for_each(|(at, bytes)| file.write_all_at(bytes, at))
}

fn other(path: &Path, mode: u32, device: u64, attributes: &Attributes) -> io::Result<()> {
    use nix::sys::stat::{Mode, SFlag, mknod};
    let kind = SFlag::from_bits_truncate(mode);
    mknod(path, kind, Mode::from_bits_truncate(0o600), device)?;
    finish(path, attributes)
}

/// Gives a file that is no link what it has beside its content. Attributes come before the mode,
/// which may forbid them; the mode comes after the owner, whose change takes bits away, and not
/// from open(2), where the umask would have a say.
fn finish(path: &Path, attributes: &Attributes) -> io::Result<()> {
    labels::give(path, &attributes.xattrs)?;
    own(path, attributes)?;
    fs::set_permissions(path, Permissions::from_mode(attributes.mode))
}

/// Gives a file to its owner, unless it has been made as that.
fn own(path: &Path, attributes: &Attributes) -> io::Result<()> {
    let status = fs::symlink_metadata(path)?;
    match (status.uid(), status.gid()) == (attributes.owner, attributes.group) {
        true => Ok(()),
        false => std::os::unix::fs::lchown(path, Some(attributes.owner), Some(attributes.group)),
    }
}

/// What a run has left.
pub(super) struct Found<'a> {
    /// Names, content and modes.
    pub(super) left: &'a Left,
    /// The extended attributes of those that have one.
    pub(super) labels: &'a BTreeMap<Vec<u8>, Labels>,
    /// The owners of all; `None` where they are not known.
    pub(super) owners: Option<&'a BTreeMap<Vec<u8>, Owner>>,
}

/// Compares a tree with what a run has left, and the extended attributes and owners there; says
/// what differs first.
///
/// # Errors
/// The difference, for people.
pub(super) fn compare(
    tree: &Tree,
    Found {
        left,
        labels,
        owners,
    }: Found<'_>,
    watched: &Watched,
) -> Result<(), String> {
    let shown = |path: &[u8]| String::from_utf8_lossy(path).escape_debug().to_string();
    // A folder that was not looked into may hold one that is watched.
    let matters = |path: &[u8]| watched.has(path) || watched.is_at(path);
    if let Some((path, why)) = left.unseen.iter().find(|(path, _)| matters(path)) {
        return Err(format!("`{}` could not be looked at: {why}", shown(path)));
    }
    let mut files = BTreeMap::new();
    list(tree, tree.root, &[], &mut files);
    files.retain(|path, _| watched.has(path));
    for (path, node) in &files {
        let Some(found) = left.files.get(path) else {
            return Err(format!("`{}` is not there", shown(path)));
        };
        let what = match (&node.kind, found.kind, &found.content) {
            (Kind::Folder(_), FileType::Directory, _) => None,
            (Kind::Link(to), FileType::Symlink, _) if *to == found.target => None,
            (Kind::File(content), FileType::File, LeftContent::Whole(bytes)) => {
                (*content != Content::new(bytes.as_slice())).then_some("content")
            }
            (Kind::File(content), FileType::File, LeftContent::Parts(parts)) => {
                let found = Content::of_parts(found.size, parts.iter().cloned());
                (*content != found).then_some("content")
            }
            (Kind::File(_), FileType::File, _) => Some("content, which was not read as a whole"),
            (Kind::Other { .. }, FileType::Fifo | FileType::Socket | FileType::Device, _) => None,
            _ => Some("type"),
        };
        let is_link = found.kind == FileType::Symlink;
        let has_mode = is_link || node.attributes.mode == found.mode;
        if let Some(what) = what.or((!has_mode).then_some("mode")) {
            return Err(format!("`{}` has another {what}", shown(path)));
        }
    }
    let of_root = tree.nodes.get(&tree.root).map(|node| (&[][..], node));
    let of_root = of_root.filter(|_| watched.has(&[]));
    let nodes = files.iter().map(|(path, node)| (path.as_slice(), *node));
    let Some(owners) = owners else {
        return Err("who owns what it left is not known".to_owned());
    };
    for (path, node) in nodes.chain(of_root) {
        let owner = (node.attributes.owner, node.attributes.group);
        if owners.get(path) != Some(&owner) {
            return Err(format!("`{}` has another owner or group", shown(path)));
        }
        let none = Labels::new();
        if node.attributes.xattrs != *labels.get(path).unwrap_or(&none) {
            return Err(format!("`{}` has other extended attributes", shown(path)));
        }
    }
    let mut others = left.files.keys().filter(|path| watched.has(path));
    match others.find(|path| !files.contains_key(*path)) {
        Some(more) => Err(format!("`{}` is there", shown(more))),
        None => Ok(()),
    }
}

/// All names below a folder with their nodes.
fn list<'t>(tree: &'t Tree, folder: NodeId, above: &[u8], files: &mut BTreeMap<Vec<u8>, &'t Node>) {
    let entries = tree.nodes.get(&folder).and_then(Node::entries);
    for (name, id) in entries.into_iter().flatten() {
        let path = match above {
            [] => name.clone(),
            _ => [above, b"/", name].concat(),
        };
        if let Some(node) = tree.nodes.get(id) {
            list(tree, *id, &path, files);
            files.insert(path, node);
        }
    }
}

/// What a power cut made of a folder, as lines for people: each name that is not as the program
/// left it.
pub(super) fn differences(tree: &Tree, meant: &Tree) -> Vec<String> {
    let (mut found, mut wanted) = (BTreeMap::new(), BTreeMap::new());
    list(tree, tree.root, &[], &mut found);
    list(meant, meant.root, &[], &mut wanted);
    let shown = |path: &[u8]| String::from_utf8_lossy(path).escape_debug().to_string();
    let mut lines = Vec::new();
    let paths: BTreeSet<&Vec<u8>> = found.keys().chain(wanted.keys()).collect();
    for path in paths {
        let line = match (found.get(path), wanted.get(path)) {
            (Some(node), Some(meant)) if is_same(node, meant) => continue,
            (Some(node), None) => format!("{}: still {}", shown(path), words(node)),
            (None, Some(meant)) => format!("{}: gone, was {}", shown(path), words(meant)),
            (Some(node), Some(meant)) => {
                let [beside, was] = beside([&node.attributes, &meant.attributes]);
                let (node, meant) = (words(node), words(meant));
                format!("{}: {node}{beside}, was {meant}{was}", shown(path))
            }
            (None, None) => continue,
        };
        lines.push(line);
    }
    lines
}

/// Whether two nodes are the same but for what is in them, where they are folders.
fn is_same(one: &Node, other: &Node) -> bool {
    let kinds = match (&one.kind, &other.kind) {
        (Kind::Folder(_), Kind::Folder(_)) => true,
        (one, other) => one == other,
    };
    kinds && one.attributes == other.attributes
}

/// What two files have beside what they hold, as far as it differs.
fn beside(both: [&Attributes; 2]) -> [String; 2] {
    let mut said = [String::new(), String::new()];
    let mut add = |words: [String; 2]| {
        if words[0] != words[1] {
            let both = said.iter_mut().zip(words);
            both.for_each(|(said, words)| said.push_str(&words));
        }
    };
    add(both.map(|one| format!(" of mode {:04o}", one.mode)));
    add(both.map(|one| format!(" of {}:{}", one.owner, one.group)));
    let names: BTreeSet<_> = both.iter().flat_map(|one| one.xattrs.keys()).collect();
    for name in names {
        let shown = name.escape_ascii();
        add(both.map(|one| match one.xattrs.get(name) {
            None => format!(" without {shown}"),
            Some(value) => {
                let start = value
                    .get(..value.len().min(SHOWN as usize))
                    .unwrap_or_default();
                format!(" with {shown}=\"{}\"", start.escape_ascii())
            }
        }));
    }
    said
}

fn words(node: &Node) -> String {
    match &node.kind {
        Kind::Folder(_) => "a folder".to_owned(),
        Kind::Link(to) => {
            let to = String::from_utf8_lossy(to).escape_debug().to_string();
            format!("a link to `{to}`")
        }
        Kind::File(content) => content_line(content),
        Kind::Other { .. } => "no regular file".to_owned(),
    }
}

/// So many bytes of a file are shown.
const SHOWN: u64 = 48;

fn content_line(content: &Content) -> String {
    let size = content.size();
    let bytes = if size == 1 { "byte" } else { "bytes" };
    let start = content.read(0, SHOWN);
    if size == 0 {
        return "empty".to_owned();
    }
    if start.iter().all(|byte| *byte == 0) {
        return format!("{size} {bytes} that begin with zeros");
    }
    let text = start.escape_ascii();
    let more = if size > SHOWN { "..." } else { "" };
    format!("{size} {bytes}, \"{text}\"{more}")
}
