//! Whether a call changes privileges.

use super::acts::Doer;
use crate::matching::answer::Answer;
use crate::scenario::StartedAs;

impl Doer<'_, '_> {
    /// Whether these arguments of a privileged call change privileges. To have the ids again that
    /// the command was started with gives none that it had not then.
    pub(super) fn is_privileged(&self) -> Answer {
        const NAMESPACES: u32 = 0x7e02_0000;
        const NEW_TIME: u32 = 0x80;
        let StartedAs { user, group } = self.started_as;
        let is_other = |own: Option<u32>, words: &[&str]| {
            let kept = [u32::MAX, own.unwrap_or(u32::MAX)];
            let all = words.iter().map(|word| self.is_number(word, &kept));
            all.fold(Answer::Yes, Answer::and).opposite()
        };
        match self.name {
            "clone" => self.has_bit("flags", NAMESPACES),
            "clone3" | "unshare" => self.has_bit("flags", NAMESPACES | NEW_TIME),
            // PR_SET_KEEPCAPS, PR_SET_SECUREBITS, PR_SET_MM, PR_SET_PTRACER, and PR_CAP_AMBIENT
            // with PR_CAP_AMBIENT_RAISE.
            "prctl" => match self.bits("option") {
                Some(8 | 28 | 35 | 0x5961_6d61) => Answer::Yes,
                Some(47) => self.is_number("arg2", &[2]),
                Some(_) => Answer::No,
                None => Answer::Unknown,
            },
            // Without a mode, or by ADJ_OFFSET_SS_READ, they only tell; another clock than the
            // system's takes that for an offset.
            "adjtimex" => self.is_number("modes", &[0, 0xa001]).opposite(),
            "clock_adjtime" => {
                let reads = self
                    .is_number("which_clock", &[0])
                    .and(self.is_number("modes", &[0xa001]));
                self.is_number("modes", &[0]).or(reads).opposite()
            }
            "setuid" if user.is_some() => is_other(user, &["uid"]),
            "setgid" if group.is_some() => is_other(group, &["gid"]),
            "setfsuid" => is_other(user, &["uid"]),
            "setfsgid" => is_other(group, &["gid"]),
            "setreuid" => is_other(user, &["ruid", "euid"]),
            "setregid" => is_other(group, &["rgid", "egid"]),
            "setresuid" => is_other(user, &["ruid", "euid", "suid"]),
            "setresgid" => is_other(group, &["rgid", "egid", "sgid"]),
            _ => Answer::Yes,
        }
    }
}
