//! What acts come to as rules have it, when a run is over.

use super::acts::{Act, Move};
use super::opened::executed;
use super::rights::Right;
use super::ruleset::DIRECTORY;
use super::touched::{Moved, Programs, Touched};

pub(super) struct Adding<'a> {
    pub(super) touched: Touched,
    pub(super) directory: &'a str,
}

impl Adding<'_> {
    pub(super) fn add(&mut self, act: Act, is_refused: bool, programs: &Programs) {
        match act {
            Act::Path(path, right) => {
                let Some(path) = self.shown(&path) else {
                    return;
                };
                match is_refused {
                    true => self.touched.refused.rights.insert((path, right)),
                    false => self.touched.rights.insert((path, right)),
                };
            }
            Act::Port(right, port) => {
                match is_refused {
                    true => self.touched.refused.ports.insert((right, port)),
                    false => self.touched.ports.insert((right, port)),
                };
            }
            Act::Move(it) => {
                if let Some(it) = self.moved(&it) {
                    match is_refused {
                        true => self.touched.refused.moves.insert(it),
                        false => self.touched.moves.insert(it),
                    };
                }
            }
            // Below the working directory there is one file system.
            Act::Crossing(it) => {
                let is_own = |path: &String| path.starts_with(DIRECTORY);
                let it = self.moved(&it);
                if let Some(it) = it.filter(|it| is_own(&it.from) && is_own(&it.to)) {
                    let refused = &mut self.touched.refused;
                    let places = [it.from.clone(), it.to.clone()];
                    refused
                        .rights
                        .extend(places.map(|place| (place, Right::Refer)));
                    refused.moves.insert(it);
                }
            }
            // It was looked at in its order.
            Act::Change(_) => {}
            Act::Execute(path) => {
                let unknown = || Err("which loader it takes is not known".to_owned());
                match programs.get(&path).cloned().unwrap_or_else(unknown) {
                    Ok(all) => {
                        for path in all {
                            for act in executed(&path) {
                                self.add(act, is_refused, programs);
                            }
                        }
                    }
                    Err(_) if is_refused => {
                        self.touched.refused.calls.insert(("execve", None));
                    }
                    Err(why) => {
                        let path = path.escape_ascii();
                        self.touched.untold.insert(format!("`{path}`: {why}"));
                    }
                }
            }
            Act::Refused(call, scope) => {
                self.touched.refused.calls.insert((call, scope));
            }
            Act::Untold(why) => {
                self.touched.untold.insert(why);
            }
        }
    }

    fn moved(&mut self, it: &Move) -> Option<Moved> {
        Some(Moved {
            own: it.own.as_ref().and_then(|own| self.shown(own)),
            from: self.shown(&it.from)?,
            to: self.shown(&it.to)?,
            is_folder: it.is_folder,
        })
    }

    /// A path as rules have it.
    fn shown(&mut self, path: &[u8]) -> Option<String> {
        let below = |folder: &str| {
            let rest = path.strip_prefix(folder.as_bytes())?;
            (!folder.is_empty() && (rest.is_empty() || rest.starts_with(b"/"))).then_some(rest)
        };
        let shown = match below(self.directory) {
            Some(rest) => [DIRECTORY.as_bytes(), rest].concat(),
            None => path.to_vec(),
        };
        let text = String::from_utf8(shown).ok();
        let has_variable = |text: &String| text.trim_start_matches(DIRECTORY).contains("${");
        let text = text.filter(|text| !has_variable(text));
        if text.is_none() {
            let path = path.escape_ascii();
            let why = format!("no rule can say the path `{path}`");
            self.touched.untold.insert(why);
        }
        text
    }
}
