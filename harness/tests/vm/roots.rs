//! Guests with files of their own: an archive, an image of a container, and files in the memory of
//! a guest whose kernel has no 9p.

mod project;

use super::{NEW, booted, can_tell, can_tell_with, text, unpacked};
use project::{Project, run, verdicts, with_scenarios};
use std::path::Path;
use std::process::Command;

#[test]
fn a_guest_has_the_files_of_an_archive_or_of_an_image_and_the_working_directory() {
    if !can_tell() {
        return;
    }
    let list = "tar: { suite: bookworm, root: ../root.tar }
image: { suite: bookworm, root: image }
packed: { suite: bookworm, root: image, share: initramfs }
";
    let project = Project::new(list);
    project.tar("root", "root.tar");
    project.image();
    let script = "cat /etc/mark kernels.yaml; echo new > /etc/mark; cat /etc/mark; uname -r";
    let (status, out, said) = project.vm("tar", script);
    assert_eq!(status, Some(0), "{said}");
    assert!(
        out.starts_with(&format!("of the root\n{list}new\n{NEW}.")),
        "{out}"
    );
    assert!(said.starts_with("harness: unpacking `"), "{said}");
    for kernel in ["image", "packed"] {
        let (status, out, said) = project.vm(kernel, script);
        assert_eq!(status, Some(127), "{said}");
        assert_eq!(out, format!("of the image\n{list}new\n"), "{kernel}");
        // It was unpacked for the first of them.
        assert_eq!(said.contains("unpacking"), kernel == "image", "{said}");
    }
    let (status, ..) = project.vm("tar", "cat /usr/bin/tar");
    assert_eq!(status, Some(1), "the host's programs are not there");
}

#[test]
fn a_kernel_without_9p_has_the_files_in_its_memory_and_the_same_verdicts() {
    if !can_tell() {
        return;
    }
    let project = with_scenarios(
        "less: { image: vmlinuz-own, modules: modules, root: ../root }
chosen: { suite: bookworm, root: ../root, share: initramfs }
never: { image: vmlinuz-own, modules: modules, root: ../root, share: 9p }
bare: { image: vmlinuz-own, modules: modules }
",
    );
    let script =
        "cp \"$1\"/boot/vmlinuz-* \"$2/vmlinuz-own\"; cp \"$1\"/boot/config-* \"$2/config-own\"
mkdir \"$2/modules\"; cp -r \"$1\"/lib/modules/*/kernel \"$2/modules\"
rm \"$2\"/modules/kernel/net/9p/*.ko* \"$2\"/modules/kernel/fs/9p/*.ko*";
    let mut copy = Command::new("sh");
    run(copy
        .args(["-ec", script, "sh"])
        .args([&unpacked(), &project.at("work")]));
    let two = ["-k", "less", "-k", "chosen", "scenarios"];
    let output = project.matrix(&two);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let expected = [
        "fails less fail",
        "fails chosen fail",
        "from less pass",
        "from chosen pass",
        "plain less pass",
        "plain chosen pass",
    ];
    assert_eq!(verdicts(&output), expected, "{said}");
    // Where it may not, it says what it lacks, and what to do.
    for kernel in ["never", "bare"] {
        let (status, _, said) = project.vm(kernel, "true");
        assert_eq!(status, Some(125), "{kernel}: {said}");
        assert!(said.contains("cannot mount 9p"), "{kernel}: {said}");
    }
    // A folder of the host cannot be written from there.
    let words = [
        "vm",
        "--kernels",
        "kernels.yaml",
        "-k",
        "chosen",
        "--write",
        ".",
        "true",
    ];
    let output = project.harness(&words);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(
        said.contains("cannot be written from a guest that has its files"),
        "{said}"
    );
}

#[test]
fn a_kernel_for_clouds_that_has_no_9p_runs_scenarios() {
    if !can_tell() {
        return;
    }
    let arch = match cfg!(target_arch = "aarch64") {
        true => "arm64",
        false => "amd64",
    };
    let project = with_scenarios(&format!(
        "cloud: {{ suite: bookworm, package: linux-image-cloud-{arch}, root: ../root }}\n"
    ));
    let (status, _, said) = project.vm("cloud", "cat /etc/mark");
    if !can_tell_with(booted(status, said)) {
        return;
    }
    let output = project.matrix(&["scenarios"]);
    let said = text(&output.stderr);
    let expected = ["fails cloud fail", "from cloud pass", "plain cloud pass"];
    assert_eq!(verdicts(&output), expected, "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

/// Makes an ext4 of the root, of this many MiB, and returns whether the machine can.
fn disk(project: &Project, to: &str) -> bool {
    let to = project.at(to);
    let file = std::fs::File::create(&to).expect("a file");
    file.set_len(64 << 20).expect("a size");
    let mut make = Command::new("mkfs.ext4");
    make.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    let made = make
        .args(["-q", "-d"])
        .arg(project.at("root"))
        .arg(to)
        .output();
    match made {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            true
        }
        Err(error) => {
            let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
            assert_ne!(required, "all", "mkfs.ext4: {error}");
            false
        }
    }
}

#[test]
fn a_guest_has_the_files_of_a_disk_and_a_disk_that_is_cut_is_broken() {
    if !can_tell() {
        return;
    }
    let project = with_scenarios(
        "whole: { suite: bookworm, root: \"../a,disk\" }
packed: { suite: bookworm, root: \"../a,disk\", share: initramfs }
cut: { suite: bookworm, root: ../cut }
",
    );
    if !disk(&project, "a,disk") {
        return;
    }
    let whole = std::fs::read(project.at("a,disk")).expect("a disk");
    std::fs::write(project.at("cut"), &whole[..1 << 20]).expect("a file");
    let script = "echo new > /etc/mark; cat /etc/mark kernels.yaml";
    let (status, out, said) = project.vm("whole", script);
    assert_eq!(status, Some(0), "{said}");
    assert!(out.starts_with("new\nwhole: "), "{out}");
    let output = project.matrix(&["scenarios"]);
    let said = text(&output.stderr);
    let results = [
        ["fail", "fail", "broken"],
        ["pass", "pass", "broken"],
        ["pass", "pass", "broken"],
    ];
    let named = ["fails", "from", "plain"].into_iter().zip(results);
    let expected: Vec<String> = named
        .flat_map(|(scenario, results)| {
            let kernels = ["whole", "packed", "cut"].into_iter().zip(results);
            kernels.map(move |(kernel, verdict)| format!("{scenario} {kernel} {verdict}"))
        })
        .collect();
    assert_eq!(verdicts(&output), expected, "{said}");
    assert_eq!(output.status.code(), Some(99), "{said}");
    assert!(text(&output.stdout).contains("cannot mount ext4"), "{said}");
    let after = std::fs::read(project.at("a,disk")).expect("a disk");
    assert!(after == whole, "what is written stays in the guest");
}

#[test]
fn a_guest_whose_files_do_not_fit_into_its_memory_is_broken_and_never_passes() {
    if !can_tell() {
        return;
    }
    let project = with_scenarios(
        "told: { suite: bookworm, root: ../root, share: initramfs, memory: 256MiB }
large: { suite: bookworm, root: ../root, share: initramfs, qemu: [-m, \"384\"] }
larger: { suite: bookworm, root: ../root, share: initramfs, qemu: [-m, \"256\"] }
",
    );
    let large = std::fs::File::create(project.at("root/large")).expect("a file");
    large.set_len(140 << 20).expect("a size");
    let output = project.matrix(&["--filter", "plain", "scenarios"]);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(99), "{out}{said}");
    let broken = ["told", "large", "larger"].map(|kernel| format!("plain {kernel} broken"));
    assert_eq!(verdicts(&output), broken, "{out}{said}");
    assert!(out.contains("say `memory: "), "{out}");
}

#[test]
fn a_scenario_that_the_guest_does_not_have_is_broken() {
    if !can_tell() {
        return;
    }
    let project = with_scenarios(
        "packed: { suite: bookworm, root: ../root, share: initramfs }
read: { suite: bookworm, root: ../root }
",
    );
    // It lies outside of all that the guest is lent.
    let from = project.at("work/scenarios/plain.yaml");
    let elsewhere = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let to = elsewhere.path().join("plain.yaml");
    std::fs::copy(&from, &to).expect("a copy");
    std::fs::remove_file(&from).expect("a file");
    std::os::unix::fs::symlink(&to, &from).expect("a link");
    let output = project.matrix(&["scenarios/plain.yaml"]);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(99), "{out}{said}");
    let broken = ["packed", "read"].map(|kernel| format!("plain {kernel} broken"));
    assert_eq!(verdicts(&output), broken, "{out}{said}");
}

/// Makes a program of musl, with a library of its own, in the working directory, and musl in the
/// root; and why that cannot be.
fn with_musl(project: &Project) -> Result<(), String> {
    project.write("work/lib.c", "int of_library(void) { return 8; }\n");
    let program = "#include <unistd.h>
int of_library(void);
int main(void) { return write(1, \"of musl\\n\", of_library()) != 8; }
";
    project.write("work/it.c", program);
    for words in [
        &["-shared", "-fPIC", "-o", "libit.so", "lib.c"][..],
        &["-o", "it", "it.c", "-L.", "-lit", "-Wl,-rpath,$ORIGIN"],
    ] {
        let mut compiler = Command::new("musl-gcc");
        let made = compiler
            .args(words)
            .current_dir(project.at("work"))
            .output();
        let made = made.map_err(|error| format!("`musl-gcc` cannot be run: {error}"))?;
        assert!(made.status.success(), "{made:?}");
    }
    let loader = format!("/lib/ld-musl-{}.so.1", std::env::consts::ARCH);
    project.copy(Path::new(&loader));
    Ok(())
}

#[test]
fn a_guest_runs_programs_of_another_c_library_that_its_root_has() {
    if !can_tell() {
        return;
    }
    let project = Project::new("musl: { suite: bookworm, root: ../root }\n");
    if !can_tell_with(with_musl(&project)) {
        return;
    }
    let scenario = "description: a program of musl makes its own calls behind the loader
workload: { run: [./it], files: { it: { from: ../it }, libit.so: { from: ../libit.so } } }
trace: { since: main }
expect: { exit: 0, stdout: \"of musl\\n\", only: [execve, write, exit_group] }
snapshot: false
";
    project.write("work/scenarios/it.yaml", scenario);
    let output = project.matrix(&["scenarios"]);
    let said = text(&output.stderr);
    assert_eq!(verdicts(&output), ["it musl pass"], "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
}
