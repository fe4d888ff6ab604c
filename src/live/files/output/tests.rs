use super::*;
use nix::sys::stat::Mode;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use tempfile::TempDir;

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn umask() -> u32 {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("x")).unwrap();
    0o666 & !mode(&folder.path().join("x"))
}

#[test]
fn a_regular_file_is_replaced_whole_or_not_at_all_and_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o4751)).unwrap();
    for begin in [Output::begin, Output::live] {
        let mut output = begin(&file, Access::Usual).unwrap();
        output.write_all(b"half").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        drop(output);
        assert_eq!(names(&folder), ["file"]);
    }
    write(&file, b"new").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!((mode(&file), names(&folder).len()), (0o4751, 1));
    assert!(write_new(&file, b"newer").is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_missing_file_is_made_by_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("usual"), b"").unwrap();
    write_new(&at("new"), b"").unwrap();
    let private = Output::begin(&at("private"), Access::Private).unwrap();
    private.finish().unwrap();
    assert_eq!(mode(&at("usual")), 0o666 & !umask());
    assert_eq!(mode(&at("new")), 0o666 & !umask());
    assert_eq!(mode(&at("private")), 0o600 & !umask());
}

#[test]
fn one_that_grows_is_there_at_once_and_goes_if_nothing_comes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut output = Output::live(&file, Access::Usual).unwrap();
    output.write_all(b"half").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "half");
    drop(output);
    assert_eq!(names(&folder), [""; 0]);
    Output::live(&file, Access::Usual)
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn links_are_followed_also_to_what_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    std::os::unix::fs::symlink("sub/file", at("first")).unwrap();
    std::os::unix::fs::symlink("first", at("second")).unwrap();
    for text in ["one", "two"] {
        write(&at("second"), text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(at("sub/file")).unwrap(), text);
        assert!(at("first").is_symlink() && at("second").is_symlink());
    }
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    let error = write(&at("loop"), b"").unwrap_err();
    assert_eq!(io::Error::from(error).raw_os_error(), Some(libc::ELOOP));
    assert!(write_new(&at("loop"), b"").is_err());
}

#[test]
fn what_is_no_regular_file_is_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("fifo", folder.path().join("link")).unwrap();
    for name in ["fifo", "link"] {
        let name = folder.path().join(name);
        let writer = std::thread::spawn(move || write(&name, b"text").unwrap());
        let mut text = String::new();
        File::open(&fifo)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        writer.join().unwrap();
        assert_eq!(text, "text");
    }
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    assert_eq!(names(&folder), ["fifo", "link"]);
    let error = write(folder.path(), b"").unwrap_err();
    assert_eq!(io::Error::from(error).raw_os_error(), Some(libc::EISDIR));
    assert!(write(&folder.path().join("new/"), b"").is_err());
    assert!(write(&folder.path().join("none/new"), b"").is_err());
    assert!(write(Path::new(""), b"").is_err());
}

#[test]
fn all_of_several_files_are_written_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("a"), "old").unwrap();
    fs::set_permissions(at("a"), Permissions::from_mode(0o640)).unwrap();
    let begin = |name: &str| {
        let mut output = Output::begin(&at(name), Access::Usual).unwrap();
        output.write_all(b"new").unwrap();
        output
    };
    let outputs = vec![begin("a"), begin("b"), begin("sub/c")];
    // The last one's folder goes before it can have its name.
    fs::rename(at("sub"), at("gone")).unwrap();
    let (place, _) = Output::finish_all(outputs).unwrap_err();
    assert_eq!(place, 2);
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "old");
    assert_eq!(mode(&at("a")), 0o640);
    assert_eq!(names(&folder), ["a", "gone"]);
    Output::finish_all(vec![begin("a"), begin("b")]).unwrap();
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "new");
    assert_eq!(names(&folder), ["a", "b", "gone"]);
}

#[test]
fn the_old_one_can_keep_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    for text in ["one", "two", "three"] {
        let mut output = Output::begin(&file, Access::Private).unwrap();
        output.write_all(text.as_bytes()).unwrap();
        output.finish_beside_old(".old").unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "three");
    let old = folder.path().join("data.old");
    assert_eq!(fs::read_to_string(old).unwrap(), "two");
}

#[test]
fn two_names_of_one_file_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("a", folder.path().join("b")).unwrap();
    let output = Output::begin(&folder.path().join("a"), Access::Usual).unwrap();
    assert!(output.is_at(&folder.path().join("./b")));
    assert!(!output.is_at(&folder.path().join("c")));
}
