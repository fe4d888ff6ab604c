//! What differs by nature in messages of netlink.
//!
//! - strace says in comments what else a number means, and marks what it has no name for, which
//!   may have one: newer kernels have more.
//! - It asks the kernel for the names of devices.
//! - It names the counts of IPv6 in an order that newer kernels do not have any more.

/// strace's text of messages, as it is here.
pub(super) fn as_ours(theirs: &str, ours: &str) -> String {
    const COMMENT: &str = " /* ";
    const DEVICE: &str = "if_nametoindex(";
    let theirs = without_order(theirs);
    let (mut out, mut rest) = (String::new(), theirs.as_str());
    while let Some(at) = [COMMENT, DEVICE]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min()
    {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some((comment, behind)) = from
            .strip_prefix(COMMENT)
            .and_then(|it| it.split_once(" */"))
        {
            rename(&mut out, comment, ours);
            rest = behind;
        } else {
            let end = from.find(')').map_or(from.len(), |end| end + 1);
            let (name, behind) = from.split_at(end);
            let number = word(ours, out.len());
            let is_number = number.starts_with(|letter: char| letter.is_ascii_digit());
            out.push_str(if is_number { number } else { name });
            rest = behind;
        }
    }
    out + rest
}

/// Puts our name in the place of a number that strace has none for.
fn rename(out: &mut String, comment: &str, ours: &str) {
    let Some(prefix) = comment.strip_suffix("???") else {
        return;
    };
    let number = out.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
    let start = number.len();
    let name = word(ours, start);
    if !prefix.is_empty() && name.starts_with(prefix) {
        out.truncate(start);
        out.push_str(name);
    }
}

/// The word that begins at a place.
fn word(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or_default();
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_of_word(letter));
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
}

/// `[[IPSTATS_MIB_NUM]=2, [IPSTATS_MIB_INPKTS]=0]` as `[2, 0]`.
fn without_order(text: &str) -> String {
    let mut lists = text.split("[[IPSTATS_MIB_NUM]=");
    let mut out = lists.next().unwrap_or_default().to_owned();
    for rest in lists {
        let (list, behind) = rest.split_once(']').map_or((rest, ""), |_| {
            let end = rest.find("]]").unwrap_or(rest.len());
            rest.split_at(end)
        });
        let numbers = list
            .split(", ")
            .map(|one| one.rsplit('=').next().unwrap_or_default());
        out.push('[');
        out.push_str(&numbers.collect::<Vec<_>>().join(", "));
        out.push_str(behind);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_strace_does_not_know_is_one_of_its_kind() {
        let theirs = "{nla_type=0x43 /* IFLA_??? */}, 5 /* 0.05 s */";
        assert_eq!(
            as_ours(theirs, "{nla_type=IFLA_NEW}, 5"),
            "{nla_type=IFLA_NEW}, 5"
        );
        assert_eq!(
            as_ours(theirs, "{nla_type=RTA_NEW}, 5"),
            "{nla_type=0x43}, 5"
        );
        assert_eq!(as_ours(theirs, "{nla_type=0x43}, 5"), "{nla_type=0x43}, 5");
    }

    #[test]
    fn the_name_of_a_device_is_its_number() {
        let theirs = "{ifi_index=if_nametoindex(\"eth0\"), a=1}";
        assert_eq!(as_ours(theirs, "{ifi_index=2, a=3}"), "{ifi_index=2, a=1}");
        let same = "{ifi_index=if_nametoindex(\"eth0\"), a=1}";
        assert_eq!(as_ours(theirs, same), same);
    }

    #[test]
    fn counts_of_ipv6_stand_in_a_row() {
        let theirs = "[[{a}, [[IPSTATS_MIB_NUM]=2, [IPSTATS_MIB_X]=7]], [{b}, 1]]";
        assert_eq!(as_ours(theirs, ""), "[[{a}, [2, 7]], [{b}, 1]]");
    }
}
