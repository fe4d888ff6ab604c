# Syncs, which fails, and makes a context of asynchronous I/O that would sync as well.
import ctypes
import os
import platform
import sys

try:
    os.fsync(os.open("data", os.O_RDWR | os.O_CREAT))
    sys.exit(2)
except OSError:
    pass
number = 206 if platform.machine() == "x86_64" else 0
context = ctypes.c_ulong(0)
made = ctypes.CDLL(None).syscall(number, 1, ctypes.byref(context))
sys.exit(0 if made == 0 else 3)
