//! Notices that another file is executed in the place of one that has a probe.
//!
//! A probe is in the inode that its path led to before the run. What the run puts in its place is a
//! file without a probe.

use crate::plan::EventsPlan;
use crate::run::setting::ProbedFile;
use perf_live::events::OtherFile;
use perf_live::units::FileId;
use perf_records::record::Map;
use std::collections::{HashMap, HashSet};

/// What the kernel adds to the path of a file that has no name any more (d_path()).
const DELETED: &[u8] = b" (deleted)";

/// The files that have probes, and what was executed in their places.
#[derive(Debug)]
pub(super) struct OtherFiles {
    /// For each path that a probe is of, its events, and the file that has it; `None` where that is
    /// not told.
    probed: HashMap<Vec<u8>, (Vec<String>, FileId)>,
    /// Where it is not told which files have probes: what was written as the file of each, and its
    /// event.
    untold: Vec<(Vec<u8>, String)>,
    /// The files that the probed ones are copies of, each with its events: they have no probe.
    originals: HashMap<FileId, Vec<String>>,
    found: Vec<OtherFile>,
    seen: HashSet<(Vec<u8>, FileId)>,
}

impl OtherFiles {
    /// Takes the files that the plan's probes are in; `None` where that is not told. Returns `None`
    /// if it has no probe in a file.
    pub(super) fn of(plan: &EventsPlan, probed: Option<&[ProbedFile]>) -> Option<Self> {
        let mut files = Self {
            probed: HashMap::new(),
            untold: Vec::new(),
            originals: HashMap::new(),
            found: Vec::new(),
            seen: HashSet::new(),
        };
        for planned in &plan.named {
            let its = probed.into_iter().flatten();
            for file in its.filter(|file| file.event == *planned.name) {
                let known = files.probed.entry(file.path.clone());
                let (events, _) = known.or_insert_with(|| (Vec::new(), file.id));
                events.push(file.event.clone());
                if let Some(original) = file.original {
                    let events = files.originals.entry(original).or_default();
                    events.push(file.event.clone());
                }
            }
            let probe = planned.probe.as_ref().filter(|it| it.kind.is_of_user());
            if let (None, Some(probe)) = (probed, probe) {
                let written = probe.file.trim_start_matches("./").as_bytes().to_vec();
                files
                    .untold
                    .push((written, planned.name.as_ref().to_owned()));
            }
        }
        let has_any = !files.probed.is_empty() || !files.untold.is_empty();
        has_any.then_some(files)
    }

    /// Takes a mapping.
    pub(super) fn take(&mut self, map: &Map<'_>) {
        if map.is_data || !map.is_executable() {
            return;
        }
        let Some(id) = FileId::of(map) else {
            return;
        };
        let path = map.name.strip_suffix(DELETED).unwrap_or(map.name);
        if let (false, Some(event)) = (self.untold.is_empty(), self.meant(path)) {
            // The first of several is as good as any: one of them has no probe.
            let first = self.probed.entry(path.to_vec());
            first.or_insert_with(|| (vec![event], id));
        }
        let at_path = self.probed.get(path);
        let at_path = at_path.and_then(|(events, probed)| (*probed != id).then_some(events));
        let Some(events) = at_path.or_else(|| self.originals.get(&id)) else {
            return;
        };
        if !self.seen.insert((path.to_vec(), id)) {
            return;
        }
        let other = |name: &String| OtherFile {
            name: name.clone(),
            path: String::from_utf8_lossy(path).into_owned(),
            process: Some(map.pid.0),
        };
        for found in events.iter().map(other) {
            let is_same = |it: &OtherFile| (&it.name, &it.path) == (&found.name, &found.path);
            if !self.found.iter().any(is_same) {
                self.found.push(found);
            }
        }
    }

    /// The event of a probe that was written with this path, or with the end of it.
    fn meant(&self, path: &[u8]) -> Option<String> {
        let is_it = |written: &[u8]| {
            let before = path.strip_suffix(written);
            before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
        };
        let mut untold = self.untold.iter();
        let found = untold.find(|(written, _)| is_it(written));
        found.map(|(_, event)| event.clone())
    }

    /// What was executed in the place of a file with a probe.
    pub(super) fn found(&self) -> &[OtherFile] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Resolved, tests::resolved};
    use perf_records::record::{MappedFile, MoreOfMap};
    use perf_records::units::{Pid, Tid};

    const MARK: &str = "description: it ends\nworkload: { run: [\"true\"] }\n\
         trace: { events: [{ event: \"sched:sched_switch\" }] }\nsnapshot: false";

    fn id(inode: u64) -> FileId {
        FileId {
            device: (8, 1),
            inode,
            generation: 0,
        }
    }

    /// What is found of processes that map files of these inodes, one each.
    fn found(mappings: &[(&[u8], u64, u32)]) -> Vec<(String, Option<u32>)> {
        let Ok(Resolved::Plan(plan)) = resolved(MARK) else {
            panic!("no plan")
        };
        let name = plan.events.named[0].name.to_string();
        let probed = [ProbedFile {
            event: name,
            path: b"/w/rec".to_vec(),
            id: id(7),
            original: Some(id(6)),
            is_held: true,
            copies: 0,
            mapped: None,
        }];
        let mut files = OtherFiles::of(&plan.events, Some(&probed)).unwrap();
        for (pid, (name, inode, protection)) in (1..).zip(mappings) {
            files.take(&Map {
                pid: Pid(pid),
                tid: Tid(pid),
                address: 0x1000,
                length: 0x1000,
                offset: 0,
                name,
                is_data: *protection & 4 == 0,
                more: Some(MoreOfMap {
                    file: MappedFile::Inode {
                        major: 8,
                        minor: 1,
                        inode: *inode,
                        generation: 0,
                    },
                    protection: *protection,
                    flags: 2,
                }),
            });
        }
        let found = files.found().iter();
        found.map(|it| (it.path.clone(), it.process)).collect()
    }

    #[test]
    fn another_file_in_the_place_of_a_probed_one_is_found_where_it_is_executed() {
        let (read, execute) = (1, 5);
        assert_eq!(found(&[(b"/w/rec", 7, execute)]), []);
        assert_eq!(found(&[(b"/w/rec (deleted)", 7, execute)]), []);
        assert_eq!(found(&[(b"/w/other", 8, execute)]), []);
        assert_eq!(found(&[(b"/w/rec", 8, read)]), []);
        let rec = |process| vec![("/w/rec".to_owned(), Some(process))];
        assert_eq!(found(&[(b"/w/rec", 8, execute)]), rec(1));
        assert_eq!(found(&[(b"/w/rec (deleted)", 8, execute)]), rec(1));
        let several: [(&[u8], u64, u32); 3] = [
            (b"/w/rec", 7, execute),
            (b"/w/rec", 8, execute),
            (b"/w/rec", 9, execute),
        ];
        assert_eq!(found(&several), rec(2), "once, with the first");
        // The file that it is a copy of.
        let link = vec![("/w/link".to_owned(), Some(1))];
        assert_eq!(found(&[(b"/w/link", 6, execute)]), link);
    }
}
