//! Opens a guest's port to its host.

use super::PORT;
use perf_live::host::Host;
use perf_records::units::shown_path;
use std::fs::{File, OpenOptions};
use std::io;
use std::time::{Duration, Instant};

/// How long the port may take to appear after its driver was loaded.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same where the kernel seems to have no such driver.
const WITHOUT_DRIVER: Duration = Duration::from_secs(1);

/// Opens it when it is there, or says what it could not do, and why.
pub(super) fn open() -> Result<File, (String, io::Error)> {
    let begun = Instant::now();
    let host = Host::running();
    loop {
        if let Some(path) = host.virtio_port(PORT) {
            match OpenOptions::new().read(true).write(true).open(&path) {
                Ok(file) => return Ok(file),
                Err(error) if begun.elapsed() > PATIENCE => {
                    return Err((format!("cannot open {}", shown_path(&path)), error));
                }
                Err(_) => {}
            }
        } else {
            let (why, patience) = match host.lacks_of_virtio_ports() {
                Some(option) => (
                    format!("there is no port to the host: the kernel lacks {option}"),
                    WITHOUT_DRIVER,
                ),
                None => ("there is no port to the host".to_owned(), PATIENCE),
            };
            if begun.elapsed() > patience {
                return Err((why, io::Error::from(io::ErrorKind::NotFound)));
            }
        }
        // The kernel makes the port when the host has named it; without netlink, the init has to
        // poll.
        std::thread::sleep(Duration::from_millis(2));
    }
}
