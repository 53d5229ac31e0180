"""Serves a web as a process of its own: `python -m terrain.sampleweb web.json --dir DIR`.

When ready it prints one line of JSON: `port`, `ca` (the certificate to trust), `log` (the request
log), `resolve` (the address mapping for a crawl). Commands on its standard input are those of
`Control`; SIGHUP reads the file again. It stops on SIGTERM, on SIGINT, and when its standard input
ends, so it does not outlive whoever started it.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from terrain.sampleweb.control import Control
from terrain.sampleweb.server import Server
from terrain.sampleweb.web import Web, WebError


def main() -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m terrain.sampleweb", description="Serve a sample web on loopback."
    )
    parser.add_argument("web", type=Path, help="the web, as JSON")
    parser.add_argument("--dir", type=Path, required=True, help="for ca.pem and the request log")
    parser.add_argument("--port", type=int, default=0, help="the port (default: any free one)")
    options = parser.parse_args()
    try:
        web = Web.from_json(options.web.read_bytes())
    except (OSError, WebError) as error:
        sys.stderr.write(f"{options.web}: {error}\n")
        return 2
    try:
        asyncio.run(_serve(web, options.web, options.dir, options.port))
    except OSError as error:
        sys.stderr.write(f"cannot serve: {error}\n")
        return 1
    return 0


async def _serve(web: Web, source: Path, directory: Path, port: int) -> None:
    async with Server(web, directory, port=port) as server:
        await Control(server, source).run()


if __name__ == "__main__":
    sys.exit(main())
