"""A service of Python: it answers with a page, and with what was sent to it, in a thread for each connection."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"hello from python\n"


class Handler(BaseHTTPRequestHandler):
    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.answer(PAGE)

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *words: object) -> None:
        with open("service.log", "a") as log:
            print(words, file=log)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
