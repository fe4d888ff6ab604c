//! The keys of a list of kernels that say what a guest is: its processor, its files, its harness.

use std::path::PathBuf;

/// The architecture of a guest, by Debian's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// x86-64.
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

impl Architecture {
    /// That of this program.
    pub const OWN: Self = if cfg!(target_arch = "aarch64") {
        Self::Arm64
    } else {
        Self::Amd64
    };

    /// All of them.
    pub const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// Returns Debian's word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// How a guest gets its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// It reads them on the host, as it goes.
    Plan9,
    /// It has all of them in its memory from its start.
    Initramfs,
}

impl Share {
    const ALL: [Self; 2] = [Self::Plan9, Self::Initramfs];

    const fn word(self) -> &'static str {
        match self {
            Self::Plan9 => "9p",
            Self::Initramfs => "initramfs",
        }
    }
}

/// What a guest is, beside its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// The architecture of its processor.
    pub arch: Architecture,
    /// Its files, from the list's folder on: a folder, a tar archive or an image of a container;
    /// without it they are the host's.
    pub root: Option<PathBuf>,
    /// How it gets them, if the list says so.
    pub share: Option<Share>,
    /// The harness that runs there, a static program, from the list's folder on; without it it is
    /// this very program.
    pub harness: Option<PathBuf>,
}

impl Default for Guest {
    fn default() -> Self {
        Self {
            arch: Architecture::OWN,
            root: None,
            share: None,
            harness: None,
        }
    }
}

/// The same as a list says it.
#[derive(Debug)]
pub(super) struct WrittenGuest {
    pub(super) arch: Option<String>,
    pub(super) root: Option<PathBuf>,
    pub(super) share: Option<String>,
    pub(super) harness: Option<PathBuf>,
}

impl WrittenGuest {
    pub(super) fn read(self, is_host: bool) -> Result<Guest, String> {
        let Self {
            arch,
            root,
            share,
            harness,
        } = self;
        if is_host && (arch.is_some() || root.is_some() || share.is_some() || harness.is_some()) {
            return Err(
                "`arch`, `root`, `share` and `harness` are for a kernel that is booted, not for the host's"
                    .to_owned(),
            );
        }
        let share = share.map(|word| how(&word)).transpose()?;
        if share == Some(Share::Initramfs) && root.is_none() {
            return Err(
                "`share: initramfs` lays the guest's files into its memory, and this machine's are too many: \
                 name a folder, an archive or an image with its files, `root`"
                    .to_owned(),
            );
        }
        let arch = arch.map_or(Ok(Architecture::OWN), |word| known(&word))?;
        if arch != Architecture::OWN && (root.is_none() || harness.is_none()) {
            return Err(format!(
                "a guest of {} cannot run this machine's programs: name a folder with its files, `root`, and a \
                 harness built for it, `harness`",
                arch.word()
            ));
        }
        Ok(Guest {
            arch,
            root,
            share,
            harness,
        })
    }
}

fn how(word: &str) -> Result<Share, String> {
    let found = Share::ALL.into_iter().find(|it| it.word() == word);
    found.ok_or_else(|| {
        let words = Share::ALL.map(Share::word).join(" or ");
        format!("`share` is {words}, not `{}`", word.escape_debug())
    })
}

fn known(word: &str) -> Result<Architecture, String> {
    let found = Architecture::ALL.into_iter().find(|it| it.word() == word);
    found.ok_or_else(|| {
        let words = Architecture::ALL.map(Architecture::word).join(" or ");
        format!("`arch` is {words}, not `{}`", word.escape_debug())
    })
}
