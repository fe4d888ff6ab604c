//! Files that a list names for a guest and that are none. Nothing is booted: they are looked at
//! before a kernel is fetched.

use std::path::Path;
use std::process::Command;

use super::PASSES;
use crate::support::project::Project;

/// A project whose only kernel has these files.
fn project(root: &str) -> Project {
    let project = Project::with("a", PASSES);
    let list = format!("bad: {{ image: nowhere, root: {root} }}\n");
    project.write("kernels.yaml", &list);
    project
}

fn tar(folder: &Path) -> Vec<u8> {
    let mut tar = Command::new("tar");
    let output = tar.args(["--create", "--directory"]).arg(folder).arg(".");
    output.output().expect("GNU tar").stdout
}

/// Each command refuses the files with this message and this advice, and keeps nothing of them.
fn refused(project: &Project, said: &str, hint: &str) {
    let cache = project.join("cache");
    let list = ["--kernels", "kernels.yaml"];
    for (status, words, behind) in [
        (2, &["matrix"][..], &["scenarios"][..]),
        (2, &["run", "--vm"], &["scenarios"]),
        // Any other status could be the command's own.
        (125, &["vm"], &["true"]),
    ] {
        let words = [words, &list, behind].concat();
        let environment = [("HARNESS_CACHE", cache.to_str().expect("text"))];
        let run = project.harness_with(&environment, &words);
        run.assert_status(status);
        assert_eq!(run.stdout, "", "{words:?}");
        let begin = "harness: the kernel `bad`: `root: root`: ";
        let told = run.stderr.lines().find_map(|line| line.strip_prefix(begin));
        let told = told.unwrap_or_else(|| panic!("{words:?}: {}", run.stderr));
        assert!(told.starts_with(said), "{told}");
        let last = run.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("hint: ") && last.contains(hint), "{last}");
    }
    let kept = std::fs::read_dir(cache.join("roots")).into_iter().flatten();
    assert_eq!(kept.count(), 0);
}

#[test]
fn an_archive_that_is_cut_is_a_usage_error_before_anything_boots() {
    let project = project("root");
    project.write("tree/file", &"x".repeat(3000));
    let mut archive = tar(&project.join("tree"));
    archive.truncate(2000);
    std::fs::write(project.join("root"), archive).expect("a file");
    refused(
        &project,
        "it is cut: it ends within `./file`",
        "may have been cut",
    );
}

#[test]
fn what_has_no_files_and_what_is_not_there_are_usage_errors() {
    let project = project("root");
    refused(&project, "cannot read it: no such file", "docker export");
    project.write("root", "a text\n");
    refused(
        &project,
        "it is no folder, no tar archive ",
        "docker export",
    );
}

#[test]
fn an_image_whose_layer_has_another_digest_is_a_usage_error() {
    let project = project("root");
    let manifest = "{}";
    let digest = "0".repeat(64);
    project.write(&format!("root/blobs/sha256/{digest}"), manifest);
    project.write("root/oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    let index = format!("{{\"manifests\":[{{\"digest\":\"sha256:{digest}\"}}]}}");
    project.write("root/index.json", &index);
    let file = format!("its file `blobs/sha256/{digest}` has the digest sha256:44136fa355b3678a");
    refused(&project, &file, "make or fetch it again");
}
