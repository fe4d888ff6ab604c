//! Decides what becomes of snapshots when the traces of several kernels are right: one for all if
//! they are equal, and variants if not.

use crate::scenario::KernelVersion;
use crate::snapshot::{self, Kernel, Place, SnapshotError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A scenario's trace on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told<'a> {
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// The text.
    pub trace: &'a str,
    /// Whether the snapshot for this kernel differs or is missing.
    pub is_new: bool,
}

/// The changes to a scenario's snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Files to write, each with its text and the release of its kernel.
    pub written: Vec<(PathBuf, String, String)>,
    /// Variants that have become equal to the common snapshot.
    pub removed: Vec<PathBuf>,
}

/// Decides which traces become which snapshots. The common snapshot stays if it is right on one of
/// these kernels, or with `keeps_common`; else it becomes the most frequent trace, and among
/// equally frequent ones that of the newest kernel, as later kernels will choose the common one. A
/// kernel with another trace gets a variant of its version (6.1); if two kernels of that version
/// differ, the second gets one of its full version (6.1.9). Where there are several architectures,
/// it gets the variant of its own if that is right on all of its kernels, and else one of version
/// and architecture. Snapshots of other kernels are left alone.
///
/// # Errors
/// [`SnapshotError::Read`]; [`SnapshotError::Ambiguous`] for two kernels of one version that
/// differ.
pub fn settle(
    place: &Place,
    told: &[Told<'_>],
    keeps_common: bool,
) -> Result<Settled, SnapshotError> {
    let common = place.common();
    let stored = snapshot::read(&common)?;
    let mut settled = Settled::default();
    if !told.iter().any(|it| it.is_new) {
        return Ok(settled);
    }
    let of_common = |it: &&Told<'_>| place.choose(it.kernel) == common;
    let is_right = told.iter().filter(of_common).any(|it| !it.is_new);
    let is_asked = told.iter().filter(of_common).any(|it| it.is_new);
    let right = match stored {
        Some(stored) if is_right || keeps_common || !is_asked => stored,
        _ => {
            let Some(most) = most(told) else {
                return Ok(settled);
            };
            let (text, release) = (most.trace.to_owned(), most.kernel.release.to_owned());
            settled
                .written
                .push((common.clone(), text.clone(), release));
            text
        }
    };
    let mut variants: BTreeMap<PathBuf, &str> = BTreeMap::new();
    // A snapshot that is right already stays where it is.
    let mut own: Vec<&Told<'_>> = told.iter().filter(|it| !it.is_new).collect();
    own.extend(told.iter().filter(|it| it.is_new));
    for it in own {
        let chosen = place.choose(it.kernel);
        if snapshot::matches(&right, it.trace) {
            continue;
        }
        if !it.is_new && chosen != common {
            variants.insert(chosen, it.trace);
            continue;
        }
        let mut files = candidates(place, it, told);
        if chosen != common {
            files.insert(0, chosen);
        }
        // A variant is for all kernels of its version, or architecture, including those that have
        // the common snapshot.
        let hides = |file: &PathBuf| {
            let of_it = |it: &&Told<'_>| place.is_for(file, it.kernel);
            let mut others = told.iter().filter(of_it);
            others.any(|other| snapshot::matches(&right, other.trace))
        };
        let is_free = |file: &&PathBuf| {
            let taken = variants.get(*file);
            taken.is_none_or(|text| snapshot::matches(text, it.trace)) && !hides(file)
        };
        let Some(file) = files.iter().find(is_free) else {
            let release = it.kernel.release.to_owned();
            return Err(SnapshotError::Ambiguous { common, release });
        };
        if variants.insert(file.clone(), it.trace).is_none() {
            let (text, release) = (it.trace.to_owned(), it.kernel.release.to_owned());
            settled.written.push((file.clone(), text, release));
        }
    }
    for it in told {
        let chosen = place.choose(it.kernel);
        let is_needless = chosen != common && !variants.contains_key(&chosen);
        if is_needless && !settled.removed.contains(&chosen) {
            settled.removed.push(chosen);
        }
    }
    Ok(settled)
}

/// Returns the files in which a trace may be that differs from the common snapshot, the one for the
/// most kernels first.
fn candidates(place: &Place, it: &Told<'_>, told: &[Told<'_>]) -> Vec<PathBuf> {
    let versions = [place.variant(it.kernel, 2), place.variant(it.kernel, 3)];
    let is_alone = told.iter().all(|other| other.kernel.arch == it.kernel.arch);
    if is_alone {
        return versions.into();
    }
    let of_arch = |numbers| place.variant_of_arch(it.kernel, numbers);
    let mut files = vec![of_arch(2), of_arch(3)];
    let mut own = told
        .iter()
        .filter(|other| other.kernel.arch == it.kernel.arch);
    if own.all(|other| snapshot::matches(other.trace, it.trace)) {
        files.insert(0, place.arch(it.kernel));
    }
    files
}

/// Returns the most frequent trace; of equally frequent ones, that of the newest kernel.
fn most<'t, 'a>(told: &'t [Told<'a>]) -> Option<&'t Told<'a>> {
    let same = |it: &Told<'a>| {
        let all = told.iter();
        all.filter(|other| snapshot::matches(other.trace, it.trace))
            .count()
    };
    // Finds the last of several equally frequent ones, so the order is reversed.
    let version = |it: &Told<'a>| KernelVersion::of_release(it.kernel.release);
    told.iter().rev().max_by_key(|it| (same(it), version(it)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use crate::snapshot::Provenance;
    use std::path::Path;

    fn told<'a>(release: &'a str, trace: &'a str, is_new: bool) -> Told<'a> {
        Told {
            kernel: Kernel::native(release),
            trace,
            is_new,
        }
    }

    /// What is written and removed where these files are there.
    fn settled(
        files: &[(&str, &str)],
        all: &[Told<'_>],
        keeps: bool,
    ) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::of(&folder.path().join("scenarios/x.yaml"));
        for (name, text) in files {
            let about = Provenance {
                scenario: Path::new("x"),
                description: "",
                kernel: "",
            };
            snapshot::write(&place.root.join(name), text, &about).unwrap();
        }
        let settled = settle(&place, all, keeps).unwrap();
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let written = settled.written.iter();
        let written = written.map(|(path, text, _)| format!("{}: {text}", name(path)));
        (
            written.collect(),
            settled.removed.iter().map(name).collect(),
        )
    }

    fn nothing() -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn what_all_say_is_one_snapshot() {
        let all = [told("5.10.1", "a", true), told("6.1.2", "a", true)];
        assert_eq!(
            settled(&[], &all, false),
            (vec!["x.snap: a".into()], nothing())
        );
    }

    #[test]
    fn what_most_say_is_the_common_one_and_the_others_have_variants() {
        let all = [
            told("5.10.1", "a", true),
            told("6.1.2", "b", true),
            told("7.2.0-rc1", "b", true),
        ];
        let written = vec!["x.snap: b".into(), "x@5.10.snap: a".into()];
        assert_eq!(settled(&[], &all, false), (written, nothing()));
    }

    #[test]
    fn of_traces_that_are_equally_frequent_the_newest_kernels_is_the_common_one() {
        let all = [
            told("6.1.2", "a", true),
            told("6.18.1", "c", true),
            told("6.9.2", "b", true),
        ];
        let variants = ["x.snap: c", "x@6.1.snap: a", "x@6.9.snap: b"];
        let written = variants.map(str::to_owned).to_vec();
        assert_eq!(settled(&[], &all, false), (written, nothing()));
    }

    #[test]
    fn the_common_one_stays_where_it_is_right_on_any_of_them() {
        let all = [told("5.10.1", "a", false), told("6.1.2", "b", true)];
        let written = vec!["x@6.1.snap: b".into()];
        assert_eq!(
            settled(&[("x.snap", "a")], &all, false),
            (written.clone(), nothing())
        );
        // Or where that is asked for.
        let all = [told("6.1.2", "b", true)];
        assert_eq!(
            settled(&[("x.snap", "a")], &all, true),
            (written, nothing())
        );
    }

    #[test]
    fn a_variant_that_has_become_equal_goes_and_one_of_another_kernel_stays() {
        let files = [("x.snap", "a"), ("x@5.10.snap", "b"), ("x@6.12.snap", "c")];
        let all = [told("5.10.1", "a", true), told("6.1.2", "a", false)];
        assert_eq!(
            settled(&files, &all, false),
            (nothing(), vec!["x@5.10.snap".into()])
        );
        // The program does something else now, on all kernels.
        let all = [told("5.10.1", "d", true), told("6.1.2", "d", true)];
        let written = vec!["x.snap: d".into()];
        assert_eq!(
            settled(&files, &all, false),
            (written, vec!["x@5.10.snap".into()])
        );
    }

    #[test]
    fn two_kernels_of_a_version_that_differ_have_their_full_versions() {
        let files = [("x.snap", "a")];
        let all = [
            told("5.10.1", "a", false),
            told("6.1.2", "b", true),
            told("6.1.9", "c", true),
        ];
        let written = vec!["x@6.1.snap: b".into(), "x@6.1.9.snap: c".into()];
        assert_eq!(settled(&files, &all, false), (written, nothing()));
        let all = [told("6.1.2", "a", false), told("6.1.9", "c", true)];
        let written = vec!["x@6.1.9.snap: c".into()];
        assert_eq!(settled(&files, &all, false), (written, nothing()));
    }

    #[test]
    fn what_all_kernels_of_an_architecture_say_is_its_variant() {
        let of = |arch, release, trace, is_new| Told {
            kernel: Kernel { release, arch },
            trace,
            is_new,
        };
        let all = [
            of("amd64", "6.1.1", "a", true),
            of("amd64", "7.2.0", "a", true),
            of("arm64", "6.1.1", "b", true),
            of("arm64", "7.2.0", "b", true),
        ];
        let files = [("x.snap", "a")];
        let right = of("amd64", "6.1.1", "a", false);
        let (found, removed) = settled(&files, &[right, all[2], all[3]], false);
        assert_eq!(
            (found, removed),
            (vec!["x@arm64.snap: b".into()], nothing())
        );
        // Where the list has one architecture, nothing tells it from the kernel's version.
        let (found, _) = settled(&files, &all[3..], true);
        assert_eq!(found, ["x@7.2.snap: b"]);
        let all = [all[0], all[1], all[2], of("arm64", "7.2.0", "c", true)];
        let (found, _) = settled(&[], &all, false);
        assert_eq!(
            found,
            ["x.snap: a", "x@6.1-arm64.snap: b", "x@7.2-arm64.snap: c"]
        );
    }

    #[test]
    fn where_all_is_right_nothing_is_done() {
        let files = [("x.snap", "a"), ("x@6.1.snap", "b")];
        let all = [told("5.10.1", "a", false), told("6.1.9", "b", false)];
        assert_eq!(settled(&files, &all, false), (nothing(), nothing()));
    }
}
