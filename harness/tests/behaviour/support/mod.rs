//! What the tests have in common.

pub(crate) mod fifo;
pub(crate) mod leavings;
pub(crate) mod machine;
pub(crate) mod oracle;
pub(crate) mod process;
pub(crate) mod project;
#[path = "../../common/require.rs"]
pub(crate) mod require;
pub(crate) mod unread;

use std::time::Duration;

/// How long a test waits for what must happen. Never reached where all is well, on a machine of any
/// speed; no test waits for it to pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Root may give files away, and keeps rights that others have not.
pub(crate) fn is_root() -> Result<(), String> {
    match nix::unistd::geteuid().is_root() {
        true => Ok(()),
        false => Err("it is not run as root".to_owned()),
    }
}
