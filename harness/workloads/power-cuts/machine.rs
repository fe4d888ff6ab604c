//! A disk in memory whose writes are recorded, and another one to try parts of them on.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use nix::fcntl::{FallocateFlags, fallocate};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use trace_harness::crash::Tree;

use crate::cuts::Part;
use crate::dm::Mapper;
use crate::folder;
use crate::modules::Modules;

type Failed = Box<dyn Error>;

/// What a disk is compared and torn by.
pub(crate) const BLOCK: usize = 4096;
const WORK: &str = "/tmp/power-cuts";
const LOG_SIZE: u64 = 1 << 30;
const NAME: &str = "recorded";

/// A file system, and how it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystem {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "ext4" => Some(Self::Ext4),
            "xfs" => Some(Self::Xfs),
            "btrfs" => Some(Self::Btrfs),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// The size of the disk in bytes.
    fn size(self) -> u64 {
        match self {
            Self::Ext4 => 16 << 20,
            Self::Xfs => 64 << 20,
            Self::Btrfs => 128 << 20,
        }
    }

    /// The options of mkfs. Ext4 has blocks of 1 KiB where the disk is small.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Ext4 => &["-q", "-b", "4096"],
            Self::Xfs => &["-q", "--unsupported"],
            Self::Btrfs => &["-q"],
        }
    }

    fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Ext4 => &["mbcache", "jbd2", "crc16", "ext4"],
            Self::Xfs => &["libcrc32c", "xfs"],
            Self::Btrfs => &["raid6_pq", "xor", "libcrc32c", "zstd_compress", "btrfs"],
        }
    }
}

/// What a disk holds but zeros, by block.
type Image = BTreeMap<u64, Rc<[u8]>>;

/// A write, flush or mark.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) flags: u64,
    /// Where on the disk, in bytes.
    pub(crate) at: u64,
    /// What was written, or the mark.
    pub(crate) data: Vec<u8>,
}

impl Entry {
    const FLUSH: u64 = 1;
    const FUA: u64 = 2;
    const DISCARD: u64 = 4;
    const MARK: u64 = 8;

    fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// Whether all writes that ended before it are durable when it ends.
    pub(crate) fn is_flush(&self) -> bool {
        self.has(Self::FLUSH)
    }

    /// Whether it is durable when it ends.
    pub(crate) fn is_through(&self) -> bool {
        self.has(Self::FUA)
    }

    pub(crate) fn mark(&self) -> Option<&[u8]> {
        self.has(Self::MARK).then_some(self.data.as_slice())
    }

    /// The parts into which a power cut tears it.
    pub(crate) fn parts(&self) -> usize {
        if self.has(Self::MARK) {
            return 0;
        }
        self.data.len().div_ceil(BLOCK)
    }
}

/// What the guest works with.
pub(crate) struct Machine {
    file_system: FileSystem,
    /// The disk as it was made.
    made: Image,
    disk: File,
    log: File,
    replay: File,
    mapper: Mapper,
    /// What was read of disks that were mounted already.
    known: RefCell<HashMap<u64, Option<Tree>>>,
}

/// The mounted folder whose disk is recorded.
pub(crate) struct Recorded<'m>(&'m Path, &'m Mapper);

impl Recorded<'_> {
    /// The folder that the program changes; it is not made yet.
    pub(crate) fn folder(&self) -> PathBuf {
        self.0.join("w")
    }

    /// Marks the log of writes.
    pub(crate) fn mark(&self, mark: &str) -> Result<(), Failed> {
        Ok(self.1.message(NAME, &format!("mark {mark}"))?)
    }
}

/// Runs a command to its end.
pub(crate) fn done(command: &mut Command) -> Result<(), Failed> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?}: {said}").into());
    }
    Ok(())
}

fn at(name: &str) -> PathBuf {
    Path::new(WORK).join(name)
}

impl Machine {
    pub(crate) fn new(file_system: FileSystem) -> Result<Self, Failed> {
        if nix::unistd::gethostname()? != "guest" {
            return Err("this is no guest of `harness vm`, whose disks may be changed".into());
        }
        let modules = Modules::new()?;
        for name in ["loop", "dm_mod", "dm_log_writes", "crc32c_generic"] {
            modules.load(name)?;
        }
        for name in file_system.modules() {
            modules.load(name)?;
        }
        fs::create_dir_all(at("mounted"))?;
        let size = file_system.size();
        let file = |name: &str, size: u64, device: &str| -> Result<File, Failed> {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(true);
            let file = options.open(at(name))?;
            file.set_len(size)?;
            if name == "disk" {
                let mut command = Command::new(format!("mkfs.{}", file_system.name()));
                done(command.args(file_system.options()).arg(at(name)))?;
            }
            done(Command::new("losetup").arg(device).arg(at(name)))?;
            Ok(file)
        };
        let disk = file("disk", size, "/dev/loop0")?;
        let log = file("log", LOG_SIZE, "/dev/loop1")?;
        let replay = file("replay", size, "/dev/loop2")?;
        let mut made = Image::new();
        let mut block = vec![0; BLOCK];
        for number in 0..size / BLOCK as u64 {
            disk.read_exact_at(&mut block, number * BLOCK as u64)?;
            if block.iter().any(|byte| *byte != 0) {
                made.insert(number, block.as_slice().into());
            }
        }
        Ok(Self {
            file_system,
            made,
            disk,
            log,
            replay,
            mapper: Mapper::open()?,
            known: RefCell::default(),
        })
    }

    /// Runs a program on a new disk; returns what was written to it, and the folder that the
    /// program left.
    pub(crate) fn record(
        &self,
        program: impl FnOnce(&Recorded<'_>) -> Result<(), Failed>,
    ) -> Result<(Vec<Entry>, Tree), Failed> {
        self.known.borrow_mut().clear();
        self.fill(&self.disk, &self.made)?;
        clear(&self.log, LOG_SIZE)?;
        let sectors = self.file_system.size() / 512;
        let devices = "/dev/loop0 /dev/loop1";
        self.mapper.create(NAME, sectors, "log-writes", devices)?;
        let mounted = at("mounted");
        self.mount(Path::new("/dev/dm-0"))?;
        let recorded = Recorded(&mounted, &self.mapper);
        let ran = program(&recorded);
        let last = folder::read(&recorded.folder());
        umount2(&mounted, MntFlags::empty())?;
        self.mapper.remove(NAME)?;
        self.forget()?;
        ran?;
        Ok((self.written()?, last?))
    }

    /// Lets the kernel forget the disk: btrfs knows them by an identity that the other one has too.
    fn forget(&self) -> Result<(), Failed> {
        if self.file_system != FileSystem::Btrfs {
            return Ok(());
        }
        done(Command::new("btrfs").args(["device", "scan", "--forget"]))
    }

    fn mount(&self, device: &Path) -> nix::Result<()> {
        let flags = MsFlags::MS_NOATIME;
        let name = self.file_system.name();
        mount(
            Some(device),
            &at("mounted"),
            Some(name),
            flags,
            None::<&str>,
        )
    }

    /// Makes a disk hold an image.
    fn fill(&self, disk: &File, image: &Image) -> Result<(), Failed> {
        clear(disk, self.file_system.size())?;
        for (number, block) in image {
            disk.write_all_at(block, number * BLOCK as u64)?;
        }
        Ok(())
    }

    /// Reads the log: Documentation/admin-guide/device-mapper/log-writes.rst.
    fn written(&self) -> Result<Vec<Entry>, Failed> {
        const MAGIC: u64 = 0x6a_7366_7773_6872;
        let word = |at: u64| -> Result<u64, Failed> {
            let mut bytes = [0; 8];
            self.log.read_exact_at(&mut bytes, at)?;
            Ok(u64::from_le_bytes(bytes))
        };
        if word(0)? != MAGIC {
            return Err(format!("no log of writes: it begins with {:#x}", word(0)?).into());
        }
        let (count, sector) = (word(16)?, word(24)? & 0xffff_ffff);
        let mut at = sector;
        let mut entries = Vec::new();
        for _ in 0..count {
            let (flags, size) = (word(at + 16)?, word(at + 8)? * sector);
            let place = word(at)? * sector;
            if flags & Entry::DISCARD != 0 {
                return Err("a discard was written, and is not replayed".into());
            }
            let is_mark = flags & Entry::MARK != 0;
            let (from, length) = match is_mark {
                true => (at + 32, word(at + 24)?),
                false => (at + sector, size),
            };
            let mut data = vec![0; usize::try_from(length)?];
            self.log.read_exact_at(&mut data, from)?;
            entries.push(Entry {
                flags,
                at: place,
                data,
            });
            at += sector + if is_mark { 0 } else { size };
        }
        Ok(entries)
    }

    /// Returns the folder after a power cut that left these parts of what was written, `None` where
    /// the disk cannot be mounted or read.
    pub(crate) fn after(&self, written: &[Entry], parts: &[Part]) -> Result<Option<Tree>, Failed> {
        let mut image = self.made.clone();
        for Part(entry, part) in parts {
            let Some(Entry { at, data, .. }) = written.get(*entry) else {
                continue;
            };
            let block = BLOCK as u64;
            let from = part * BLOCK;
            let data = data.get(from..data.len().min(from + BLOCK));
            put(
                &mut image,
                at + *part as u64 * block,
                data.unwrap_or_default(),
            );
        }
        let mut hash = DefaultHasher::new();
        image.hash(&mut hash);
        let hash = hash.finish();
        if let Some(known) = self.known.borrow().get(&hash) {
            return Ok(known.clone());
        }
        self.fill(&self.replay, &image)?;
        let tree = match self.mount(Path::new("/dev/loop2")) {
            Err(error) => {
                crate::say(&format!("a disk cannot be mounted: {error}"));
                None
            }
            Ok(()) => {
                let read = folder::read(&at("mounted").join("w"));
                umount2(&at("mounted"), MntFlags::empty())?;
                if let Err(error) = &read {
                    crate::say(&format!("a disk cannot be read: {error}"));
                }
                read.ok()
            }
        };
        self.known.borrow_mut().insert(hash, tree.clone());
        Ok(tree)
    }
}

/// Writes bytes to an image.
fn put(image: &mut Image, mut at: u64, mut data: &[u8]) {
    while !data.is_empty() {
        let skip = usize::try_from(at % BLOCK as u64).unwrap_or(0);
        let length = data.len().min(BLOCK - skip);
        let (now, rest) = data.split_at(length);
        let number = at / BLOCK as u64;
        let mut block = image
            .get(&number)
            .map_or(vec![0; BLOCK], |old| old.to_vec());
        if let Some(room) = block.get_mut(skip..skip + length) {
            room.copy_from_slice(now);
        }
        image.insert(number, block.into());
        (at, data) = (at + length as u64, rest);
    }
}

/// Makes a file all zeros.
fn clear(file: &File, size: u64) -> Result<(), Failed> {
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    Ok(fallocate(file, flags, 0, i64::try_from(size)?)?)
}
