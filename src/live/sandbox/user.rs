//! The machine's table of users.

use super::spec::UserSpec;
use crate::units::User;
use std::ffi::CString;

/// Looks a user up, with all its groups (`getpwnam(3)`, `getgrouplist(3)`). A number without an
/// entry is a user too, whose group has the same number and no other member.
#[must_use]
pub fn find_user(who: &UserSpec) -> Option<User> {
    let entry = match who {
        UserSpec::Name(name) => nix::unistd::User::from_name(name).ok().flatten(),
        UserSpec::Id(id) => nix::unistd::User::from_uid((*id).into()).ok().flatten(),
    };
    match (entry, who) {
        (Some(entry), _) => {
            let name = CString::new(entry.name).ok()?;
            let groups = nix::unistd::getgrouplist(&name, entry.gid).ok()?;
            Some(User {
                uid: entry.uid.as_raw(),
                gid: entry.gid.as_raw(),
                groups: groups.into_iter().map(nix::unistd::Gid::as_raw).collect(),
            })
        }
        (None, UserSpec::Id(id)) => Some(User {
            uid: *id,
            gid: *id,
            groups: vec![*id],
        }),
        (None, UserSpec::Name(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_by_number_and_any_number_is_somebody() {
        let root = find_user(&UserSpec::Name("root".to_owned())).expect("root");
        assert_eq!((root.uid, root.gid), (0, 0));
        assert_eq!(find_user(&UserSpec::Id(0)), Some(root));
        let stranger = find_user(&UserSpec::Id(3_123_456_789)).expect("a number");
        assert_eq!(stranger.groups, [3_123_456_789]);
        assert_eq!(find_user(&UserSpec::Name("no such user".to_owned())), None);
    }
}
