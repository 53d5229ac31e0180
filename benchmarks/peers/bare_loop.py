"""The least a crawler can do in Python: aiohttp, lexbor, a set, JSON lines. No rules at all."""

import asyncio
import json
import sys
from urllib.parse import urldefrag, urljoin

import aiohttp
from selectolax.lexbor import LexborHTMLParser

CONNECTIONS = 32


async def crawl(seed: str, host: str, connect_to: str, output: str) -> int:
    origin = f"http://{host}"
    seen = {seed}
    queue: asyncio.Queue[str] = asyncio.Queue()
    queue.put_nowait(seed)
    pages = 0
    with open(output, "w", encoding="utf-8") as lines:  # noqa: ASYNC230, PTH123
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS), headers={"Host": host}
        ) as session:

            async def work() -> None:
                nonlocal pages
                while True:
                    url = await queue.get()
                    address = url.replace(origin, f"http://{connect_to}", 1)
                    async with session.get(address, allow_redirects=False) as response:
                        body = await response.read()
                        html = "html" in response.headers.get("Content-Type", "")
                        status = response.status
                    if status == 200 and html:
                        tree = LexborHTMLParser(body)
                        found = tree.css_first("title")
                        links = []
                        for anchor in tree.css("a[href]"):
                            target = urldefrag(urljoin(url, anchor.attributes["href"] or ""))[0]
                            links.append((target, anchor.text(strip=True)))
                            if target.startswith(origin) and target not in seen:
                                seen.add(target)
                                queue.put_nowait(target)
                        page = {"url": url, "title": found and found.text(), "links": links}
                        lines.write(json.dumps(page) + "\n")
                        pages += 1
                    queue.task_done()

            workers = [asyncio.create_task(work()) for _ in range(CONNECTIONS)]
            await queue.join()
            for worker in workers:
                worker.cancel()
    return pages


if __name__ == "__main__":
    print(asyncio.run(crawl(*sys.argv[1:5])))
