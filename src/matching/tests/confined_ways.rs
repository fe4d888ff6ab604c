//! Ways of changing a file that no opened descriptor and no path shows.

use super::confined::word;
use crate::scenario::Confined;

fn no_writes() -> Confined {
    Confined {
        writes: Some(Vec::new()),
        ..Confined::default()
    }
}

#[test]
fn input_that_is_faked_into_a_terminal_is_written() {
    for (line, said) in [
        // TIOCSTI, TIOCCONS, KDSKBSENT; TIOCLINUX does one of many things.
        ("cmd=21522) = 0", "not /dev/tty1"),
        ("cmd=21533) = 0", "not /dev/tty1"),
        ("cmd=19273) = 0", "not /dev/tty1"),
        ("cmd=21532) = 0", "unknown"),
        // SG_IO.
        ("cmd=8837) = 0", "not /dev/tty1"),
        ("cmd=21522) = EIO", "allowed"),
        // TIOCGWINSZ, TCSETS.
        ("cmd=21523) = 0", "allowed"),
        ("cmd=21506) = 0", "allowed"),
    ] {
        let call = format!("P1 ioctl(fd=<0 /dev/tty1 #1>, {line}");
        assert_eq!(word(&no_writes(), &call), said, "{line}");
    }
}
