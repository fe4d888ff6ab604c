//! Calls that change what files hold.

use super::of_call::{MOST, OfCall};
use crate::crash::{Act, Begin, Opened, Synced};
use perf_live::gate::OpenFile;
use perf_live::sys::page_size;
use std::fs::File;
use std::io;

impl OfCall<'_> {
    /// The file that a `mmap` maps for writing, shared with others.
    pub(super) fn mapping(&self) -> io::Result<Option<(Opened, File)>> {
        const TYPE: u64 = 0xf;
        let flags = self.word(3);
        let is_shared = [libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE]
            .iter()
            .any(|kind| flags & TYPE == *kind as u64);
        if !is_shared || flags & libc::MAP_ANONYMOUS as u64 != 0 {
            return Ok(None);
        }
        let Some(file) = self.descriptor(4)?.filter(OpenFile::is_regular) else {
            return Ok(None);
        };
        // A mapping for reading may become one for writing.
        let may_write = file.flags()? & libc::O_ACCMODE == libc::O_RDWR;
        match self.opened(&file)?.filter(|_| may_write) {
            None => Ok(None),
            Some(opened) => Ok(Some((opened, file.again()?))),
        }
    }

    /// What `msync(2)` makes durable: the part of the file that is mapped there.
    pub(super) fn msync(&self) -> io::Result<Act> {
        if self.word(2) & libc::MS_SYNC as u64 == 0 {
            return Ok(Act::Nothing);
        }
        let from = self.word(0);
        // As the kernel has it, a length is one of whole pages.
        let last = (page_size() as u64).saturating_sub(1);
        let to = from.saturating_add(self.word(1).wrapping_add(last) & !last);
        let mut found = None;
        for mapping in self.look.host.mapped_files(self.look.held.thread)? {
            let (start, end) = (mapping.start.max(from), mapping.end.min(to));
            if start >= end || !mapping.is_shared {
                continue;
            }
            let name = (!mapping.name.ends_with(b" (deleted)")).then_some(mapping.name.as_slice());
            let Some(path) = name.and_then(|name| self.below(name)) else {
                continue;
            };
            // Where its file was opened to be read alone, the kernel syncs nothing: `do_mmap()`
            // takes `VM_SHARED` away.
            if !mapping.is_writable {
                let why = "`msync` of a mapping that no store is allowed in";
                return Ok(Act::Unknown(why.to_owned()));
            }
            let first = mapping.offset + (start - mapping.start);
            let of_file = (path, mapping.inode, first..first + (end - start));
            if found.replace(of_file).is_some() {
                let why = "`msync` of several mappings at once";
                return Ok(Act::Unknown(why.to_owned()));
            }
        }
        Ok(
            found.map_or(Act::Nothing, |(path, inode, range)| Act::SyncRange {
                file: Opened {
                    path: Some(path),
                    inode,
                    ..Opened::default()
                },
                range,
            }),
        )
    }

    pub(super) fn write(&mut self, name: &str) -> io::Result<Act> {
        let Some(file) = self.descriptor(0)? else {
            return Ok(Act::Nothing);
        };
        let is_promise = self.promises(&file)?;
        let opened = self.opened(&file)?.filter(|_| file.is_regular());
        if opened.is_none() && !is_promise {
            return Ok(Act::Nothing);
        }
        let read = match name {
            "write" | "pwrite64" if self.word(2) > MOST => Err(io::ErrorKind::InvalidData.into()),
            "write" | "pwrite64" => self.look.bytes(self.word(1), self.word(2) as usize),
            _ => self.look.buffers(self.word(1), self.word(2), MOST),
        };
        let bytes = match self.said(name, read)? {
            Act::Said(bytes) => bytes,
            other => return Ok(other),
        };
        let Some(opened) = opened else {
            return Ok(Act::Said(bytes));
        };
        let flags = file.flags()?;
        // RWF_DSYNC, RWF_SYNC, RWF_APPEND, RWF_NOAPPEND, include/uapi/linux/fs.h
        let of_call = if name == "pwritev2" { self.word(5) } else { 0 };
        let at = match name {
            "pwrite64" | "pwritev" => Some(self.word(3)),
            "pwritev2" if self.word(3) as i64 != -1 => Some(self.word(3)),
            _ => None,
        };
        // With O_APPEND the offset of pwrite(2) has no effect on Linux.
        let begin = match at {
            _ if of_call & 0x10 != 0 => Begin::End,
            _ if flags & libc::O_APPEND != 0 && of_call & 0x20 == 0 => Begin::End,
            Some(at) => Begin::At(at),
            None => Begin::At(file.position()?),
        };
        let synced = match flags & libc::O_SYNC {
            libc::O_SYNC => Synced::All,
            _ if of_call & 4 != 0 => Synced::All,
            libc::O_DSYNC => Synced::Data,
            _ if of_call & 2 != 0 => Synced::Data,
            _ => Synced::No,
        };
        self.about = Some(file.file);
        Ok(Act::Write {
            file: opened,
            begin,
            bytes,
            synced,
        })
    }

    /// A write of what another file holds.
    pub(super) fn copy(&mut self, name: &str) -> io::Result<Act> {
        // From, its offset, to, its offset, how much.
        let (from, from_at, to, to_at, length) = match name {
            "sendfile" => (1, Some(2), 0, None, self.word(3)),
            _ => (0, Some(1), 2, Some(3), self.word(4)),
        };
        let Some(to) = self.descriptor(to)? else {
            return Ok(Act::Nothing);
        };
        let is_promise = self.promises(&to)?;
        let opened = self.opened(&to)?.filter(|_| to.is_regular());
        if opened.is_none() && !is_promise {
            return Ok(Act::Nothing);
        }
        let offset = |place: Option<usize>, file: &OpenFile| {
            let at = place.map_or(0, |place| self.word(place));
            if at == 0 {
                file.position()
            } else {
                self.look.word(at)
            }
        };
        let source = self.descriptor(from)?.filter(OpenFile::is_regular);
        let Some(source) = source else {
            return Ok(Act::Unknown(format!(
                "what `{name}` wrote came from no file"
            )));
        };
        let mut bytes = vec![0; length.min(MOST) as usize];
        let start = offset(from_at, &source)?;
        let again = source.again()?;
        let there = read_at(&again, &mut bytes, start)?;
        bytes.truncate(there);
        let Some(file) = opened else {
            return Ok(Act::Said(bytes));
        };
        let begin = match to.flags()? & libc::O_APPEND {
            0 => Begin::At(offset(to_at, &to)?),
            _ => Begin::End,
        };
        self.about = Some(to.file);
        Ok(Act::Write {
            file,
            begin,
            bytes,
            synced: Synced::No,
        })
    }

    /// `ioctl(2)`, by which files come to share their blocks, among much else. One of a file beside
    /// the folder may be about another, whose descriptor it has (`XFS_IOC_EXCHANGE_RANGE`).
    pub(super) fn ioctl(&mut self) -> io::Result<Act> {
        let request = self.bits(1);
        if READING.contains(&request) {
            return Ok(Act::Nothing);
        }
        let file = self.descriptor(0)?;
        let file = file.filter(|file| file.is_regular() || file.is_folder());
        let is_here = match &file {
            None => false,
            Some(file) => {
                self.devices.contains(&file.status.st_dev) || self.opened(file)?.is_some()
            }
        };
        Ok(match file.filter(|_| is_here) {
            None => Act::Nothing,
            Some(to) if [CLONE, CLONE_RANGE].contains(&request) => self.cloned(request, to)?,
            Some(_) => Act::Unknown(format!("what `ioctl` {request:#x} does is not known")),
        })
    }

    /// A file that shares the blocks of another one from now on: it holds the same bytes.
    fn cloned(&mut self, request: u32, to: OpenFile) -> io::Result<Act> {
        let argument = self.word(2);
        let (from, start, length, at) = if request == CLONE {
            (self.number(2), 0, 0, 0)
        } else {
            // struct file_clone_range: src_fd, src_offset, src_length, dest_offset.
            let word = |place: u64| self.look.word(argument.wrapping_add(8 * place));
            (word(0)? as i32, word(1)?, word(2)?, word(3)?)
        };
        let Some(file) = self.opened(&to)? else {
            return Ok(Act::Nothing);
        };
        let source = self.look.descriptor(from)?.filter(OpenFile::is_regular);
        let Some(source) = source else {
            return Ok(Act::Nothing);
        };
        let again = source.again()?;
        // No length means to the end.
        let length = match length {
            0 => again.metadata()?.len().saturating_sub(start),
            length => length,
        };
        if length > MOST {
            let why = "more of a file was shared with another (`FICLONE`) than is looked at";
            return Ok(Act::Unknown(why.to_owned()));
        }
        let mut bytes = vec![0; length as usize];
        let there = read_at(&again, &mut bytes, start)?;
        bytes.truncate(there);
        self.about = Some(to.file);
        Ok(Act::Cloned { file, at, bytes })
    }
}

/// `FICLONE` and `FICLONERANGE`, include/uapi/linux/fs.h.
const CLONE: u32 = 0x4004_9409;
const CLONE_RANGE: u32 = 0x4020_940d;

/// Requests that change no file: `FIBMAP`, `FIGETBSZ`, `FIONBIO`, `FIONCLEX`, `FIOCLEX`,
/// `FIOASYNC`, `FIONREAD`, `FS_IOC_GETFLAGS`, `FS_IOC_GETVERSION`, `FS_IOC_FSGETXATTR`, `FS_IOC_GETFSLABEL`,
/// `FS_IOC_FIEMAP`.
const READING: [u32; 12] = [
    1,
    2,
    0x5421,
    0x5450,
    0x5451,
    0x5452,
    0x541b,
    0x8008_6601,
    0x8008_7601,
    0x801c_581f,
    0x8100_9431,
    0xc020_660b,
];

fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    let mut there = 0;
    while let Some(rest) = bytes.get_mut(there..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, start + there as u64)? {
            0 => break,
            more => there += more,
        }
    }
    Ok(there)
}
