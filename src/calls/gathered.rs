//! Calls of which no argument is what they move, or whom they address.

use super::relatives::native_name;

/// Whether a call moves contents that none of its arguments are: from one descriptor to another, or
/// told by an array of pieces or a message (`struct iovec`, `struct msghdr`, `struct msgbuf`). A
/// record does not have them.
#[must_use]
pub fn moves_gathered(name: &str) -> bool {
    matches!(
        native_name(name),
        "readv"
            | "writev"
            | "preadv"
            | "pwritev"
            | "preadv2"
            | "pwritev2"
            | "vmsplice"
            | "process_vm_readv"
            | "process_vm_writev"
            | "copy_file_range"
            | "msgrcv"
            | "msgsnd"
            | "sendfile"
            | "splice"
            | "tee"
    ) || names_address_in_header(name)
}

/// Whether a call has the address of a peer in the header of a message (`msg_name`).
#[must_use]
pub fn names_address_in_header(name: &str) -> bool {
    matches!(
        native_name(name),
        "sendmsg" | "recvmsg" | "sendmmsg" | "recvmmsg"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{self, Abi};

    #[test]
    fn each_name_belongs_to_a_call() {
        let gathered = names::all(Abi::X86_64).filter(|(_, name)| moves_gathered(name));
        assert_eq!(gathered.count(), 19);
    }
}
