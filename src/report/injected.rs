//! What was done to a call, in JSON.

use std::fmt::Write as _;
use syscall_model::signals::signal_name;
use syscall_model::{Answer, Injected, errno};

/// Appends the member `injected`, if anything was done to a call while it was held.
pub(super) fn json(out: &mut String, injected: Injected) {
    if injected.is_nothing() {
        return;
    }
    let mut parts = Vec::new();
    match injected.answer {
        Some(Answer::Error(error)) => parts.push(match errno::errno_name(error) {
            Some(name) => format!("\"error\":\"{name}\""),
            None => format!("\"error\":\"{error}\""),
        }),
        Some(Answer::Value(value)) => parts.push(format!("\"returns\":{value}")),
        Some(Answer::Short(most)) => parts.push(format!("\"short\":{most}")),
        None => {}
    }
    parts.extend(
        injected
            .delay
            .map(|delay| format!("\"delay_ns\":{}", delay.0)),
    );
    let signal = injected.signal.map(signal_name);
    parts.extend(signal.map(|name| format!("\"signal\":\"{name}\"")));
    parts.extend(injected.is_blocked.then(|| "\"block\":true".to_owned()));
    let _always_fits = write!(out, ",\"injected\":{{{}}}", parts.join(","));
}
