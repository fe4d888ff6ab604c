//! What a walk says of the file that it ended at.

use super::doubt::Reached;
use super::ground::Why;
use super::node::Tree;
use super::walk::{Target, Walked};
use crate::ThreadId;
use std::sync::Arc;

impl Tree {
    /// What a path reached, or the name itself that it is. What may still show that it is another
    /// is noted with the walk.
    pub(crate) fn reached_by(
        &mut self,
        thread: ThreadId,
        walked: &mut Walked,
        is_name: bool,
    ) -> Reached {
        walked.doubt = self.doubt_of(thread, walked);
        match &walked.target {
            Target::Unknown(why) => Reached::Unknown(why.clone()),
            Target::Nowhere => Reached::Nowhere,
            Target::At(_) | Target::Absent | Target::Missing => {
                match self.names_of(walked, is_name) {
                    None => Reached::Unknown(Why::Names),
                    Some(names) => Reached::Known {
                        shown: self.shown(walked, &names),
                        names: names.into(),
                        is_led: walked.is_led || walked.climbs,
                        doubt: walked.doubt.clone(),
                    },
                }
            }
        }
    }

    /// Where a path led, if its text alone tells another place: by what the run made, by `..` into
    /// the run's directory, or from another folder than that. Where a `..` among the machine's own
    /// folders leads is the machine's affair, as its links are.
    fn shown(&self, walked: &Walked, names: &[Box<[u8]>]) -> Option<Arc<[u8]>> {
        let (plain, is_elsewhere) = walked.plain.as_ref()?;
        let is_of_run = names.first().is_some_and(|name| self.is_of_run(name));
        let is_led = walked.is_led || walked.climbs && is_of_run;
        match (is_led, names.first()) {
            (true, Some(name)) if name != plain => Some(Arc::from(&**name)),
            _ if *is_elsewhere => Some(Arc::from(&**plain)),
            _ => None,
        }
    }
}
