# A server that binds a port of root's and gives up all that root may, before anybody can speak to it; and its client.
import os
import socket

NOBODY = 65534
server = socket.socket()
server.bind(("127.0.0.1", 80))
server.listen()
client = os.fork()
if client == 0:
    server.close()
    with socket.create_connection(("127.0.0.1", 80)) as peer:
        assert peer.recv(64) == b"hello\n"
    os._exit(0)
os.setgroups([])
os.setresgid(NOBODY, NOBODY, NOBODY)
os.setresuid(NOBODY, NOBODY, NOBODY)
try:
    os.setresuid(0, 0, 0)
    raise SystemExit("still root")
except PermissionError:
    pass
peer, _ = server.accept()
peer.sendall(b"hello\n")
peer.close()
os.waitpid(client, 0)
