//! What lay under each name before a run: its directory as it was laid out, and the machine's files
//! where it cannot change them.

use perf_live::host::{Host, Lying, has_changed, is_link_of_sysfs, is_program, lying, lying_in};
use perf_live::sandbox::{Part, World};
use perf_records::units::shown_path;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use syscall_model::{Found, Ground, Identity, Sharing};

/// What is known of the files before a run, and where to look for more. All copies share what is
/// known.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The folders of which all is known, by their paths as the workload sees them.
    folders: Vec<Vec<u8>>,
    /// Those that have too many files for that.
    too_full: Vec<PathBuf>,
    /// Folders below them whose names could not be listed, as of others.
    unlisted: BTreeSet<Vec<u8>>,
    found: BTreeMap<Vec<u8>, Found>,
    /// How many names the files have that have several, when they were looked at.
    links: BTreeMap<Vec<u8>, u64>,
    /// Whether these are all of those in the folders; a recording does not tell.
    tells_links: bool,
    machine: Option<Machine>,
    /// Those that are programs which the kernel loads by itself.
    loaded: BTreeSet<Vec<u8>>,
    /// How mounts were shared; `None` where that is not known.
    sharing: Option<Sharing>,
}

#[derive(Debug)]
struct Machine {
    world: World,
    started: SystemTime,
    /// Whether the run can change what lies there.
    is_open: bool,
}

/// How many files are looked at before a run on the bare host. What lies in folders that have more
/// is looked up when it is named, and believed only if its folder has not changed by then.
const MOST: usize = 200_000;

impl Names {
    /// Lists these folders of the machine, for a run that may change any file of it. Their paths
    /// are absolute.
    pub(super) fn of_machine(folders: &[PathBuf]) -> Self {
        Self::of_machine_with(folders, MOST)
    }

    fn of_machine_with(folders: &[PathBuf], most: usize) -> Self {
        let mut known = Known {
            machine: Some(Machine {
                is_open: true,
                ..Machine::of(&World::Host)
            }),
            tells_links: true,
            sharing: sharing(&World::Host),
            ..Known::default()
        };
        let mut n_listed = 0;
        for folder in folders {
            // The way there is known, too, whoever makes or renames something beside it later.
            for way in folder.ancestors() {
                let path = way.as_os_str().as_bytes().to_vec();
                let entry = known.found.entry(path);
                entry.or_insert_with(|| looked(way, None).0);
            }
            let most = most.saturating_sub(n_listed);
            let Some(mut listed) = below(folder, folder, most) else {
                known.too_full.push(folder.clone());
                continue;
            };
            n_listed += listed.found.len();
            known.found.append(&mut listed.found);
            known.links.extend(listed.links);
            known.unlisted.append(&mut listed.unlisted);
            known.folders.push(folder.as_os_str().as_bytes().to_vec());
        }
        Self(Arc::new(Mutex::new(known)))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns for each folder that has too many files what that means, for a person.
    pub(super) fn remarks(&self) -> Vec<String> {
        let known = self.known();
        let said = |folder: &PathBuf| {
            format!(
                "what lies below `{}` was not looked at before the run: with all else there are \
                 more than {MOST} files",
                shown_path(folder)
            )
        };
        known.too_full.iter().map(said).collect()
    }

    /// Lists the directory of a run that has not begun; the workload sees it as `inside`.
    pub(super) fn of_run(world: &World, inside: &Path, directory: &Path) -> Self {
        let listed = below(directory, inside, usize::MAX).unwrap_or_default();
        let known = Known {
            folders: vec![inside.as_os_str().as_bytes().to_vec()],
            unlisted: listed.unlisted,
            found: listed.found,
            links: listed.links,
            tells_links: true,
            machine: Some(Machine::of(world)),
            sharing: sharing(world),
            ..Known::default()
        };
        Self(Arc::new(Mutex::new(known)))
    }

    /// Lets the machine's own files be looked up too, by a run that began at `since`.
    pub(super) fn asking(self, world: &World, since: SystemTime) -> Self {
        let mut known = self.known();
        known.machine = Some(Machine {
            started: since,
            ..Machine::of(world)
        });
        drop(known);
        self
    }

    /// Returns what a recording holds of the files before its run.
    pub(super) fn recorded(
        directory: Option<Vec<u8>>,
        found: BTreeMap<Vec<u8>, Found>,
        loaded: BTreeSet<Vec<u8>>,
        sharing: Option<Sharing>,
    ) -> Self {
        Self(Arc::new(Mutex::new(Known {
            folders: directory.into_iter().collect(),
            found,
            loaded,
            sharing,
            ..Known::default()
        })))
    }

    /// Returns the files that have more names than are known, by each name that is known.
    pub(super) fn with_other_names(&self) -> BTreeSet<Vec<u8>> {
        let known = self.known();
        let identity = |path: &Vec<u8>| match known.found.get(path) {
            Some(Found::File(identity)) => *identity,
            _ => None,
        };
        let mut n_names: BTreeMap<Identity, u64> = BTreeMap::new();
        for identity in known.links.keys().filter_map(identity) {
            *n_names.entry(identity).or_default() += 1;
        }
        let has_others = |(path, links): &(&Vec<u8>, &u64)| {
            let named = identity(path).and_then(|identity| n_names.get(&identity));
            named.is_none_or(|named| named < *links)
        };
        let all = known.links.iter().filter(has_others);
        all.map(|(path, _)| path.clone()).collect()
    }

    /// How mounts were shared before the run, if that is known.
    pub(super) fn shares(&self) -> Option<Sharing> {
        self.known().sharing
    }

    /// Returns the programs that the kernel loads by itself, of those that were asked for.
    pub(super) fn loaded(&self) -> BTreeSet<Vec<u8>> {
        self.known().loaded.clone()
    }

    /// Returns all that was looked up so far.
    pub(super) fn found(&self) -> BTreeMap<Vec<u8>, Found> {
        self.known().found.clone()
    }
}

impl Ground for Names {
    fn look(&mut self, path: &[u8]) -> Found {
        let mut known = self.known();
        if let Some(found) = known.found.get(path) {
            return found.clone();
        }
        let lies_below = |folder: &Vec<u8>| is_below(path, folder);
        let is_within = known.folders.iter().any(lies_below);
        let is_unlisted = known.unlisted.iter().any(lies_below);
        if is_within && !is_unlisted {
            return Found::Missing;
        }
        let machine = known.machine.as_ref();
        let Some(machine) = machine.filter(|machine| !is_within || machine.is_open) else {
            // A recording tells it of this very name.
            known.found.insert(path.to_vec(), Found::Unknown);
            return Found::Unknown;
        };
        let (found, links) = machine.look(Path::new(OsStr::from_bytes(path)));
        let links = links.map(|links| (path.to_vec(), links));
        known.links.extend(links);
        known.found.insert(path.to_vec(), found.clone());
        found
    }

    fn is_program(&mut self, path: &[u8]) -> bool {
        let mut known = self.known();
        let has = |machine: &Machine| machine.has_program(Path::new(OsStr::from_bytes(path)));
        if known.machine.as_ref().is_some_and(has) {
            known.loaded.insert(path.to_vec());
        }
        known.loaded.contains(path)
    }

    fn sharing(&self) -> Sharing {
        self.shares().unwrap_or(Sharing::Peers)
    }

    fn is_file(&mut self, path: &[u8]) -> bool {
        let mut known = self.known();
        let machine = known.machine.as_ref().filter(|machine| machine.is_open);
        if machine.is_none() || known.found.get(path) != Some(&Found::Unknown) {
            return false;
        }
        let (found, links) = looked(Path::new(OsStr::from_bytes(path)), None);
        if !matches!(found, Found::File(_)) {
            return false;
        }
        let links = links.map(|links| (path.to_vec(), links));
        known.links.extend(links);
        known.found.insert(path.to_vec(), found);
        true
    }

    fn to_survey(&mut self, folder: &[u8]) -> Vec<Vec<u8>> {
        let known = self.known();
        let below = [folder.strip_suffix(b"/").unwrap_or(folder), b"/"].concat();
        let identity = |found: &Found| match found {
            Found::Folder(identity) => *identity,
            _ => None,
        };
        // A folder has another name where it is mounted.
        let mut folders: HashMap<Identity, u32> = HashMap::new();
        for identity in known.found.values().filter_map(identity) {
            *folders.entry(identity).or_default() += 1;
        }
        // What lies elsewhere is of interest only as another name of what lies below.
        let has_others = |path: &Vec<u8>, found: &Found| {
            let is_mounted = identity(found).is_some_and(|it| folders.get(&it) != Some(&1));
            let may_have = !known.tells_links && path.starts_with(&below);
            may_have || is_mounted || known.links.contains_key(path)
        };
        let all = known.found.iter();
        all.filter(|(path, found)| has_others(path, found))
            .map(|(path, _)| path.clone())
            .collect()
    }
}

/// How mounts of a world are shared before a run.
fn sharing(world: &World) -> Option<Sharing> {
    match world {
        // They are made private (`Step::Private`).
        World::Own(_) => Some(Sharing::Nothing),
        World::Host => {
            let mounts = Host::running().mounts().ok()?;
            let mut groups: Vec<u32> = mounts
                .iter()
                .flat_map(|mount| mount.groups.clone())
                .collect();
            groups.sort_unstable();
            Some(
                match groups.windows(2).any(|pair| pair.first() == pair.last()) {
                    true => Sharing::Peers,
                    false if groups.is_empty() => Sharing::Nothing,
                    false => Sharing::Alone,
                },
            )
        }
    }
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.starts_with(b"/"))
}

/// What lies below a folder.
#[derive(Default)]
struct Listed {
    found: BTreeMap<Vec<u8>, Found>,
    /// How many names the files among it have that have several.
    links: BTreeMap<Vec<u8>, u64>,
    /// The folders whose names could not be listed.
    unlisted: BTreeSet<Vec<u8>>,
}

/// Returns what lies in a folder and below it, by the paths that it has as `inside`; `None` if that
/// is more than so many files.
fn below(directory: &Path, inside: &Path, most: usize) -> Option<Listed> {
    let mut listed = Listed::default();
    let root = inside.as_os_str().as_bytes();
    let path_of = |rest: &[u8]| match (root, rest) {
        (b"/", [_, ..]) => rest.to_vec(),
        (root, rest) => [root, rest].concat(),
    };
    // By their paths from the directory, each with a slash in front of it.
    let mut folders = Vec::new();
    let add = |rest: Vec<u8>, lying, listed: &mut Listed, folders: &mut Vec<Vec<u8>>| {
        let path = path_of(&rest);
        let (found, links) = told(lying, None);
        listed
            .links
            .extend(links.map(|links| (path.clone(), links)));
        match found {
            Found::Folder(_) => folders.push(rest),
            // It may be a folder.
            Found::Unknown => drop(listed.unlisted.insert(path.clone())),
            _ => {}
        }
        listed.found.insert(path, found);
        (listed.found.len() <= most).then_some(())
    };
    add(Vec::new(), lying(directory), &mut listed, &mut folders)?;
    while let Some(folder) = folders.pop() {
        let below = folder.strip_prefix(b"/").unwrap_or_default();
        let entries = std::fs::read_dir(directory.join(OsStr::from_bytes(below)));
        let Ok(entries) = entries.and_then(Iterator::collect::<io::Result<Vec<_>>>) else {
            listed.unlisted.insert(path_of(&folder));
            continue;
        };
        for entry in entries {
            let rest = [&folder, &b"/"[..], entry.file_name().as_bytes()].concat();
            add(rest, lying_in(&entry), &mut listed, &mut folders)?;
        }
    }
    Some(listed)
}

impl Machine {
    fn of(world: &World) -> Self {
        Self {
            world: world.clone(),
            // Times of files have the grain of the kernel's tick.
            started: SystemTime::now() - Duration::from_millis(10),
            is_open: false,
        }
    }

    fn has_program(&self, path: &Path) -> bool {
        let is_hosts = matches!(self.world.part(path), Part::Host);
        is_hosts && !has_changed(path, self.started) && is_program(path, self.started)
    }

    fn look(&self, path: &Path) -> (Found, Option<u64>) {
        let found = match self.world.part(path) {
            Part::Host => match looked(path, Some(self.started)) {
                (Found::Unknown, _) if is_link_of_sysfs(path) => return looked(path, None),
                // Another file may have had the name when the run named it.
                _ if self.is_open && has_changed(path, self.started) => Found::Unknown,
                found => return found,
            },
            Part::Folder => Found::Folder(None),
            Part::Link(to) => Found::Link(None, to.as_bytes().into()),
            Part::File => Found::File(None),
            Part::Nothing => Found::Missing,
        };
        (found, None)
    }
}

/// Looks up a path, and how many names its file has where it has several; a link that changed after
/// `since` may have been another one before.
fn looked(path: &Path, since: Option<SystemTime>) -> (Found, Option<u64>) {
    told(lying(path), since)
}

fn told(lying: Lying, since: Option<SystemTime>) -> (Found, Option<u64>) {
    let found = match lying {
        Lying::Nothing => Found::Missing,
        Lying::Folder(identity) => Found::Folder(Some(identity)),
        Lying::Link(_, _, changed) if since.is_some_and(|since| changed >= since) => Found::Unknown,
        Lying::Link(identity, to, _) => Found::Link(Some(identity), to.into()),
        Lying::File(identity, links) => {
            return (Found::File(Some(identity)), (links > 1).then_some(links));
        }
        Lying::Processes => Found::Processes,
        Lying::Unknown => Found::Unknown,
    };
    (found, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_has_too_many_files_is_told_of_and_those_behind_it_are_listed() {
        let root = tempfile::tempdir().unwrap();
        let folders = ["few", "many", "other"].map(|name| root.path().join(name));
        for (folder, n_files) in folders.iter().zip([1, 5, 1]) {
            std::fs::create_dir(folder).unwrap();
            (0..n_files).for_each(|n| std::fs::write(folder.join(n.to_string()), "").unwrap());
        }
        let names = Names::of_machine_with(&folders, 5);
        let remarks = names.remarks();
        let many = format!("`{}` was not looked at", folders[1].display());
        assert!(
            remarks.len() == 1 && remarks[0].contains(&many),
            "{remarks:?}"
        );
        let known = names.0.lock().unwrap();
        let listed: Vec<&[u8]> = known.folders.iter().map(Vec::as_slice).collect();
        let expected = [&folders[0], &folders[2]].map(|it| it.as_os_str().as_bytes());
        assert_eq!(listed, expected);
        assert!(Names::of_machine(&folders).remarks().is_empty());
    }

    #[test]
    fn a_link_of_sysfs_is_known_however_new_its_times_are() {
        let link = Path::new("/sys/dev/char/1:3");
        let Lying::Link(_, to, _) = lying(link) else {
            // There is no sysfs here.
            return;
        };
        let mut machine = Machine::of(&World::Host);
        machine.started = SystemTime::UNIX_EPOCH;
        for is_open in [false, true] {
            machine.is_open = is_open;
            let (found, _) = machine.look(link);
            let is_it = matches!(&found, Found::Link(_, known) if **known == *to);
            assert!(is_it, "{found:?}");
        }
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("link");
        std::os::unix::fs::symlink("to", &other).unwrap();
        assert_eq!(machine.look(&other).0, Found::Unknown);
    }

    #[test]
    fn of_listed_files_those_alone_may_have_other_names_that_have_several() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_owned();
        let names = ["one", "two", "other"].map(|name| folder.join(name));
        for path in &names[..2] {
            std::fs::write(path, "").unwrap();
        }
        std::fs::hard_link(&names[1], &names[2]).unwrap();
        let path = folder.as_os_str().as_bytes();
        let expected = [&names[2], &names[1]].map(|it| it.as_os_str().as_bytes().to_vec());
        let mut listed = Names::of_machine(std::slice::from_ref(&folder));
        assert_eq!(listed.to_survey(path), expected);
    }
}
