//! Tests of the list of kernels.

use super::*;
use crate::scenario::Share;

fn read(text: &str) -> Result<Vec<KernelSpec>, (usize, usize, String)> {
    let told = read_kernels(Path::new("kernels.yaml"), text);
    told.map_err(|complaint| (complaint.line, complaint.column, complaint.message))
}

#[test]
fn packages_images_and_the_host_are_read_in_their_order() {
    let list = read(
        "\"6.1\": { suite: bookworm }\ncloud: { suite: sid, package: linux-image-cloud-amd64 }\n\
         mine: { image: b/bzImage, modules: b/lib }\nhere: host\n",
    )
    .unwrap();
    let sources: Vec<_> = list
        .into_iter()
        .map(|spec| (spec.name, spec.source))
        .collect();
    let package = |suite: &str, package: &str| KernelSource::Package {
        suite: suite.to_owned(),
        package: package.to_owned(),
    };
    assert_eq!(
        sources,
        [
            ("6.1".to_owned(), package("bookworm", "linux-image-amd64")),
            (
                "cloud".to_owned(),
                package("sid", "linux-image-cloud-amd64")
            ),
            (
                "mine".to_owned(),
                KernelSource::Image {
                    image: "b/bzImage".into(),
                    modules: Some("b/lib".into())
                }
            ),
            ("here".to_owned(), KernelSource::Host),
        ]
    );
}

#[test]
fn a_kernel_may_be_started_otherwise_and_all_in_it_run_under_a_program() {
    let list = read(
        "a: { suite: sid, append: \"sysctl.fs.protected_symlinks=0 quiet\" }\nb: { host: true, under: [taskset, \"1\"] }\n",
    )
    .unwrap();
    assert_eq!(list[0].append, "sysctl.fs.protected_symlinks=0 quiet");
    assert_eq!(list[0].hardware, Hardware::default());
    assert!(list[0].under.is_empty());
    assert_eq!(list[1].source, KernelSource::Host);
    assert_eq!(list[1].under, ["taskset", "1"]);
}

#[test]
fn a_guest_may_have_hardware_of_its_own() {
    let text =
        "a: { image: b, memory: 512MiB, cpus: 4, qemu: [-device, \"virtio-rng-pci,id=r\"] }\n";
    let list = read(text).unwrap();
    let hardware = Hardware {
        memory: Some(512),
        cpus: Some(4),
        qemu: vec!["-device".to_owned(), "virtio-rng-pci,id=r".to_owned()],
    };
    assert_eq!(list[0].hardware, hardware);
}

#[test]
fn each_complaint_has_its_place() {
    for (text, line, column, message) in [
        (
            "6.1: { suite: bookworm }\n",
            1,
            1,
            "a key must be a string, not `6.1`",
        ),
        ("a: { suit: x }\n", 1, 6, "unknown key `suit` in `a`"),
        (
            "a: host\nb: { suite: x, image: y }\n",
            2,
            4,
            "exclude each other",
        ),
        ("a: { package: x }\n", 1, 4, "neither `suite` nor `image`"),
        (
            "a: { image: x, package: y }\n",
            1,
            4,
            "`package` needs a `suite`",
        ),
        (
            "a: { suite: x, modules: y }\n",
            1,
            4,
            "`modules` belongs to an `image`",
        ),
        (
            "a: host\nb: { host: true, append: x }\n",
            2,
            4,
            "the host's runs already",
        ),
        (
            "a: { host: true, cpus: 2 }\n",
            1,
            4,
            "for a kernel that is booted",
        ),
        ("a: { suite: x, memory: 64MiB }\n", 1, 4, "at least 256MiB"),
        (
            "a: { suite: x, memory: lots }\n",
            1,
            24,
            "`a.memory` must be a size",
        ),
        ("a: { suite: x, cpus: 0 }\n", 1, 4, "from 1 to 64"),
        ("a: { suite: x, qemu: [] }\n", 1, 4, "`qemu` has words"),
        ("a: { host: false }\n", 1, 4, "`host` is `true`"),
        ("a: { host: true, suite: x }\n", 1, 4, "`host` is `true`"),
        ("a: { host: true, modules: x }\n", 1, 4, "`host` is `true`"),
        (
            "a: { suite: x, append: \"a\\nb\" }\n",
            1,
            4,
            "one line of words",
        ),
        (
            "a: { suite: x, append: [a] }\n",
            1,
            24,
            "`a.append` must be a string",
        ),
        ("a: { suite: x, under: [] }\n", 1, 4, "`under` is a program"),
        (
            "a: { suite: x, under: perf }\n",
            1,
            23,
            "`a.under` must be a list",
        ),
        ("a: hots\n", 1, 4, "or `host`, not `hots`"),
        (
            "a: { suite: \"x y\" }\n",
            1,
            4,
            "`x y` is no name of a suite",
        ),
        (
            "a: host\n\"../b\": host\n",
            2,
            1,
            "`../b` is no name of a kernel",
        ),
        ("- a\n", 1, 1, "must be a mapping of their names"),
        ("{}\n", 1, 1, "the list has no kernel"),
        ("a: host\na: host\n", 2, 1, "a"),
    ] {
        let (found_line, found_column, found) = read(text).unwrap_err();
        assert!(found.contains(message), "{text}: {found}");
        assert_eq!(
            (found_line, found_column),
            (line, column),
            "{text}: {found}"
        );
    }
}

/// An architecture that is not this program's.
fn other() -> Architecture {
    let mut all = Architecture::ALL.into_iter();
    all.find(|it| *it != Architecture::OWN).unwrap()
}

#[test]
fn a_guest_of_another_architecture_has_files_and_a_harness_of_its_own() {
    let other = other();
    let list = read(&format!(
        "a: {{ suite: bookworm, arch: {0}, root: roots/{0}, harness: harness-{0} }}\nb: {{ suite: sid, root: r }}\n",
        other.word()
    ))
    .unwrap();
    let guest = |arch, root: &str, harness: Option<&str>| Guest {
        arch,
        root: Some(root.into()),
        share: None,
        harness: harness.map(Into::into),
    };
    let (root, harness) = (
        format!("roots/{}", other.word()),
        format!("harness-{}", other.word()),
    );
    assert_eq!(list[0].guest, guest(other, &root, Some(&harness)));
    assert_eq!(list[1].guest, guest(Architecture::OWN, "r", None));
    let package = |spec: &KernelSpec| match &spec.source {
        KernelSource::Package { package, .. } => package.clone(),
        source => panic!("{source:?}"),
    };
    let named = |arch: Architecture| format!("linux-image-{}", arch.word());
    assert_eq!(package(&list[0]), named(other));
    assert_eq!(package(&list[1]), named(Architecture::OWN));
}

#[test]
fn a_guest_may_have_its_files_in_its_memory() {
    let share = |text: &str| read(text).unwrap()[0].guest.share;
    assert_eq!(share("a: { suite: sid, root: r }\n"), None);
    assert_eq!(
        share("a: { suite: sid, root: r, share: initramfs }\n"),
        Some(Share::Initramfs)
    );
    assert_eq!(share("a: { suite: sid, share: 9p }\n"), Some(Share::Plan9));
}

#[test]
fn what_a_guest_cannot_be_is_refused() {
    let other = other().word();
    for (entry, message) in [
        (
            "{ suite: sid, arch: mips }".to_owned(),
            "`arch` is amd64 or arm64, not `mips`",
        ),
        (
            format!("{{ suite: sid, arch: {other} }}"),
            "cannot run this machine's programs",
        ),
        (
            format!("{{ suite: sid, arch: {other}, root: r }}"),
            "cannot run this machine's programs",
        ),
        (
            format!("{{ suite: sid, arch: {other}, harness: h }}"),
            "cannot run this machine's programs",
        ),
        ("{ host: true, root: r }".to_owned(), "not for the host's"),
        (
            "{ host: true, arch: arm64 }".to_owned(),
            "not for the host's",
        ),
        ("{ host: true, share: 9p }".to_owned(), "not for the host's"),
        (
            "{ suite: sid, root: r, share: nfs }".to_owned(),
            "`share` is 9p or initramfs, not `nfs`",
        ),
        (
            "{ suite: sid, share: initramfs }".to_owned(),
            "this machine's are too many",
        ),
        (
            "{ host: true, harness: h }".to_owned(),
            "not for the host's",
        ),
    ] {
        let (line, column, found) = read(&format!("a: {entry}\n")).unwrap_err();
        assert!(found.contains(message), "{entry}: {found}");
        assert_eq!((line, column), (1, 4), "{entry}");
    }
}
