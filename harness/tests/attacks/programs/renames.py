# Writes to `log`, to the same file under another name, and to another file of that name.
import os


def opened():
    return os.open("log", os.O_WRONLY | os.O_CREAT)


def written(log):
    try:
        return os.write(log, b"0123456789")
    except OSError:
        return "no"


first = opened()
one = written(first)
os.rename("log", "gone")
two = written(first)
three = written(opened())
print(one, two, three)
