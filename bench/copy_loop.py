"""A server that copies a file through its own memory, 32 KiB at a time: the yardstick for not copying."""

import os
import re
import socket
import sys
import threading

PIECE = 32 * 1024


def serve(connection: socket.socket, file: int, size: int) -> None:
    received: bytes = b""
    with connection:
        while data := connection.recv(65_536):
            received = received + data
            while (end := received.find(b"\r\n\r\n")) >= 0:
                head, received = received[:end], received[end + 4 :]
                match = re.search(rb"bytes=(\d+)-(\d+)", head)
                start, stop = (int(match[1]), min(int(match[2]) + 1, size)) if match else (0, size)
                connection.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\n\r\n" % (stop - start))
                while start < stop:
                    try:
                        connection.sendall(os.pread(file, min(PIECE, stop - start), start))
                    except ConnectionError:
                        return
                    start += PIECE


def main() -> None:
    file = os.open(sys.argv[2], os.O_RDONLY)
    size = os.fstat(file).st_size
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1_024) as listening:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=serve, args=(connection, file, size), daemon=True).start()


if __name__ == "__main__":
    main()
