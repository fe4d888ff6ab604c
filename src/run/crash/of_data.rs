//! Calls that change what files hold.

use super::of_call::{MOST, OfCall};
use crate::crash::{Act, Begin, Synced};
use perf_live::gate::OpenFile;
use std::fs::File;
use std::io;

impl OfCall<'_> {
    /// The file that a `mmap` maps for writing, shared with others.
    pub(super) fn mapping(&self) -> io::Result<Option<(u64, File)>> {
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
        if !may_write || self.opened(&file).is_none() {
            return Ok(None);
        }
        Ok(Some((file.status.st_ino, file.again()?)))
    }

    pub(super) fn write(&mut self, name: &str) -> io::Result<Act> {
        let Some(file) = self.descriptor(0)? else {
            return Ok(Act::Nothing);
        };
        let is_promise = Some(file.status.st_ino) == self.promises && !file.is_regular();
        let opened = self.opened(&file).filter(|_| file.is_regular());
        if opened.is_none() && !is_promise {
            return Ok(Act::Nothing);
        }
        let read = match name {
            "write" | "pwrite64" if self.word(2) > MOST => Err(io::ErrorKind::InvalidData.into()),
            "write" | "pwrite64" => self.look.bytes(self.word(1), self.word(2) as usize),
            _ => self.look.buffers(self.word(1), self.word(2), MOST),
        };
        let bytes = match read {
            // The call itself will say so, unless it writes what is before.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                return Ok(Act::Unknown(format!(
                    "not all that `{name}` writes is in memory"
                )));
            }
            bytes => bytes?,
        };
        let Some(opened) = opened else {
            return Ok(Act::Said(bytes));
        };
        let flags = file.flags()?;
        // RWF_DSYNC, RWF_SYNC, RWF_APPEND, include/uapi/linux/fs.h
        let of_call = if name == "pwritev2" { self.word(5) } else { 0 };
        let at = match name {
            "pwrite64" | "pwritev" => Some(self.word(3)),
            "pwritev2" if self.word(3) as i64 != -1 => Some(self.word(3)),
            _ => None,
        };
        // With O_APPEND the offset of pwrite(2) has no effect on Linux.
        let begin = match at {
            _ if flags & libc::O_APPEND != 0 || of_call & 0x10 != 0 => Begin::End,
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
        let is_promise = Some(to.status.st_ino) == self.promises && !to.is_regular();
        let opened = self.opened(&to).filter(|_| to.is_regular());
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
        Ok(Act::Write {
            file,
            begin,
            bytes,
            synced: Synced::No,
        })
    }

    /// `ioctl(2)`, by which files come to share their blocks.
    pub(super) fn shared(&mut self) -> io::Result<Act> {
        // FICLONE, FICLONERANGE, FIDEDUPERANGE, include/uapi/linux/fs.h
        const SHARING: [u32; 3] = [0x4004_9409, 0x4020_940d, 0xc018_9436];
        if !SHARING.contains(&self.bits(1)) {
            return Ok(Act::Nothing);
        }
        let file = self.descriptor(0)?;
        Ok(match file.and_then(|file| self.opened(&file)) {
            Some(_) => Act::Unknown("blocks of another file were shared (`FICLONE`)".to_owned()),
            None => Act::Nothing,
        })
    }
}

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
