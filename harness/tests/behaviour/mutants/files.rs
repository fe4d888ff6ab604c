//! Programs that break promises about files.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        scenario: "an-atomic-save-syncs-the-file-and-then-the-folder",
        breaks: "the file is not synced",
        edits: &[("$new->sync or die \"cannot sync: $!\";\n", "")],
        says: &["fsync", "$new"],
    },
    Mutant {
        scenario: "an-atomic-save-syncs-the-file-and-then-the-folder",
        breaks: "the folder is not synced",
        edits: &[("$folder->sync or die \"cannot sync the folder: $!\";\n", "")],
        says: &["fsync", "$folder"],
    },
    Mutant {
        scenario: "an-atomic-save-syncs-the-file-and-then-the-folder",
        breaks: "more is written behind the sync",
        edits: &[("close($new)", "syswrite($new, \"more\"); close($new)")],
        says: &["forbids", "write"],
    },
    Mutant {
        scenario: "an-atomic-save-syncs-the-file-and-then-the-folder",
        breaks: "the old file goes first",
        edits: &[(
            "rename(\"$file.new\"",
            "unlink($file); rename(\"$file.new\"",
        )],
        says: &["never", "unlink"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-journal-before-it-writes-the-database",
        breaks: "nothing is synced",
        edits: &[("synchronous=FULL", "synchronous=OFF")],
        says: &["f*sync", "$journal"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-journal-before-it-writes-the-database",
        breaks: "what the journal holds is not synced before the number of its pages",
        edits: &[("synchronous=FULL", "synchronous=NORMAL")],
        says: &["pwrite64"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-journal-before-it-writes-the-database",
        breaks: "there is no journal on the disk",
        edits: &[("journal_mode=DELETE", "journal_mode=MEMORY")],
        says: &["openat", "t.db-journal"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-database-before-each-commit",
        breaks: "nothing is synced",
        edits: &[("synchronous=FULL", "synchronous=OFF")],
        says: &["between", "f*sync", "t.db-journal"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-database-before-each-commit",
        breaks: "one of four commits is not synced",
        edits: &[(
            "INSERT INTO t VALUES (2);",
            "PRAGMA synchronous=OFF; INSERT INTO t VALUES (2); PRAGMA synchronous=FULL;",
        )],
        says: &["between", "in 2 of 6 cases", "f*sync"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-log-at-each-commit",
        breaks: "a commit is not synced, only a checkpoint",
        edits: &[("synchronous=FULL", "synchronous=NORMAL")],
        says: &["f*sync", "$log"],
    },
    Mutant {
        scenario: "sqlite-syncs-the-log-at-each-commit",
        breaks: "nothing is synced",
        edits: &[("synchronous=FULL", "synchronous=OFF")],
        says: &["f*sync", "$log"],
    },
    Mutant {
        scenario: "sqlite-syncs-as-much-as-the-pragma-says",
        breaks: "a pragma that says nothing is taken for OFF",
        edits: &[(
            "PRAGMA synchronous=${sync};",
            "PRAGMA synchronous=${sync}; PRAGMA synchronous=OFF;",
        )],
        says: &["f*sync", "expected 4", "got 0"],
    },
    Mutant {
        scenario: "sqlite-syncs-as-much-as-the-pragma-says",
        breaks: "more is synced than was asked for",
        edits: &[(
            "PRAGMA synchronous=${sync};",
            "PRAGMA synchronous=${sync}; PRAGMA synchronous=EXTRA;",
        )],
        says: &["f*sync", "expected 0", "got 5"],
    },
    Mutant {
        scenario: "git-links-an-object-only-when-it-is-synced",
        breaks: "the object is not synced",
        edits: &[("core.fsync=loose-object", "core.fsync=none")],
        says: &["fsync", "$object"],
    },
    Mutant {
        scenario: "git-links-an-object-only-when-it-is-synced",
        breaks: "the object is written out and the disk's cache is not flushed",
        edits: &[(
            "git -c core.fsync=loose-object",
            "git -c core.fsync=loose-object -c core.fsyncMethod=writeout-only",
        )],
        says: &["fsync", "$object"],
    },
    Mutant {
        scenario: "git-links-an-object-only-when-it-is-synced",
        breaks: "the object is renamed, over whatever has its name",
        edits: &[(
            "git -c core.fsync=loose-object",
            "git -c core.fsync=loose-object -c core.createObject=rename",
        )],
        says: &["link*", "$temporary"],
    },
    Mutant {
        scenario: "dpkg-syncs-a-file-before-it-replaces-the-old-one",
        breaks: "no file of the package is synced",
        edits: &[("--refuse-unsafe-io", "--force-unsafe-io")],
        says: &["fsync", "greet.dpkg-new"],
    },
    Mutant {
        scenario: "a-sync-through-io_uring-stands-before-the-rename",
        breaks: "nothing is synced",
        edits: &[("\nfsync(file)\n", "\n")],
        says: &["io_uring_enter"],
    },
    Mutant {
        scenario: "a-sync-through-io_uring-stands-before-the-rename",
        breaks: "the sync is submitted and not waited for",
        edits: &[("ring, 1, 1, IORING_ENTER_GETEVENTS", "ring, 1, 0, 0")],
        says: &["io_uring_enter", "min_complete"],
    },
    Mutant {
        scenario: "a-sync-through-io_uring-stands-before-the-rename",
        breaks: "another operation is submitted",
        edits: &[("IORING_OP_FSYNC = 3", "IORING_OP_FSYNC = 0")],
        says: &["IORING_OP_FSYNC"],
    },
    Mutant {
        scenario: "mv-never-unlinks-what-it-replaces",
        breaks: "the old file goes first",
        edits: &[(
            "run: [mv, new, config]",
            "shell: rm config && mv new config",
        )],
        says: &["never", "unlink"],
    },
    Mutant {
        scenario: "mv-never-unlinks-what-it-replaces",
        breaks: "the old file is overwritten",
        edits: &[("run: [mv, new, config]", "shell: cp new config && rm new")],
        says: &["never", "openat"],
    },
    Mutant {
        scenario: "ls-l-makes-one-stat-for-one-file-more",
        breaks: "each file is looked at twice",
        edits: &[(
            "run: [ls, -l, folder]",
            "shell: 'for file in folder/*; do test -f $file; done; ls -l folder'",
        )],
        says: &["%%stat"],
    },
    Mutant {
        scenario: "ls-l-makes-one-stat-for-one-file-more",
        breaks: "each file is opened",
        edits: &[("run: [ls, -l, folder]", "shell: cat folder/*; ls -l folder")],
        says: &["never", "openat"],
    },
    Mutant {
        scenario: "dd-nocache-drops-what-it-has-copied",
        breaks: "the input stays in the cache",
        edits: &[("iflag=nocache ", "")],
        says: &["fadvise64", "fd: in"],
    },
    Mutant {
        scenario: "dd-nocache-drops-what-it-has-copied",
        breaks: "the output stays in the cache",
        edits: &[("oflag=nocache ", "")],
        says: &["fadvise64", "fd: out"],
    },
    Mutant {
        scenario: "rm-r-removes-a-link-and-not-what-it-leads-to",
        breaks: "the link is followed",
        edits: &[("exec rm -r folder", "rm folder/link/* && exec rm -r folder")],
        says: &["never", "outside/precious"],
    },
    Mutant {
        scenario: "rm-r-removes-a-link-and-not-what-it-leads-to",
        breaks: "folders are opened whatever they are",
        edits: &[(
            "exec rm -r folder",
            "exec perl -MFile::Path=rmtree -e 'rmtree(q(folder))'",
        )],
        says: &["openat", "O_NOFOLLOW"],
    },
    Mutant {
        scenario: "tar-writes-through-no-link-of-the-archive",
        breaks: "links are made as they come",
        edits: &[("-xf archive", "-xPf archive")],
        says: &["openat", "inside/link"],
    },
    Mutant {
        scenario: "mkstemp-leaves-no-gap-for-others",
        breaks: "the name is chosen first, and the file opened whatever it is",
        edits: &[(
            "file, path = tempfile.mkstemp(dir=\".\")",
            "path = tempfile.mktemp(dir=\".\"); file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)",
        )],
        says: &["openat", "O_EXCL"],
    },
    Mutant {
        scenario: "mkstemp-leaves-no-gap-for-others",
        breaks: "the file is open to all until its mode is changed",
        edits: &[(
            "file, path = tempfile.mkstemp(dir=\".\")",
            "path = tempfile.mktemp(dir=\".\"); file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644); os.chmod(path, 0o600)",
        )],
        says: &["never", "openat", "mode"],
    },
    Mutant {
        scenario: "a-shell-with-noclobber-overwrites-nothing",
        breaks: "the option is missing",
        edits: &[("-C, -c,", "-c,")],
        says: &["openat", "O_EXCL"],
    },
    Mutant {
        scenario: "a-shell-with-noclobber-overwrites-nothing",
        breaks: "the second redirection overrides the option",
        edits: &[("echo two > file", "echo two >| file")],
        says: &["never", "O_TRUNC"],
    },
    Mutant {
        scenario: "mkdir-m-is-private-from-the-first-moment",
        breaks: "the mode comes later",
        edits: &[(
            "run: [mkdir, -m, \"${mode}\", private]",
            "shell: mkdir private && chmod ${mode} private",
        )],
        says: &["mkdir*", "mode"],
    },
    Mutant {
        scenario: "ln-sf-leaves-no-moment-without-the-link",
        breaks: "the old link goes first",
        edits: &[(
            "exec ln -sf new current",
            "rm current && exec ln -s new current",
        )],
        says: &["never", "unlink"],
    },
    Mutant {
        scenario: "sort-o-truncates-when-it-has-read-everything",
        breaks: "the shell truncates the file before anything is read",
        edits: &[("run: [sort, -o, words, words]", "shell: sort words > words")],
        says: &["O_TRUNC"],
    },
    Mutant {
        scenario: "sort-o-truncates-when-it-has-read-everything",
        breaks: "what is left is read while the file is written",
        edits: &[(
            "run: [sort, -o, words, words]",
            "run: [perl, -e, 'open(I, \"<words\"); sysread(I, $a, 9); sysread(I, $b, 9); open(F, \"+<words\"); truncate(F, 0); sysread(I, $c, 9); syswrite(F, \"a\\nb\\n\")']",
        )],
        says: &["only", "read"],
    },
];
