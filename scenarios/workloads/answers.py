"""A server that keeps what its client sends, and answers when it is on the disk."""

import os
import socket
import threading

listener = socket.socket(socket.AF_UNIX)
listener.bind("kv.sock")
listener.listen()


def client():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("kv.sock")
    peer.sendall(b"new")
    assert peer.recv(9) == b"kept"


asking = threading.Thread(target=client)
asking.start()
peer, _ = listener.accept()
kept = os.open("kept", os.O_WRONLY)
os.write(kept, peer.recv(9))
os.fsync(kept)
peer.sendall(b"kept")
asking.join()
os.unlink("kv.sock")
