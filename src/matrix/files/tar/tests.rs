//! Tests of reading archives that GNU tar has written.

use super::*;
use std::process::Command;

/// An archive in this format of a small tree, as GNU tar writes it.
fn archive(format: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let long = "a-name-of-fifty-bytes-and-more-so-that-two-are-longer/".repeat(4);
    let at = |path: &str| folder.path().join(path);
    std::fs::create_dir_all(at(&long)).unwrap();
    std::fs::write(at(&format!("{long}file")), "contents").unwrap();
    std::fs::write(at("large"), vec![b'x'; 70_000]).unwrap();
    std::os::unix::fs::symlink(format!("{long}file"), at("symlink")).unwrap();
    std::fs::hard_link(at("large"), at("link")).unwrap();
    let output = Command::new("tar")
        .args(["--create", "--sort=name", "--format", format, "--directory"])
        .arg(folder.path())
        .args(["--mtime=@1000000000", "--owner=:7", "--group=:8", "."])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// All entries and the contents of each.
fn all(bytes: &[u8]) -> Result<Vec<(Entry, Vec<u8>)>, TarError> {
    ended(bytes, End::Marked)
}

fn ended(bytes: &[u8], end: End) -> Result<Vec<(Entry, Vec<u8>)>, TarError> {
    let mut all = Vec::new();
    each(bytes, end, |entry, from| {
        let mut whole = Vec::new();
        contents(entry, from, |bytes| {
            whole.extend(bytes);
            Ok::<_, TarError>(())
        })?;
        all.push((entry.clone(), whole));
        Ok(())
    })
    .map(|()| all)
}

#[test]
fn what_gnu_tar_writes_in_each_of_its_formats_is_read() {
    for format in ["gnu", "oldgnu", "pax", "posix"] {
        let all = all(&archive(format)).unwrap();
        let of = |name: &str| {
            let ends = |(entry, _): &&(Entry, Vec<u8>)| entry.path.ends_with(name.as_bytes());
            all.iter().find(ends).unwrap()
        };
        let (file, contents) = of("/file");
        assert_eq!(contents, b"contents", "{format}");
        assert_eq!((file.user, file.group), (7, 8), "{format}");
        assert_eq!((file.modified, file.kind), (1_000_000_000, Kind::File));
        assert!(file.path.len() > 200 && file.path.starts_with(b"./a-name"));
        let (symlink, _) = of("/symlink");
        assert_eq!(symlink.kind, Kind::Symlink);
        assert!(symlink.target.len() > 200, "{format}");
        assert_eq!(of("/large").1.len(), 70_000);
        let (link, contents) = of("/link");
        assert_eq!((link.kind, contents.len()), (Kind::Link, 0));
        assert_eq!(link.target, b"./large");
        assert_eq!(of("./").0.kind, Kind::Folder);
    }
}

#[test]
fn an_archive_that_is_cut_anywhere_is_no_archive() {
    let whole = archive("pax");
    // GNU tar fills a record of twenty blocks behind the mark of the end.
    let end = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let end = end.next_multiple_of(512);
    assert!(all(&whole[..end + 512]).is_ok());
    for cut in (0..=end).step_by(97).chain((0..=end).step_by(512)) {
        let error = all(&whole[..cut]).unwrap_err();
        let said = error.to_string();
        let is_cut = said.contains("it is cut") || said.contains("it is empty");
        assert!(is_cut, "{cut}: {said}");
    }
}

#[test]
fn an_archive_whose_digest_is_known_may_lack_the_mark_of_its_end() {
    let whole = archive("gnu");
    let end = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let whole = &whole[..end.next_multiple_of(512)];
    assert!(ended(whole, End::Known).is_ok());
    assert!(all(whole).is_err());
    assert_eq!(ended(&[], End::Known).unwrap(), []);
}

#[test]
fn what_is_no_archive_and_what_is_changed_is_refused() {
    let said = |bytes: &[u8]| all(bytes).unwrap_err().to_string();
    assert!(said(&[b'x'; 600]).starts_with("it is no tar archive"));
    let mut whole = archive("gnu");
    whole[0x400 + 3] ^= 1;
    assert!(said(&whole).contains("checksum"));
}

#[test]
fn a_file_with_holes_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("holes")).unwrap();
    file.set_len(1 << 20).unwrap();
    for format in ["gnu", "pax"] {
        let output = Command::new("tar")
            .args(["--create", "--sparse", "--format", format, "--directory"])
            .arg(folder.path())
            .arg("holes")
            .output()
            .unwrap();
        let said = all(&output.stdout).unwrap_err().to_string();
        assert!(
            said.ends_with("is stored as a file with holes (tar --sparse)"),
            "{said}"
        );
    }
}

#[test]
fn what_is_said_of_all_entries_is_no_entry() {
    // As `git archive` says its commit.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "contents").unwrap();
    let output = Command::new("tar")
        .args(["--create", "--format=pax", "--pax-option=comment=abc"])
        .arg("--directory")
        .arg(folder.path())
        .arg("file")
        .output()
        .unwrap();
    assert_eq!(output.stdout[156], b'g', "{output:?}");
    let all = all(&output.stdout).unwrap();
    let paths: Vec<&[u8]> = all.iter().map(|(entry, _)| &*entry.path).collect();
    assert_eq!(paths, [b"file"]);
}
