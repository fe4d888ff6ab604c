"""Has the kernel enforce rules of Landlock, and executes a command: landlock.py RULES FOLDER COMMAND...

It knows nothing of the harness: the file is read as JSON, and the calls are the kernel's own. `${dir}` is the folder.
"""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import stat
import struct
import sys

# In the order of their bits: include/uapi/linux/landlock.h.
FILES = ("execute write_file read_file read_dir remove_dir remove_file make_char make_dir make_reg make_sock make_fifo"
         " make_block make_sym refer truncate ioctl_dev").split()
PORTS = ["bind_tcp", "connect_tcp"]
SCOPES = ["abstract_unix_socket", "signal"]
# Rights that a rule for a file may give: the others are about what a folder holds.
OF_A_FILE = ["execute", "write_file", "read_file", "truncate", "ioctl_dev"]
CREATE, ADD, RESTRICT = 444, 445, 446
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
PR_SET_NO_NEW_PRIVS = 38

LIBC = ctypes.CDLL(None, use_errno=True)


def call(*words: object) -> int:
    result = LIBC.syscall(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def bits(words: list[str], names: list[str]) -> int:
    return sum(1 << names.index(word) for word in words)


def main() -> None:
    with open(sys.argv[1]) as file:
        rules = json.load(file)
    folder, command = sys.argv[2], sys.argv[3:]
    program = shutil.which(command[0])
    if program is None:
        raise SystemExit(f"landlock.py: there is no {command[0]}")
    # The network is one of its own, in which nothing is up.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    head = rules["ruleset"][0]
    handled = [bits(head.get("handledAccessFs", []), FILES), bits(head.get("handledAccessNet", []), PORTS),
               bits(head.get("scoped", []), SCOPES)]
    # A kernel that does not know what stands behind takes a longer structure if that is 0.
    attributes = struct.pack("QQQ", *handled)
    ruleset = call(CREATE, attributes, len(attributes), 0)
    for rule in rules.get("pathBeneath", []):
        for path in rule["parent"]:
            try:
                parent = os.open(path.replace("${dir}", folder), os.O_PATH)
            except FileNotFoundError:
                continue
            rights = rule["allowedAccess"]
            if not stat.S_ISDIR(os.fstat(parent).st_mode):
                rights = [right for right in rights if right in OF_A_FILE]
            if rights:
                call(ADD, ruleset, 1, struct.pack("=Qi", bits(rights, FILES), parent), 0)
            os.close(parent)
    for rule in rules.get("netPort", []):
        for port in rule["port"]:
            call(ADD, ruleset, 2, struct.pack("QQ", bits(rule["allowedAccess"], PORTS), port), 0)
    os.chdir(folder)
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError("the program may gain privileges")
    call(RESTRICT, ruleset, 0)
    os.close(ruleset)
    os.execv(program, command)


if __name__ == "__main__":
    main()
