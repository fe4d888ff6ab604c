//! Files of holes, which are larger than memory.

use super::{crash, json, python};
use crate::support::require::{program, require, right_to_trace};

/// Stores into a mapping of a file of 64 GiB, which has two pages in the end.
fn script(sync: &str) -> String {
    format!(
        "import mmap, os\nfile = os.open('old', os.O_RDWR)\nsize, far = 64 << 30, 48 << 30\n\
         os.ftruncate(file, size)\nos.fsync(file)\nmap = mmap.mmap(file, size)\n\
         map[far:far + 3] = b'NEW'\n{sync}\nmap[0:3] = b'key'\nmap.flush(0, 4096)\n\
         os.pwrite(file, b'tail', size - 4)\nos.fsync(file)\nos.write(1, b'saved')"
    )
}

/// Where the key is there, so is what it stands for; and what was promised is.
fn held() -> String {
    let script = "file = open('old', 'rb')\ndef at(place):\n  file.seek(place)\n  \
                  return file.read(3)\nis_there = at(0) == b'key'\n\
                  assert not is_there or at(48 << 30) == b'NEW'\n\
                  assert is_there or not open('acknowledged').read()\n";
    format!("recovers: {{ run: [python3, -c, {}] }}", json(script))
}

#[test]
fn a_mapped_file_is_looked_at_beside_its_holes_whatever_its_size() {
    require!(right_to_trace());
    require!(program("python3"));
    crash(&python(&script("map.flush(far, 4096)"), &held()), 0, &[]);
    // Another page is made durable.
    crash(&python(&script("map.flush(4096, 4096)"), &held()), 1, &[]);
}

#[test]
fn a_recording_has_a_file_of_holes_as_that() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = python(&script("map.flush(far, 4096)"), &held());
    let run = project.harness(&["run", "scenarios/it.yaml", "--save", "recorded"]);
    run.assert_status(0);
    let again = project.harness(&["run", "scenarios/it.yaml", "--from", "recorded/it.data"]);
    again.assert_status(0);
}

#[test]
fn a_hole_is_made_where_a_file_had_bytes() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import ctypes, mmap, os\nfile = os.open('old', os.O_RDWR)\nsize = 64 << 30\n\
                  os.ftruncate(file, size)\nmap = mmap.mmap(file, size)\nmap[0:3] = b'key'\n\
                  map.flush()\nof = ctypes.c_long\n\
                  done = ctypes.CDLL(None).fallocate(file, 3, of(0), of(size))\n\
                  assert done == 0\nmap[5000:5003] = b'NEW'\nmap.flush()\nos.write(1, b'saved')";
    let gone = "file = open('old', 'rb')\nstart = file.read(5003)\n\
                assert not open('acknowledged').read() or \
                (start[0:3], start[5000:]) == (bytes(3), b'NEW')";
    let held = format!("recovers: {{ run: [python3, -c, {}] }}", json(gone));
    crash(&python(script, &held), 0, &[]);
}
