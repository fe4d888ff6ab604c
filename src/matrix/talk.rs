//! What a guest says to its host, and what the host sends it.

use super::frame::{Frame, LONGEST};
use nix::sys::signal::{SigSet, Signal};
use std::io::{BufReader, Read};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};

/// Receives the messages of a guest; the channel ends with the stream.
pub(super) fn listen(qemu: &mut Child) -> Receiver<Frame> {
    let (sender, frames) = mpsc::sync_channel(64);
    if let Some(out) = qemu.stdout.take() {
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            while let Ok(Some(frame)) = Frame::read(&mut out) {
                if sender.send(frame).is_err() {
                    break;
                }
            }
        });
    }
    frames
}

/// Passes this process' standard input on to a guest, to the end of either; QEMU takes no more than
/// the guest has room for.
pub(super) fn feed(to: &Arc<Mutex<ChildStdin>>) {
    let to = Arc::clone(to);
    std::thread::spawn(move || {
        // A process in the background cannot read the terminal: with the signal blocked the read
        // fails, and the process is not stopped.
        let _never_fails = SigSet::from(Signal::SIGTTIN).thread_block();
        let mut bytes = vec![0; LONGEST];
        loop {
            // An input that cannot be read counts as ended.
            let n = std::io::stdin().read(&mut bytes).unwrap_or(0);
            let read = bytes.get(..n).unwrap_or_default().to_vec();
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            if Frame::In(read).write(&mut *to).is_err() || n == 0 {
                break;
            }
        }
    });
}
