//! The world of a workload.

use super::scalar::flow;
use perf_live::sandbox::{Addresses, Network, Root, Survivors, UserSpec, WorldSpec};
use perf_live::units::Limits;
use std::time::Duration;

/// The key `sandbox` with what is not the default.
pub(super) fn line(world: &WorldSpec) -> Option<String> {
    let WorldSpec {
        network,
        root,
        user,
        hostname,
        umask,
        addresses,
        limits,
        survivors,
    } = world;
    let default = WorldSpec::default();
    let mut keys: Vec<String> = Vec::new();
    let mut key = |name: &str, value: Option<String>| {
        keys.extend(value.map(|value| format!("{name}: {value}")));
    };
    let word = |is: bool, word: &str| is.then(|| word.to_owned());
    key("network", word(*network == Network::Host, "host"));
    key("root", word(*root == Root::Host, "host"));
    key(
        "user",
        user.as_ref().map(|user| match user {
            UserSpec::Name(name) => flow(name),
            UserSpec::Id(id) => id.to_string(),
        }),
    );
    key(
        "hostname",
        (*hostname != default.hostname).then(|| flow(hostname)),
    );
    key(
        "umask",
        (*umask != default.umask).then(|| format!("\"{umask:04o}\"")),
    );
    key("addresses", word(*addresses == Addresses::Random, "random"));
    key("limits", self::limits(limits, &default.limits));
    key(
        "survivors",
        word(*survivors == Survivors::Allowed, "allowed"),
    );
    (!keys.is_empty()).then(|| format!("sandbox: {{ {} }}", keys.join(", ")))
}

fn limits(limits: &Limits, default: &Limits) -> Option<String> {
    let Limits {
        cpu,
        memory,
        processes,
        open_files,
        file_size,
        output,
    } = limits;
    let millis = |time: &Duration| format!("{}ms", time.as_millis());
    let processes = processes.filter(|_| *processes != default.processes);
    let numbers = [
        ("memory", *memory),
        ("processes", processes),
        ("open_files", *open_files),
        ("file_size", *file_size),
        ("output", *output),
    ];
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, number)| Some((name, number?.to_string())));
    let all = cpu.iter().map(|time| ("cpu", millis(time))).chain(numbers);
    let all: Vec<String> = all
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
}
