"""Carry one connection of a virtual machine to a server on this machine's loopback; QEMU starts one per connection.

Needs only the standard library: `python forward.py 127.0.0.1 PORT` with the connection as standard input and output.
"""

import socket
import sys
import threading

CHUNK = 256 * 1024


def main() -> None:
    """Each direction ends on its own: a server may answer after its client has said everything."""
    with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as server, socket.socket(fileno=0) as guest:
        back = threading.Thread(target=carry, args=(server, guest), daemon=True)
        back.start()
        carry(guest, server)
        back.join()


def carry(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


if __name__ == "__main__":
    main()
