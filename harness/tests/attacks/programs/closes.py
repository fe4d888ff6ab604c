import os

data = os.open("data", os.O_WRONLY)
try:
    os.close(data)
except OSError:
    os.write(data, b"x")
