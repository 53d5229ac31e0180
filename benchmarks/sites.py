"""The sites that crawlers are measured on: a synthetic one, and documentation nobody here wrote."""

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

WORDS = [
    "river", "archive", "library", "paper", "history", "forest", "museum", "letter", "field",
    "note", "map", "garden", "stone", "bird", "water", "light", "coast", "winter", "reading",
]  # fmt: skip


def synthetic(root: Path, pages: int) -> str:
    """Write pages of about 20 KB with 50 links each, the same every time; return the home."""
    root.mkdir(parents=True, exist_ok=True)
    for number in range(pages):
        (root / f"p{number}.html").write_text(_page(number, pages), encoding="utf-8")
    return "/p0.html"


def _page(number: int, pages: int) -> str:
    choose = random.Random(number)
    targets = [(number * 7 + step * step * 13 + 1) % pages for step in range(25)]
    targets += [choose.randrange(pages) for _ in range(25)]
    # Every page is linked from the one before it, so that all are reached.
    targets[0] = (number + 1) % pages
    paragraphs = "".join(
        f"<p>{' '.join(choose.choice(WORDS) for _ in range(52))} "
        f'<a href="/p{target}.html">{choose.choice(WORDS)} {target}</a></p>'
        for target in targets
    )
    return (
        f'<!doctype html><html lang="en"><head><title>Page {number}</title>'
        f'<meta name="description" content="Page {number} of {pages}"></head><body>'
        f'<nav><a href="/p0.html">Home</a></nav><main>{paragraphs}</main></body></html>'
    )


DOCUMENTATION = {
    "postgresql": "usr/share/doc/postgresql-doc-*/html",
    "python": "usr/share/doc/python3.*/html",
    "reference": "usr/share/debian-reference",
}
"""Where Debian packages put their HTML; see scripts/install_real_docs.sh."""

SMALL_PAGES = {
    "boost": "usr/share/doc/libboost*-doc/doc/html",
    "sqlite": "usr/share/doc/sqlite3",
    "postgresql": "usr/share/doc/postgresql-doc-*/html",
}
"""More pages, and smaller ones: what a request costs counts for more here than what a page does."""


def real(root: Path, documentation: dict[str, str] = DOCUMENTATION) -> str | None:
    """Copy documentation that nobody here wrote, under a page that links to all of it.

    Returns its home, or None where there is none.
    """
    found = []
    for name, pattern in documentation.items():
        for source in sorted(Path("/").glob(pattern))[-1:]:
            shutil.copytree(source, root / name, dirs_exist_ok=True)
            found.append(name)
    if not found:
        return None
    items = "".join(
        f'<li><a href="{name}/{index.name}">{name}</a>'
        for name in found
        for index in sorted((root / name).glob("index*.html"))[:1]
    )
    (root / "index.html").write_text(f"<title>Documentation</title><ul>{items}</ul>")
    return "/index.html"


@contextmanager
def nginx(root: Path, directory: Path) -> Iterator[int]:
    """Serve a directory over plain http on loopback until the block ends; give the port."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "nginx.conf"
    config.write_text(
        f"""worker_processes 1; daemon off;
pid {directory}/nginx.pid; error_log {directory}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; keepalive_requests 1000000; default_type application/octet-stream;
  client_body_temp_path {directory}/b; proxy_temp_path {directory}/p;
  fastcgi_temp_path {directory}/f;
  uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  types {{ text/html html htm; text/css css; image/png png; image/svg+xml svg; }}
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
""",
        encoding="ascii",
    )
    server = subprocess.Popen(["nginx", "-c", str(config)])
    try:
        for _ in range(100):
            try:
                urlopen(f"http://127.0.0.1:{port}/").close()
                break
            except OSError as error:
                if getattr(error, "code", None) is not None:
                    break  # It answers, if only with an error page.
                time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait()
