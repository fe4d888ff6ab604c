"""Does what its arguments say, in this order: each is done here, or behind `c` in a child that is
waited for. `w` writes to the log and `o` to another file, `s` and `t` sync them, `p` fails to sync,
`a` answers."""

import os
import sys

log = os.open("log", os.O_RDWR | os.O_CREAT)
other = os.open("other", os.O_RDWR | os.O_CREAT)
pipe, _ = os.pipe()


def sync_of_nothing():
    try:
        os.fdatasync(pipe)
    except OSError:
        pass


ACTIONS = {
    "w": lambda: os.pwrite(log, b"x", 0),
    "o": lambda: os.pwrite(other, b"x", 0),
    "s": lambda: os.fdatasync(log),
    "t": lambda: os.fdatasync(other),
    "p": sync_of_nothing,
    "a": lambda: os.write(1, b"done\n"),
}
for word in sys.argv[1:]:
    if not word.startswith("c"):
        ACTIONS[word]()
        continue
    child = os.fork()
    if child == 0:
        ACTIONS[word[1:]]()
        os._exit(0)
    os.waitpid(child, 0)
