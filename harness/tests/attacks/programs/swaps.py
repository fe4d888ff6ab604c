# A thread opens `one` again and again, and another writes `two` over its path and `one` back all the time: so the path is
# `one` when some call is looked at, and `two` when that call is made.
import ctypes
import threading

libc = ctypes.CDLL(None)
path = ctypes.create_string_buffer(b"one")


def opens():
    for _ in range(60):
        libc.openat(-100, path, 0)


thread = threading.Thread(target=opens)
thread.start()
while thread.is_alive():
    path.value = b"two"
    path.value = b"one"
thread.join()
