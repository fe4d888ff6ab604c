//! Tests of roots that GNU tar packs here, of images that are made of such layers, and of bad ones.

use super::*;
use crate::matrix::packed::tests::gzip;
use perf_live::errors::chain;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

/// A folder to make things in, and one that roots are unpacked in.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("image")).unwrap();
        Self { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Packs these paths of a folder with GNU tar.
    fn tar(&self, folder: &str, words: &[&str]) -> Vec<u8> {
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--directory"]);
        let output = tar.arg(self.at(folder)).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    fn unpack(&self, path: &Path) -> Result<(PathBuf, Vec<String>), RootError> {
        let mut said = Vec::new();
        let mut say = |line| said.push(line);
        let root = unpacked(path, Architecture::Amd64, &self.at("roots"), &mut say)?;
        Ok((root, said))
    }

    fn refused(&self, path: &Path) -> (String, String) {
        let error = self.unpack(path).unwrap_err();
        assert!(error.is_of_input(), "{error:?}");
        let left = fs::read_dir(self.at("roots")).into_iter().flatten();
        assert_eq!(left.count(), 0, "nothing is kept of a bad one");
        (chain(&error), error.hint().unwrap_or_default())
    }

    /// Adds a file of an image, and returns how another names it.
    fn blob(&self, kind: &str, bytes: &[u8]) -> String {
        let digest = sha256(bytes).unwrap();
        self.write(&format!("image/blobs/sha256/{digest}"), bytes);
        let size = bytes.len();
        format!("{{\"mediaType\":\"{kind}\",\"digest\":\"sha256:{digest}\",\"size\":{size}}}")
    }

    /// Adds an image of these layers for an architecture, and returns how an index names it.
    fn manifest(&self, arch: &str, layers: &[Vec<u8>]) -> String {
        let ids = layers
            .iter()
            .map(|layer| format!("\"sha256:{}\"", sha256(layer.as_slice()).unwrap()));
        let ids: Vec<String> = ids.collect();
        let config = format!(
            "{{\"architecture\":\"{arch}\",\"os\":\"linux\",\"rootfs\":{{\"type\":\"layers\",\"diff_ids\":[{}]}}}}",
            ids.join(",")
        );
        let config = self.blob(
            "application/vnd.oci.image.config.v1+json",
            config.as_bytes(),
        );
        let layers = layers
            .iter()
            .map(|layer| self.blob("application/vnd.oci.image.layer.v1.tar+gzip", &gzip(layer)));
        let layers: Vec<String> = layers.collect();
        let manifest = format!(
            "{{\"schemaVersion\":2,\"config\":{config},\"layers\":[{}]}}",
            layers.join(",")
        );
        self.blob(
            "application/vnd.oci.image.manifest.v1+json",
            manifest.as_bytes(),
        )
    }

    /// Ends the image with an index of these.
    fn index(&self, manifests: &[String]) -> PathBuf {
        let text = format!(
            "{{\"schemaVersion\":2,\"manifests\":[{}]}}",
            manifests.join(",")
        );
        self.write("image/index.json", text);
        self.write("image/oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
        self.at("image")
    }
}

/// The paths below a folder.
fn paths(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            all.push(
                path.strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned(),
            );
            if path.symlink_metadata().unwrap().is_dir() {
                left.push(path);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn an_archive_is_unpacked_once_however_it_is_compressed() {
    let place = Place::new();
    place.write("root/bin/program", "code");
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(place.at("root/bin/program"), mode(0o751)).unwrap();
    fs::set_permissions(place.at("root/bin"), mode(0o555)).unwrap();
    symlink("/bin/program", place.at("root/link")).unwrap();
    fs::hard_link(place.at("root/bin/program"), place.at("root/same")).unwrap();
    let tar = place.tar("root", &["--mtime=@1000000000", "."]);
    let zstd = zstd::stream::encode_all(tar.as_slice(), 0).unwrap();
    for (name, bytes) in [
        ("r.tar", &tar),
        ("r.tar.gz", &gzip(&tar)),
        ("r.tar.zst", &zstd),
    ] {
        let path = place.write(name, bytes);
        let (root, said) = place.unpack(&path).unwrap();
        assert_eq!(paths(&root), ["bin", "bin/program", "link", "same"]);
        let about = |path: &str| fs::symlink_metadata(root.join(path)).unwrap();
        assert_eq!(about("bin/program").mode() & 0o7777, 0o751);
        assert_eq!(about("bin/program").mtime(), 1_000_000_000);
        assert_eq!(about("bin").mtime(), 1_000_000_000);
        assert_eq!(about("same").ino(), about("bin/program").ino());
        assert_eq!(
            fs::read_link(root.join("link")).unwrap(),
            Path::new("/bin/program")
        );
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("unpacking `"), "{said:?}");
        // What is kept is found again, without a word.
        assert_eq!(place.unpack(&path).unwrap(), (root, Vec::new()));
    }
    assert_eq!(fs::read_dir(place.at("roots")).unwrap().count(), 3);
    let mode = fs::metadata(place.at("roots")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700, "other users find no programs there");
}

#[test]
fn an_archive_that_is_cut_or_is_none_is_refused_with_what_to_do() {
    let place = Place::new();
    place.write("root/file", vec![b'x'; 3000]);
    let tar = place.tar("root", &["."]);
    let packed = gzip(&tar);
    for (bytes, why) in [
        (&tar[..2000], "it is cut: it ends within `./file`"),
        (&tar[..0], "it is empty"),
        (
            &packed[..packed.len() / 2],
            "it is cut: it ends within its compressed data",
        ),
        (
            &packed[..packed.len() - 3],
            "it is cut: it ends within its compressed data",
        ),
    ] {
        let (said, hint) = place.refused(&place.write("bad.tar", bytes));
        assert_eq!(said, why);
        assert!(
            hint.contains("it may have been cut") || hint.contains("may have been cut"),
            "{hint}"
        );
    }
    let (said, hint) = place.refused(&place.write("bad", "a text\n"));
    assert!(
        said.starts_with("it is no folder, no tar archive"),
        "{said}"
    );
    assert!(hint.contains("docker export"), "{hint}");
    let (said, _) = place.refused(&place.write("bad.gz", gzip(b"a text\n")));
    assert!(
        said.starts_with("it is cut: it ends within its first header"),
        "{said}"
    );
    // An archive of nothing is zeros, as is what many disks begin with.
    let (said, _) = place.refused(&place.write("zeros", [0; 10240]));
    assert!(said.starts_with("it is no folder"), "{said}");
    let (said, _) = place.refused(&place.write("zeros.gz", gzip(&[0; 10240])));
    assert_eq!(said, "it holds no file");
    let (said, _) = place.refused(&place.at("nowhere"));
    assert!(said.contains("no such file"), "{said}");
}

#[test]
fn an_entry_never_leaves_the_root() {
    let place = Place::new();
    place.write("outside/file", "as it was");
    place.write("root/x/file", "laid in");
    // A name with `..`, and a further name of a file outside.
    let rename =
        |rule: &str| place.tar("root", &["--absolute-names", "--transform", rule, "x/file"]);
    let up = place.write("up.tar", rename("s,x/file,a/../../outside/file,"));
    let (said, hint) = place.refused(&up);
    assert_eq!(said, "`a/../../outside/file` leaves the root");
    assert!(hint.contains("from within the root"), "{hint}");
    // Names from / on are of the root, and no link leads out of it.
    for target in ["../../../../outside", "/outside", "/../../outside"] {
        fs::remove_dir_all(place.at("root")).unwrap();
        place.write("root/link/file", "laid in");
        let behind = place.tar(
            "root",
            &["--absolute-names", "--transform", "s,^,/,", "link/file"],
        );
        fs::remove_dir_all(place.at("root")).unwrap();
        fs::create_dir(place.at("root")).unwrap();
        symlink(target, place.at("root/link")).unwrap();
        let mut tar = place.tar("root", &["link"]);
        tar.truncate(512);
        tar.extend(behind);
        let (root, _) = place.unpack(&place.write("links.tar", tar)).unwrap();
        assert_eq!(
            paths(&root),
            ["link", "outside", "outside/file"],
            "{target}"
        );
    }
    let outside = fs::read_to_string(place.at("outside/file")).unwrap();
    assert_eq!(outside, "as it was");
}

#[test]
fn a_circle_of_links_and_a_link_to_nothing_are_refused() {
    let place = Place::new();
    fs::create_dir_all(place.at("root")).unwrap();
    symlink("b", place.at("root/a")).unwrap();
    symlink("a", place.at("root/b")).unwrap();
    let mut tar = place.tar("root", &["a", "b"]);
    tar.truncate(1024);
    fs::remove_dir_all(place.at("root")).unwrap();
    place.write("root/a/file", "");
    place.write("root/a/link", "");
    fs::remove_file(place.at("root/a/link")).unwrap();
    fs::hard_link(place.at("root/a/file"), place.at("root/a/link")).unwrap();
    let links = place.tar("root", &["a/file", "a/link"]);
    tar.extend(&links);
    let (said, _) = place.refused(&place.write("circle.tar", tar));
    assert!(said.ends_with("is a circle of links"), "{said}");
    // Behind a file without contents stands the link to it.
    let (said, _) = place.refused(&place.write("link.tar", &links[512..]));
    assert_eq!(
        said,
        "`a/link` links to `a/file`, which is no file before it"
    );
}

#[test]
fn devices_are_left_out_and_said() {
    let place = Place::new();
    place.write("root/file", "");
    let fifo = place.at("root/fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).unwrap();
    let (root, said) = place
        .unpack(&place.write("r.tar", place.tar("root", &["."])))
        .unwrap();
    assert_eq!(paths(&root), ["file"]);
    assert!(
        said[1].ends_with(
            "1 devices and FIFOs are left out, `./fifo` first: a guest has its own /dev"
        ),
        "{said:?}"
    );
}

/// Two layers: the upper one removes a file, empties a folder that it puts a file into, and puts a
/// folder in the place of a file.
fn layers(place: &Place) -> [Vec<u8>; 2] {
    for file in ["gone", "stays", "full/a", "full/b/c", "file", "usr/lib/x"] {
        place.write(&format!("lower/{file}"), "lower");
    }
    symlink("usr/lib", place.at("lower/lib")).unwrap();
    for file in [
        ".wh.gone",
        "full/.wh..wh..opq",
        "full/a",
        "file/below",
        "lib/y",
    ] {
        place.write(&format!("upper/{file}"), "upper");
    }
    let lower = place.tar("lower", &["."]);
    // The mark stands behind what lies in the folder, and there is no entry for `lib`.
    let words = [".wh.gone", "full/a", "full/.wh..wh..opq", "file", "lib/y"];
    [lower, place.tar("upper", &words)]
}

/// What such an image holds.
const HELD: [&str; 10] = [
    "file",
    "file/below",
    "full",
    "full/a",
    "lib",
    "stays",
    "usr",
    "usr/lib",
    "usr/lib/x",
    "usr/lib/y",
];

#[test]
fn layers_lie_one_above_the_other_and_remove_what_is_below() {
    let place = Place::new();
    let image = place.index(&[place.manifest("amd64", &layers(&place))]);
    let (root, _) = place.unpack(&image).unwrap();
    assert_eq!(paths(&root), HELD);
    assert_eq!(fs::read_to_string(root.join("full/a")).unwrap(), "upper");
    // The same image as an archive, compressed or not.
    let tar = place.tar("image", &["blobs", "index.json", "oci-layout"]);
    for (name, bytes) in [("i.tar", &tar), ("i.tar.gz", &gzip(&tar))] {
        let (root, _) = place.unpack(&place.write(name, bytes)).unwrap();
        assert_eq!(paths(&root), HELD);
    }
}

#[test]
fn what_docker_saved_before_it_knew_layouts_is_an_image_too() {
    let place = Place::new();
    let [lower, upper] = layers(&place);
    let ids =
        [&lower, &upper].map(|layer| format!("\"sha256:{}\"", sha256(layer.as_slice()).unwrap()));
    let ids = ids.join(",");
    let config = format!(
        "{{\"architecture\":\"amd64\",\"os\":\"linux\",\"rootfs\":{{\"diff_ids\":[{ids}]}}}}"
    );
    place.write("saved/a/layer.tar", &lower);
    place.write("saved/b/layer.tar", &upper);
    place.write("saved/c.json", config);
    let manifest = "[{\"Config\":\"c.json\",\"RepoTags\":[\"x:1\"],\"Layers\":[\"a/layer.tar\",\"b/layer.tar\"]}]";
    place.write("saved/manifest.json", manifest);
    let saved = place.write(
        "saved.tar",
        place.tar("saved", &["a", "b", "c.json", "manifest.json"]),
    );
    let (root, _) = place.unpack(&saved).unwrap();
    assert_eq!(paths(&root), HELD);
    // A layer that is another is known by its digest.
    fs::remove_dir_all(place.at("roots")).unwrap();
    place.write("saved/b/layer.tar", &lower);
    let saved = place.write(
        "saved.tar",
        place.tar("saved", &["a", "b", "c.json", "manifest.json"]),
    );
    let (said, _) = place.refused(&saved);
    assert!(
        said.contains("its file `b/layer.tar` has the digest sha256:"),
        "{said}"
    );
    // A root may have a file of that name.
    let root = place.write("root.tar", place.tar("saved", &["--exclude=c.json", "."]));
    fs::write(place.at("saved/manifest.json"), "{}").unwrap();
    let plain = place.write("plain.tar", place.tar("saved", &["manifest.json"]));
    let (plain, _) = place.unpack(&plain).unwrap();
    assert_eq!(paths(&plain), ["manifest.json"]);
    fs::remove_dir_all(place.at("roots")).unwrap();
    let (said, _) = place.refused(&root);
    assert_eq!(said, "its file `c.json` is missing");
}

#[test]
fn of_several_architectures_the_guests_is_taken() {
    let place = Place::new();
    let [lower, upper] = layers(&place);
    let arm = place.manifest("arm64", &[upper]);
    let own = place.manifest("amd64", &[lower]);
    let said = place.manifest("unknown", &[]);
    let inner = format!("{{\"manifests\":[{arm},{own},{said}]}}");
    let index = place.blob("application/vnd.oci.image.index.v1+json", inner.as_bytes());
    let (root, _) = place.unpack(&place.index(&[index])).unwrap();
    assert!(root.join("gone").exists());
    fs::remove_dir_all(place.at("roots")).unwrap();
    let (said, hint) = place.refused(&place.index(&[arm]));
    assert_eq!(said, "it is for arm64, and not for amd64");
    assert!(hint.contains("--platform"), "{hint}");
    let other = place.manifest("amd64", &[]);
    let (said, hint) = place.refused(&place.index(&[own, other]));
    assert_eq!(
        said,
        "it holds 2 images, and which one is meant is not said"
    );
    assert!(hint.contains("skopeo copy"), "{hint}");
    let (said, _) = place.refused(&place.index(&[]));
    assert!(said.ends_with("it names no image"), "{said}");
}

#[test]
fn an_image_of_which_anything_was_changed_cut_or_lost_is_refused() {
    let place = Place::new();
    let image = place.index(&[place.manifest("amd64", &layers(&place))]);
    let blobs: Vec<PathBuf> = fs::read_dir(place.at("image/blobs/sha256"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(blobs.len(), 4);
    for blob in blobs {
        let name = blob.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = fs::read(&blob).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for bytes in [&changed[..], &whole[..whole.len() - 1], b""] {
            fs::write(&blob, bytes).unwrap();
            let (said, hint) = place.refused(&image);
            let digest = sha256(bytes).unwrap();
            let file = format!("its file `blobs/sha256/{name}` has the digest sha256:{digest}, ");
            assert!(said.starts_with(&file), "{said}");
            assert!(hint.starts_with("make or fetch it again"), "{hint}");
        }
        fs::remove_file(&blob).unwrap();
        let (said, _) = place.refused(&image);
        assert_eq!(said, format!("its file `blobs/sha256/{name}` is missing"));
        fs::write(&blob, whole).unwrap();
    }
    assert!(place.unpack(&image).is_ok());
}

#[test]
fn a_file_with_an_ext4_is_a_disk_and_an_archive_with_its_mark_is_none() {
    let place = Place::new();
    let mut bytes = vec![0; 2048];
    bytes[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
    let find = |path: &Path| super::find(path, Architecture::Amd64, &mut |_| {});
    let disk = place.write("disk", &bytes);
    assert_eq!(find(&disk).unwrap(), Root::Disk(disk.clone()));
    place.write("root/file", &bytes);
    assert!(is_disk(&disk).unwrap());
    let mut tar = place.tar("root", &["file"]);
    tar[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
    assert!(!is_disk(&place.write("tar", &tar)).unwrap());
    assert!(!is_disk(&place.write("gzip", gzip(&bytes))).unwrap());
    let folder = place.at("root");
    assert_eq!(find(&folder).unwrap(), Root::Folder(folder.clone()));
}

#[test]
fn a_digest_is_no_path() {
    let place = Place::new();
    let digest = "{\"digest\":\"sha256:../../../etc/passwd\",\"size\":1}".to_owned();
    let (said, _) = place.refused(&place.index(&[digest]));
    assert!(
        said.contains("`sha256:../../../etc/passwd` is no digest by SHA-256"),
        "{said}"
    );
    let image = place.at("image");
    fs::write(image.join("index.json"), "[").unwrap();
    let (said, _) = place.refused(&image);
    assert!(
        said.starts_with("its file `index.json` is not understood: "),
        "{said}"
    );
}
