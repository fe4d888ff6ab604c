//! What the machine's administrator lets users do with capabilities that the program's file lends
//! them.

use super::Host;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

// What is longer is no list of words.
const LONGEST: u64 = 4096;

/// What is granted by nothing else than that file, as it reaches further than to programs of the
/// user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Events of the whole machine, and of running processes of any user.
    Machine,
    /// Probes of programs and of the kernel: they are the whole machine's, and one of the kernel
    /// reads all of its memory.
    Probes,
}

impl Grant {
    /// The word for it in the file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Probes => "probes",
        }
    }
}

impl Host {
    /// Where the grants stand: a line for each, `#` begins a comment.
    pub const RIGHTS: &str = "/etc/harness/rights";

    /// Whether the administrator grants this to users of a file with capabilities, by a file that
    /// root owns and no other user may write.
    #[must_use]
    pub fn grants(&self, grant: Grant) -> bool {
        let mut options = std::fs::File::options();
        let options = options.read(true);
        let options = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let Ok(file) = options.open(self.below_root(Self::RIGHTS)) else {
            return false;
        };
        let is_roots = file.metadata().is_ok_and(|metadata| {
            metadata.is_file() && metadata.uid() == 0 && metadata.mode() & 0o022 == 0
        });
        let mut text = String::new();
        is_roots
            && file.take(LONGEST).read_to_string(&mut text).is_ok()
            && text.lines().any(|line| is_word(line, grant.word()))
    }
}

fn is_word(line: &str, word: &str) -> bool {
    let (text, _) = line.split_once('#').unwrap_or((line, ""));
    text.trim() == word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_granted_stands_in_a_file_that_root_alone_may_write() {
        let tree = tempfile::tempdir().unwrap();
        let host = Host::at(tree.path());
        assert!(!host.grants(Grant::Machine));
        let file = host.below_root(Host::RIGHTS);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(
            &file,
            "# nothing else\n machine # for all\nprobes of ours\n",
        )
        .unwrap();
        let is_root = nix::unistd::geteuid().is_root();
        assert_eq!(host.grants(Grant::Machine), is_root);
        assert!(!host.grants(Grant::Probes));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o664)).unwrap();
        assert!(!host.grants(Grant::Machine));
    }
}
