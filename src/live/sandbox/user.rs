//! The machine's users.
//!
//! The C library's `getpwnam(3)` loads modules into the process (`nsswitch.conf(5)`), which a
//! static program cannot do with those of any machine. So the files are read here, and whom they
//! lack is asked of the machine's own programs.

use super::spec::UserSpec;
use crate::units::User;
use std::path::Path;
use std::process::{Command, Stdio};

/// Looks a user up, with all its groups: in `passwd(5)` and `group(5)`, and else by `getent(1)` and
/// `id(1)`, which know of directories on the network. A number without an entry is a user too,
/// whose group has the same number and no other member.
#[must_use]
pub fn find_user(who: &UserSpec) -> Option<User> {
    in_files(Path::new("/etc"), who)
        .or_else(|| elsewhere(who))
        .or(match who {
            UserSpec::Id(id) => Some(User {
                uid: *id,
                gid: *id,
                groups: vec![*id],
            }),
            UserSpec::Name(_) => None,
        })
}

fn in_files(folder: &Path, who: &UserSpec) -> Option<User> {
    let users = std::fs::read(folder.join("passwd")).ok()?;
    let groups = std::fs::read(folder.join("group")).unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let entry = users
        .lines()
        .filter_map(Entry::of)
        .find(|entry| match who {
            UserSpec::Name(name) => entry.name == name,
            UserSpec::Id(id) => entry.uid == *id,
        })?;
    let groups = String::from_utf8_lossy(&groups);
    let others = groups.lines().filter_map(|line| group_of(line, entry.name));
    Some(entry.with(others))
}

/// Whom the machine's name services know. They are the machine's own programs, whatever the
/// environment says.
fn elsewhere(who: &UserSpec) -> Option<User> {
    let key = match who {
        UserSpec::Name(name) => name.clone(),
        UserSpec::Id(id) => id.to_string(),
    };
    let users = printed("getent", &["passwd", "--", &key])?;
    let entry = users.lines().find_map(Entry::of)?;
    let groups = printed("id", &["-G", "--", entry.name])?;
    let groups = groups.split_ascii_whitespace().map(str::parse);
    let groups = groups.collect::<Result<Vec<u32>, _>>().ok()?;
    Some(entry.with(groups.into_iter()))
}

/// What a program prints that succeeds.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

/// A line of `passwd(5)`.
struct Entry<'a> {
    name: &'a str,
    uid: u32,
    gid: u32,
}

impl<'a> Entry<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let mut number = |nth| fields.nth(nth)?.parse().ok();
        Some(Self {
            name,
            uid: number(1)?,
            gid: number(0)?,
        })
    }

    /// The user, whose own group comes first.
    fn with(&self, others: impl Iterator<Item = u32>) -> User {
        let mut groups = vec![self.gid];
        for group in others {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        User {
            uid: self.uid,
            gid: self.gid,
            groups,
        }
    }
}

/// The number of the group of a line of `group(5)` that has this member.
fn group_of(line: &str, member: &str) -> Option<u32> {
    let mut fields = line.split(':').skip(2);
    let number = fields.next()?.parse().ok()?;
    let members = fields.next()?;
    members
        .split(',')
        .any(|one| one == member)
        .then_some(number)
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

    #[test]
    fn each_user_of_the_files_is_the_one_that_the_c_library_knows() {
        let users = std::fs::read_to_string("/etc/passwd").unwrap();
        for entry in users.lines().filter_map(Entry::of) {
            let name = UserSpec::Name(entry.name.to_owned());
            let c_name = std::ffi::CString::new(entry.name).unwrap();
            let gid = nix::unistd::Gid::from_raw(entry.gid);
            let groups = nix::unistd::getgrouplist(&c_name, gid).unwrap();
            let known: Vec<u32> = groups.into_iter().map(nix::unistd::Gid::as_raw).collect();
            let user = in_files(Path::new("/etc"), &name).unwrap();
            assert_eq!((user.uid, user.gid), (entry.uid, entry.gid));
            // A directory on the network may know of more.
            let unknown = user.groups.iter().find(|group| !known.contains(group));
            assert_eq!(unknown, None, "{}", entry.name);
        }
    }

    #[test]
    fn the_name_services_know_a_user_as_the_files_do() {
        for who in [UserSpec::Name("root".to_owned()), UserSpec::Id(0)] {
            assert_eq!(elsewhere(&who), in_files(Path::new("/etc"), &who));
        }
        assert_eq!(elsewhere(&UserSpec::Name("no such user".to_owned())), None);
    }

    #[test]
    fn lines_that_are_no_users_are_passed_over_and_a_group_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name, text| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "passwd",
            "+\n# no user\nx:x:seven:7\n:x:8:8\na:x:8:9:A:/:/bin/sh\nb:x:8:8\n",
        );
        write(
            "group",
            "own:x:9:a\nmany:x:10:b,a\nother:x:11:ab\nlone:x:12:\nbad:x:y:a\n",
        );
        let found =
            |who| in_files(folder.path(), &who).map(|user| (user.uid, user.gid, user.groups));
        assert_eq!(
            found(UserSpec::Name("a".to_owned())),
            Some((8, 9, vec![9, 10]))
        );
        assert_eq!(found(UserSpec::Id(8)), Some((8, 9, vec![9, 10])));
        assert_eq!(found(UserSpec::Name("x".to_owned())), None);
    }
}
