//! How a file system writes changes to a disk.

use crate::crash::ranges::PAGE;

/// Into which pieces changes are torn, which piece never overtakes which other, and what a sync
/// makes durable. The terms are those of Pillai et al., "All File Systems Are Not Created Equal"
/// (ALICE, OSDI 2014): atomicity and ordering.
///
/// Every model has these rules: a piece comes after each earlier piece that writes a sector, a
/// size, an attribute or a name that it writes too; a rename within a folder is one piece, and that
/// of a folder; a folder that moves to another folder comes after the earlier moves of the folders
/// on the way to its new place, so that no folder is inside itself (the kernel guards the same
/// under `s_vfs_rename_mutex`, `lock_rename()`, fs/namei.c).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a table of switches that a scenario sets"
)]
pub struct Model {
    /// The name, for reports.
    pub name: String,
    /// The unit in bytes in which the data of a write reaches the disk, at multiples of which it is
    /// torn. 0: a write is one piece, its size with its data.
    pub torn: u64,
    /// The unit in bytes in which a write that appends makes the file grow: the page of the
    /// kernel, which copies and accounts a page at a time (`generic_perform_write()`,
    /// mm/filemap.c).
    /// 0: a write grows the file at once.
    pub page: u64,
    /// A size never comes before the data of the blocks that the append begins.
    pub size_after_data: bool,
    /// Changes of names, attributes and ends of files reach the disk in their order.
    pub folders_in_order: bool,
    /// A sync makes durable all earlier changes of names, attributes and sizes.
    pub sync_commits: bool,
    /// A sync makes the names of what is synced durable.
    pub sync_brings_name: bool,
    /// A rename that replaces a file comes after the growth of what it moves.
    pub replace_after_data: bool,
    /// An exchange of two names changes the inodes behind them, so that a sync of one of them finds
    /// it.
    pub exchange_touches: bool,
    /// A file that moves to another folder is never in both.
    pub moves_whole: bool,
    /// `sync` and `syncfs` make data durable that was written over other data.
    pub sync_all_flushes: bool,
    /// A file that is emptied and then gets a name may be as long as it was at any time before,
    /// with what it held last.
    pub emptied_uncovers: bool,
    /// All changes reach the disk in their order, none torn.
    pub in_order: bool,
}

impl Default for Model {
    /// The least that may be relied on: `posix`.
    fn default() -> Self {
        Self {
            name: "posix".to_owned(),
            torn: 512,
            page: 4096,
            size_after_data: false,
            folders_in_order: false,
            sync_commits: false,
            sync_brings_name: false,
            replace_after_data: false,
            exchange_touches: true,
            moves_whole: false,
            sync_all_flushes: false,
            emptied_uncovers: true,
            in_order: false,
        }
    }
}

impl Model {
    /// What a sector is: a piece comes after the earlier pieces that write one of its sectors.
    pub(crate) fn unit(&self) -> u64 {
        let mut units = [self.torn, self.page].into_iter();
        units.find(|unit| *unit > 0).unwrap_or(4096)
    }

    /// Tells whether it matters to the states which of two pages of a file was changed first,
    /// where no sync and no change of a name or a size came between.
    #[must_use]
    pub fn orders_pages(&self) -> bool {
        self.in_order || !(PAGE as u64).is_multiple_of(self.unit())
    }

    /// The names that [`Model::named`] knows.
    pub const NAMES: [&'static str; 5] = ["posix", "ext4", "xfs", "btrfs", "ordered"];

    /// Returns the model of a name, `None` for an unknown one.
    ///
    /// Where the rules of file systems come from, and what `ci/power-cuts` showed of each, is in
    /// DECISIONS.md.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let posix = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let journal = Self {
            torn: 4096,
            folders_in_order: true,
            sync_commits: true,
            sync_brings_name: true,
            moves_whole: true,
            emptied_uncovers: false,
            ..posix.clone()
        };
        match name {
            "posix" => Some(posix),
            "ext4" => Some(Self {
                replace_after_data: true,
                sync_all_flushes: true,
                ..journal
            }),
            "xfs" => Some(Self {
                exchange_touches: false,
                ..journal
            }),
            "btrfs" => Some(Self {
                torn: 4096,
                sync_all_flushes: true,
                ..posix
            }),
            "ordered" => Some(Self {
                torn: 0,
                page: 0,
                moves_whole: true,
                sync_all_flushes: true,
                emptied_uncovers: false,
                in_order: true,
                ..posix
            }),
            _ => None,
        }
    }
}
