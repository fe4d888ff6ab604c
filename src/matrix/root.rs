//! Mounts the root of a guest, and the files of the host in it.
//!
//! ```text
//! the host's root by 9p, read-only -> it, or a folder of it, below a tmpfs for writes -> chroot
//! a part of it that the initramfs holds -> a folder of it ------------------------------+
//! a disk -> below a tmpfs for writes ---------------------------------------------------+
//! ```

use super::job::{Orders, os, tag};
use super::{DISK, HOST, WHOLE};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, chroot};
use perf_live::host::Host;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What of its root a guest has of its kernel.
pub(super) const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What init could not do in the guest.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(super) struct InitError {
    what: String,
    /// Whether it is what a kernel may lack.
    pub(super) is_lack: bool,
    source: io::Error,
}

pub(super) fn failed<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> InitError {
    let what = what.into();
    move |source| InitError {
        what,
        is_lack: false,
        source: source.into(),
    }
}

/// As [`failed`], of what a kernel may lack.
pub(super) fn lacking<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> InitError {
    let failed = failed(what);
    move |source| InitError {
        is_lack: true,
        ..failed(source)
    }
}

/// Mounts the host's root, or the folder of it that is the guest's; writes stay in the guest.
pub(super) fn root(orders: &Orders) -> Result<(), InitError> {
    for folder in [HOST, "/rw", "/new", "/oldtmp"] {
        fs::create_dir_all(folder).map_err(failed(format!("cannot make {folder}")))?;
    }
    match orders.is_packed {
        true => whole()?,
        false => share()?,
    }
    // What is in memory can be written as it is.
    let writable = orders.is_packed && !orders.has_disk;
    if !writable {
        let room = "mode=755,size=75%";
        attach("tmpfs", "tmpfs", "/rw", MsFlags::empty(), room)?;
    }
    let files = match orders.has_disk {
        true => Some(disk()?),
        false => orders.root.as_ref().map(|root| on_host(root)),
    };
    layer(
        files.as_deref().unwrap_or(Path::new(HOST)),
        Path::new("/new"),
        (!writable).then_some(0),
    )?;
    tmp(orders)?;
    lend(orders)?;
    for (index, folder) in orders.writes.iter().enumerate() {
        let folder = os(folder.clone());
        let at = format!("/new{}", folder.to_string_lossy());
        if orders.has_files() {
            fs::create_dir_all(&at).map_err(failed(format!("cannot make {at}")))?;
        }
        // Writes must reach the host before the guest ends.
        let through = "trans=virtio,version=9p2000.L,msize=512000,cache=mmap";
        attach("9p", &tag(index), &at, MsFlags::empty(), through)?;
    }
    for folder in OF_KERNEL {
        let at = format!("/new{folder}");
        fs::create_dir_all(&at).map_err(failed(format!("cannot make {at}")))?;
        attach("", folder, &at, MsFlags::MS_MOVE, "")?;
    }
    chdir("/new").map_err(failed("cannot enter the host's root"))?;
    attach("", ".", "/", MsFlags::MS_MOVE, "")?;
    chroot(".").map_err(failed("cannot make the host's root the guest's"))?;
    chdir("/").map_err(failed("cannot enter the root"))
}

/// Mounts the host's root.
fn share() -> Result<(), InitError> {
    let host = "trans=virtio,version=9p2000.L,msize=512000,cache=loose";
    attach("9p", super::ROOT, HOST, MsFlags::MS_RDONLY, host)
}

/// Mounts the disk that holds the guest's files, which other guests may read meanwhile.
fn disk() -> Result<PathBuf, InitError> {
    let at = "/disk";
    fs::create_dir_all(at).map_err(failed(format!("cannot make {at}")))?;
    let device = Host::running().disk(DISK).ok_or_else(|| {
        lacking("there is no disk with the guest's files: the kernel lacks CONFIG_VIRTIO_BLK")(
            io::Error::from(io::ErrorKind::NotFound),
        )
    })?;
    let device = device.to_string_lossy().into_owned();
    attach("ext4", &device, at, MsFlags::MS_RDONLY, "")?;
    Ok(at.into())
}

/// Makes sure that the kernel has unpacked all of the initramfs: it goes on without the rest, where
/// its memory is too small.
fn whole() -> Result<(), InitError> {
    let what = "the initramfs was not unpacked to its end: the guest's files do not \
                fit into its memory; give it more";
    fs::symlink_metadata(WHOLE).map_err(failed(what))?;
    let at = format!("{HOST}/tmp");
    fs::create_dir_all(&at).map_err(failed(format!("cannot make {at}")))
}

/// Makes an empty `/tmp`, with the entries that the command works with.
fn tmp(orders: &Orders) -> Result<(), InitError> {
    let at = "/new/tmp";
    fs::create_dir_all(at).map_err(failed("cannot make /tmp"))?;
    let of_host = format!("{HOST}/tmp");
    let from = if orders.has_files() { &of_host } else { at };
    attach("", from, "/oldtmp", MsFlags::MS_BIND, "")?;
    attach("tmpfs", "tmpfs", at, MsFlags::empty(), "mode=1777")?;
    for name in &orders.of_tmp {
        let name = os(name.clone());
        let (from, to) = (Path::new("/oldtmp").join(&name), Path::new(at).join(&name));
        let what = format!("cannot show `/tmp/{}` of the host", name.to_string_lossy());
        let Ok(about) = fs::symlink_metadata(&from) else {
            // A module that is named and not there: what needs it will report that.
            continue;
        };
        if about.is_dir() {
            fs::create_dir(&to).map_err(failed(what.clone()))?;
        } else if about.is_file() {
            File::create(&to).map_err(failed(what.clone()))?;
        } else {
            continue;
        }
        bind(&from, &to).map_err(failed(what))?;
    }
    umount2("/oldtmp", MntFlags::MNT_DETACH).map_err(failed("cannot let go of the host's /tmp"))
}

/// Returns where a path of the host is until the guest's root is entered.
fn on_host(path: &[u8]) -> PathBuf {
    below(HOST, path)
}

fn below(folder: &str, path: &[u8]) -> PathBuf {
    let relative = path.strip_prefix(b"/").unwrap_or(path);
    Path::new(folder).join(std::ffi::OsStr::from_bytes(relative))
}

/// Mounts a folder so that writes to it stay in the guest; each layer has a number of its own. What
/// is in the guest's memory needs none.
fn layer(folder: &Path, at: &Path, number: Option<usize>) -> Result<(), InitError> {
    let what = format!("cannot make room for {}", at.display());
    let Some(number) = number else {
        return bind(folder, at).map_err(failed(what));
    };
    // Colons and commas of a path would be part of the option.
    let [files, upper, work] =
        ["files", "upper", "work"].map(|name| format!("/rw/{number}/{name}"));
    for made in [&files, &upper, &work] {
        fs::create_dir_all(made).map_err(failed(what.clone()))?;
    }
    bind(folder, Path::new(&files)).map_err(failed(what))?;
    let layers = format!("lowerdir={files},upperdir={upper},workdir={work}");
    let at = at.to_string_lossy();
    attach("overlay", "overlay", &at, MsFlags::empty(), &layers)
}

fn bind(from: &Path, to: &Path) -> nix::Result<()> {
    let none = None::<&str>;
    mount(Some(from), to, none, MsFlags::MS_BIND, none)
}

/// Shows the host's files and folders in a guest whose root is not the host's, but for those that
/// its root has; the working directory is always the host's.
fn lend(orders: &Orders) -> Result<(), InitError> {
    let mut paths: Vec<&[u8]> = orders.lent.iter().map(Vec::as_slice).collect();
    // Folders come before what lies in them.
    paths.sort_unstable_by_key(|path| (path.len(), *path));
    let mut lent: Vec<PathBuf> = Vec::new();
    for (number, path) in (1..).zip(paths) {
        let (from, to) = (on_host(path), below("/new", path));
        let is_there = to.symlink_metadata().is_ok() && path != orders.directory;
        if is_there || lent.iter().any(|folder| to.starts_with(folder)) {
            continue;
        }
        let what = format!("cannot show `{}` of the host", os(path.to_vec()).display());
        let Ok(about) = fs::metadata(&from) else {
            // What needs it will report that.
            continue;
        };
        if about.is_dir() {
            fs::create_dir_all(&to).map_err(failed(what))?;
            layer(&from, &to, (!orders.is_packed).then_some(number))?;
        } else {
            let folder = to.parent().unwrap_or(Path::new("/new"));
            fs::create_dir_all(folder).map_err(failed(what.clone()))?;
            File::create(&to).map_err(failed(what.clone()))?;
            bind(&from, &to).map_err(failed(what))?;
        }
        lent.push(to);
    }
    Ok(())
}

pub(super) fn attach(
    kind: &str,
    from: &str,
    at: &str,
    flags: MsFlags,
    data: &str,
) -> Result<(), InitError> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (kind, data) = (some(kind), some(data));
    let mounted = mount(Some(from), at, kind.as_deref(), flags, data.as_deref());
    mounted.map_err(|error| {
        let what = format!("cannot mount {} at {at}", kind.as_deref().unwrap_or(from));
        InitError {
            is_lack: matches!(kind.as_deref(), Some("9p" | "overlay" | "ext4")),
            ..failed(what)(error)
        }
    })
}
