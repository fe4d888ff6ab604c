//! Which `ioctl` requests change files, their attributes, terminals or devices.

use crate::matching::answer::Answer;

/// The letters of file systems: those of all (`f`, `v`, `X`), of btrfs and clones, of FAT, of F2FS.
const LETTERS: [u8; 6] = [b'f', b'v', b'X', 0x94, b'r', 0xf5];

/// Their requests that only tell.
const TELLS: &[u32] = &[
    // FS_IOC_GETFLAGS, FS_IOC_GETVERSION and ext4's, of 64 and of 32 bits.
    0x8008_6601,
    0x8004_6601,
    0x8008_7601,
    0x8004_7601,
    0x8008_6603,
    0x8004_6603,
    // FS_IOC_FIEMAP, EXT4_IOC_GET_ES_CACHE.
    0xc020_660b,
    0xc020_662a,
    // FS_IOC_GET_ENCRYPTION_POLICY and _POLICY_EX, _KEY_STATUS, _NONCE.
    0x400c_6615,
    0xc009_6616,
    0xc080_661a,
    0x8010_661b,
    // FS_IOC_MEASURE_VERITY, FS_IOC_READ_VERITY_METADATA.
    0xc004_6686,
    0xc028_6687,
    // FS_IOC_FSGETXATTR, XFS_IOC_FSGETXATTRA, XFS_IOC_DIOINFO, FS_IOC_GETFSMAP.
    0x801c_581f,
    0x801c_582d,
    0x800c_581e,
    0xc0c0_583b,
    // FS_IOC_GETFSLABEL.
    0x8100_9431,
    // BTRFS_IOC_TREE_SEARCH and its second version, INO_LOOKUP, SPACE_INFO, SUBVOL_GETFLAGS,
    // DEV_INFO, FS_INFO, GET_SUBVOL_INFO.
    0xd000_9411,
    0xc070_9411,
    0xd000_9412,
    0xc010_9414,
    0x8008_9419,
    0xd000_941e,
    0x8400_941f,
    0x81f8_943c,
    // VFAT_IOCTL_READDIR_BOTH and _SHORT, FAT_IOCTL_GET_ATTRIBUTES, FAT_IOCTL_GET_VOLUME_ID.
    0x8230_7201,
    0x8230_7202,
    0x8004_7210,
    0x8004_7213,
    // F2FS_IOC_GET_FEATURES, _GET_PIN_FILE, _GET_COMPRESS_BLOCKS, _GET_COMPRESS_OPTION.
    0x8004_f50c,
    0x8004_f50e,
    0x8008_f511,
    0x8002_f515,
];

/// Requests of a terminal by which others get input or output that they were not given, or that
/// redefine what its keys type: TIOCSTI, TIOCCONS; KDSKBENT, KDSKBSENT, KDSKBDIACR, KDSETKEYCODE,
/// KDSKBDIACRUC. The kernel asks of the descriptor's mode for none of them.
const FAKES: &[u32] = &[0x5412, 0x541d, 0x4b47, 0x4b49, 0x4b4b, 0x4b4d, 0x4bfb];

/// Requests that change a device, or make or remove one, though it be open for reading alone.
const DEVICES: &[u32] = &[
    // BLKROSET, BLKRRPART, BLKPG, BLKDISCARD, BLKSECDISCARD, BLKZEROOUT.
    0x125d,
    0x125f,
    0x1269,
    0x1277,
    0x127d,
    0x127f,
    // LOOP_SET_FD, LOOP_CLR_FD, LOOP_SET_STATUS, LOOP_SET_STATUS64, LOOP_CHANGE_FD,
    // LOOP_SET_CAPACITY, LOOP_SET_DIRECT_IO, LOOP_SET_BLOCK_SIZE, LOOP_CONFIGURE.
    0x4c00,
    0x4c01,
    0x4c02,
    0x4c04,
    0x4c06,
    0x4c07,
    0x4c08,
    0x4c09,
    0x4c0a,
    // LOOP_CTL_ADD, LOOP_CTL_REMOVE, LOOP_CTL_GET_FREE, which adds one where none is free.
    0x4c80,
    0x4c81,
    0x4c82,
    // RTC_SET_TIME.
    0x4024_700a,
];

/// Requests that pass a command to a disk, which may be any: SCSI_IOCTL_SEND_COMMAND, SG_IO,
/// SG_SCSI_RESET, and those of NVMe (NVME_IOCTL_ADMIN_CMD, _SUBMIT_IO, _IO_CMD, _ADMIN64_CMD,
/// _IO64_CMD and its form of vectors). The first one has the number of FIBMAP, which only tells.
const PASSES: &[u32] = &[
    0x0001,
    0x2285,
    0x2284,
    0xc048_4e41,
    0x4030_4e42,
    0xc048_4e43,
    0xc050_4e47,
    0xc050_4e48,
    0xc050_4e49,
];

/// Does one of many things by a number in memory: it pastes what was selected, or only asks.
const TIOCLINUX: u32 = 0x541c;

/// Whether a request may change something of its file.
pub(super) fn changes_file(request: u32) -> Answer {
    let [_, letter, ..] = request.to_le_bytes();
    match request {
        TIOCLINUX => Answer::Unknown,
        _ if PASSES.contains(&request) => Answer::Unknown,
        _ if FAKES.contains(&request) || DEVICES.contains(&request) => Answer::Yes,
        _ => (LETTERS.contains(&letter) && !TELLS.contains(&request)).into(),
    }
}
