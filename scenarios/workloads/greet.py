# A server and its client, which says "ping", hears "pong", and tells each other by the end of what they say: greet.py unix|inet
import os
import socket
import sys

if sys.argv[1] == "unix":
    family, address = socket.AF_UNIX, "greet.socket"
else:
    import fcntl
    import struct

    family, address = socket.AF_INET, ("127.0.0.1", 7007)
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def hear(peer):
    said = b""
    while part := peer.recv(64):
        said += part
    return said


server = socket.socket(family)
server.bind(address)
server.listen(1)
client_id = os.fork()
if client_id == 0:
    server.close()
    client = socket.socket(family)
    client.connect(address)
    client.sendall(b"ping")
    client.shutdown(socket.SHUT_WR)
    answer = hear(client)
    print("the client got", answer)
    sys.exit(0)
peer, _ = server.accept()
question = hear(peer)
print("the server got", question, flush=True)
peer.sendall(b"pong")
peer.close()
os.waitpid(client_id, 0)
