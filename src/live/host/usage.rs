//! What processes use, by procfs.

use super::Host;
use super::process::{TICK_IN_MILLISECONDS, stat_field, value};
use perf_records::units::Pid;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// The descendants of a process, at one moment more or less: each file is read at its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// All of them, including dead processes that have not been reaped.
    pub processes: Vec<Pid>,
    /// How many threads they have together, one at least each.
    pub n_threads: u64,
}

impl Host {
    /// Whether the kernel tells of a task's children (`CONFIG_PROC_CHILDREN`).
    #[must_use]
    pub fn tells_of_children(&self) -> bool {
        self.root.join("proc/thread-self/children").exists()
    }

    /// The descendants of a process; some of them, where they have more threads than this.
    #[must_use]
    pub fn tree(&self, of: Pid, at_most: u64) -> Tree {
        let mut tree = Tree::default();
        let mut known = HashSet::from([of]);
        let mut waiting = VecDeque::from([of]);
        while tree.n_threads <= at_most
            && let Some(pid) = waiting.pop_front()
        {
            let threads = self.threads(pid);
            for thread in &threads {
                let children = self.read(&format!("proc/{pid}/task/{thread}/children"));
                let children = children.unwrap_or_default();
                let children = children
                    .split_ascii_whitespace()
                    .filter_map(|id| id.parse().ok().map(Pid));
                // One that gets another parent while we look may be met twice.
                waiting.extend(children.filter(|child| known.insert(*child)));
            }
            if pid != of {
                tree.processes.push(pid);
                tree.n_threads += threads.len().max(1) as u64;
            }
        }
        tree
    }

    /// The memory that a process has of its own or shares with others that have it too, in bytes:
    /// what it maps of files is not counted. Pages that it shares with its relatives since a fork
    /// are counted for each of them.
    #[must_use]
    pub fn memory_of(&self, pid: Pid) -> u64 {
        self.kibibytes(&format!("proc/{pid}/status"), &["RssAnon:", "RssShmem:"])
            .unwrap_or(0)
    }

    /// The same with each page divided by the number of processes that map it (Linux 5.2): exact,
    /// and slow, as the kernel walks all pages. `None` where the kernel does not tell, or the
    /// process has no memory any more.
    #[must_use]
    pub fn share_of_memory(&self, pid: Pid) -> Option<u64> {
        let file = format!("proc/{pid}/smaps_rollup");
        self.kibibytes(&file, &["Pss_Anon:", "Pss_Shmem:"])
    }

    fn kibibytes(&self, file: &str, keys: &[&str]) -> Option<u64> {
        let text = self.read_lossy(file)?;
        let number = |key: &&str| value(&text, key)?.strip_suffix(" kB")?.parse::<u64>().ok();
        let numbers: Vec<u64> = keys.iter().filter_map(number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<u64>().saturating_mul(1024))
    }

    /// The CPU time of a process and of those of its children that it has waited for.
    #[must_use]
    pub fn cpu_time_of(&self, pid: Pid) -> Duration {
        let stat = self.read_lossy(&format!("proc/{pid}/stat"));
        let stat = stat.unwrap_or_default();
        // utime, stime, cutime, cstime
        let ticks: u64 = (14..=17).filter_map(|field| stat_field(&stat, field)).sum();
        Duration::from_millis(ticks.saturating_mul(TICK_IN_MILLISECONDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let host = Host::at(tree.path());
        (tree, host)
    }

    #[test]
    fn descendants_are_those_of_every_thread() {
        let (_tree, host) = captured(&[
            ("proc/7/task/7/children", "8 "),
            ("proc/8/task/8/children", ""),
            ("proc/8/task/9/children", "10 11 "),
            ("proc/10/task/10/children", "8 "),
        ]);
        let mut tree = host.tree(Pid(7), 4);
        tree.processes.sort_unstable();
        assert_eq!(tree.processes, [Pid(8), Pid(10), Pid(11)]);
        assert_eq!(tree.n_threads, 4, "11 has ended in between");
        assert_eq!(host.tree(Pid(7), 1).n_threads, 2);
    }

    #[test]
    fn times_stand_behind_a_name_that_looks_like_fields() {
        let stat = "8 (a) 1 2 (b) S 7 8 8 0 -1 4194304 1 2 3 4 11 22 33 44 20 0 1 0";
        let (_tree, host) = captured(&[("proc/8/stat", stat)]);
        assert_eq!(host.cpu_time_of(Pid(8)), Duration::from_millis(1100));
        assert_eq!(host.cpu_time_of(Pid(9)), Duration::ZERO);
    }

    #[test]
    fn memory_is_what_is_no_files() {
        let status = "Name:\tRssAnon: 9 kB\nVmRSS:\t 900 kB\nRssAnon:\t  20 kB\nRssFile:\t 800 kB\nRssShmem:\t 3 kB\n";
        let (_tree, host) = captured(&[("proc/8/status", status)]);
        assert_eq!(host.memory_of(Pid(8)), 23 * 1024);
        assert_eq!(host.share_of_memory(Pid(8)), None);
    }
}
