//! What lies under a path in a world when its workload begins.

use super::World;
use super::world::{DEVICES, EMPTY, INSIDE, LINKS};
use std::path::Path;

/// What lies under a path in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What the host has there.
    Host,
    /// A folder of its own.
    Folder,
    /// A symbolic link that says this.
    Link(&'static str),
    /// A device.
    File,
    /// The path does not exist there.
    Nothing,
}

impl World {
    /// What lies under a path there when the workload begins, but for its directory and what is
    /// told of processes.
    #[must_use]
    pub fn part(&self, path: &Path) -> Part {
        if !self.has_own_tmp() || path.starts_with(INSIDE) {
            return Part::Host;
        }
        if EMPTY.into_iter().any(|folder| path == Path::new(folder)) {
            return match path.is_dir() {
                true => Part::Folder,
                false => Part::Nothing,
            };
        }
        if EMPTY.into_iter().any(|folder| path.starts_with(folder)) {
            return Part::Nothing;
        }
        let Ok(device) = path.strip_prefix("/dev") else {
            return Part::Host;
        };
        let Some(name) = device.to_str() else {
            return Part::Nothing;
        };
        if matches!(name, "" | "pts" | "shm") {
            return Part::Folder;
        }
        match LINKS.into_iter().find(|(link, _)| *link == name) {
            Some((_, to)) => Part::Link(to),
            None if DEVICES.contains(&name) && path.exists() => Part::File,
            None if device.starts_with("pts") => Part::File,
            None => Part::Nothing,
        }
    }
}
