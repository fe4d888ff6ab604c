//! Signals to processes that are not the run's, and files whose signals go to them.

use super::acts::bits;
use super::stated::Done;
use super::table::SIGNALS;
use crate::matching::blame::Blamed;
use crate::matching::field::numbers;
use crate::trace::{Deed, Part, Value};

/// A signal to a process that is not the run's.
pub(super) fn signalled(deed: &Deed, by: impl Fn() -> Blamed) -> Option<Done> {
    if !SIGNALS.contains(&&*deed.name) {
        return None;
    }
    let returns = deed.returns.as_ref().map(|part| &part.value);
    if matches!(returns, Some(Value::Error(_) | Value::Never)) {
        return None;
    }
    let by_file = matches!(&*deed.name, "fcntl" | "ioctl");
    let (request, target) = match by_file {
        true => owner(deed)?,
        false => ("", deed.fields.first()),
    };
    let target = target.map(|part| &part.value);
    let whom = match target {
        Some(Value::Task { task: Some(_), .. }) => return None,
        Some(Value::Task { id: 1.., .. }) => Some("a process outside"),
        Some(Value::Task { id: 0, .. }) => Some("its process group"),
        Some(Value::Task { id: -1, .. }) => Some("every process"),
        Some(Value::Task { .. }) => Some("a process group"),
        _ => None,
    };
    if by_file {
        return Some(Done::signal(
            format!("a signal by {request} to {}", whom.unwrap_or("a process")),
            whom.is_some(),
            by(),
        ));
    }
    let signal = deed.part("sig");
    let number = signal
        .as_ref()
        .and_then(|it| numbers(&it.value).first().copied());
    if number == Some(0) {
        // It only asks whether the process is there.
        return None;
    }
    let is_read = number.is_some() && whom.is_some();
    let signal = signal.map_or_else(|| "a signal".to_owned(), |part| part.text.clone());
    let whom = whom.unwrap_or("a process by its descriptor");
    Some(Done::signal(format!("{signal} to {whom}"), is_read, by()))
}

/// The request by which a call says who gets the signals of a file, and the argument that says it,
/// `None` where that is in memory; nothing for a call that is not about that, or about nobody.
fn owner(deed: &Deed) -> Option<(&'static str, Option<&Part>)> {
    const SET_OWNER: u32 = 8;
    const SET_OWNER_EX: u32 = 15;
    // Of sockets alone, and they do what F_SETOWN does (`sock_ioctl()`, net/socket.c).
    const FIOSETOWN: u32 = 0x8901;
    const SIOCSPGRP: u32 = 0x8902;
    const NOBODY: Value = Value::Task { id: 0, task: None };
    match (&*deed.name, bits(deed, "cmd")?) {
        ("fcntl", SET_OWNER) => {
            let owner = deed.fields.get(2);
            let is_none = owner.is_some_and(|it| it.value == NOBODY);
            (!is_none).then_some(("F_SETOWN", owner))
        }
        ("fcntl", SET_OWNER_EX) => Some(("F_SETOWN", None)),
        ("ioctl", FIOSETOWN) => Some(("FIOSETOWN", None)),
        ("ioctl", SIOCSPGRP) => Some(("SIOCSPGRP", None)),
        _ => None,
    }
}
