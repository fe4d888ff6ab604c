//! A pipe with a name, by which a workload in its sandbox can say that it has got somewhere, and
//! whose end says that every process that held it is gone.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::Mode;

use super::PATIENCE;
use super::process::is_ready;

/// The reading end.
pub(crate) struct Fifo {
    path: PathBuf,
    reader: File,
    said: String,
}

impl Fifo {
    /// A new one at that path.
    pub(crate) fn new(path: &Path) -> Self {
        nix::unistd::mkfifo(path, Mode::from_bits_truncate(0o666)).expect("mkfifo");
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let reader = nix::fcntl::open(path, flags, Mode::empty()).expect("the pipe");
        fcntl(reader.as_fd(), FcntlArg::F_SETFL(OFlag::O_RDONLY)).expect("fcntl");
        Self {
            path: path.to_owned(),
            reader: reader.into(),
            said: String::new(),
        }
    }

    /// What a workload opens for writing.
    pub(crate) fn path(&self) -> &str {
        self.path.to_str().expect("a path of letters")
    }

    /// Waits until so many lines have been said in all.
    pub(crate) fn wait_for_lines(&mut self, lines: usize) -> &str {
        while self.said.lines().count() < lines {
            assert!(self.take() > 0, "the end after `{}`", self.said);
        }
        &self.said
    }

    /// Waits until no process holds the writing end any more, and returns what was written.
    pub(crate) fn wait_for_end(&mut self) -> &str {
        while self.take() > 0 {}
        &self.said
    }

    fn take(&mut self) -> usize {
        let mut buffer = [0; 4096];
        assert!(
            is_ready(&self.reader, PATIENCE),
            "nothing comes, and no end, after `{}`",
            self.said
        );
        let length = self.reader.read(&mut buffer).expect("read");
        self.said.push_str(&String::from_utf8_lossy(
            buffer.get(..length).unwrap_or_default(),
        ));
        length
    }
}
