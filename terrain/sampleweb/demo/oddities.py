"""The sites where something is the matter: each kind of trouble that the crawler knows."""

from terrain.sampleweb.behaviours import Behaviour, ByMethod, Flaky, Slow
from terrain.sampleweb.demo.sites import page, series, site
from terrain.sampleweb.pages import HTML, Hang, Html, NonHtml, Redirect, Status
from terrain.sampleweb.web import Host, Limit

BLOGGERS = ("anna", "brook", "cass", "dory", "ebba", "fenn", "gill")


def slow_tables() -> Host:
    """Return a server that takes its time, and one page that never comes."""
    pages: dict[str, Behaviour] = {
        "/": Slow(
            0.6,
            page(
                "Tide Tables",
                "High and low water, worked out by hand.",
                "/spring Spring tides",
                "/neap Neap tides",
                "/equinox The equinox",
            ),
        ),
        "/spring": Slow(0.6, page("Spring tides", "When sun and moon pull together.")),
        "/neap": Slow(0.6, page("Neap tides", "When they do not.")),
        "/equinox": ByMethod(head=Status(200, content_type=HTML), get=Hang()),
    }
    return site(pages)


def limited_registry() -> Host:
    """Return a register of swans that has had enough after a few requests."""
    swans, links = series(
        "/swans/{}",
        {str(number): f"Swan {number}" for number in range(101, 113)},
        "{}: ringed as a cygnet, last seen on the mill pond.",
    )
    home = page("The Swan Registry", "Every ringed swan of the river, by number.", *links)
    return site({"/": home, **swans}, host=Host(limit=Limit(9)))


def private_parishes() -> Host:
    """Return maps of which robots.txt keeps some to itself."""
    home = page(
        "Parish Maps",
        "Field names and footpaths of nine parishes.",
        "/marsh The marsh parish",
        "/tithe-map.png Tithe map",
        "/vestry/accounts Vestry accounts",
        "/vestry/quarrels Vestry quarrels",
    )
    pages: dict[str, Behaviour] = {
        "/": home,
        "/marsh": page("The marsh parish", "Mostly water, some sheep."),
        "/vestry/accounts": page("Vestry accounts", "Not for the public."),
        "/vestry/quarrels": page("Vestry quarrels", "Certainly not for the public."),
        "/tithe-map.png": NonHtml("image/png", 20_000, b"\x89PNG\r\n"),
    }
    return site(pages, host=Host(robots="User-agent: *\nDisallow: /vestry/\n"))


def night_herons() -> Host:
    """Return a site that asks crawlers to wait longer than they would."""
    pages: dict[str, Behaviour] = {
        "/": page("Night Herons", "They quarrel after dark; we listen.", "/calls Calls"),
        "/calls": page("Calls", "“Kwok”, mostly."),
    }
    return site(pages, host=Host(robots="User-agent: *\nCrawl-delay: 1\n"))


def weblogs() -> dict[str, Host]:
    """Return more weblogs under one domain than will be visited."""
    hosts = {
        f"{name}.riverblogs.example": site(
            {"/": page(f"{name.title()} by the river", f"{name.title()} writes about the bank.")}
        )
        for name in BLOGGERS
    }
    links = tuple(f"https://{host}/ {host.partition('.')[0].title()}" for host in hosts)
    home = page("Weblogs from the bank", "Seven people who live within sight of water.", *links)
    return {"riverblogs.example": site({"/": home}), **hosts}


def troubled_sites() -> dict[str, Host]:
    """Return the hosts where something is the matter."""
    gauge = page(
        "The flood gauge",
        "The level at Mill Ait, when the telephone line is dry.",
        "/archive Earlier levels",
    )
    museum = "https://saltern-museum.example/hut"
    return {
        "tide-tables.example": slow_tables(),
        "swan-registry.example": limited_registry(),
        "parish-maps.example": private_parishes(),
        "night-herons.example": night_herons(),
        **weblogs(),
        # Answers at the second try; its archive never does.
        "flood-gauge.example": Host(
            pages={
                "/": Flaky((Status(503, b"Wet\n"), gauge)),
                "/archive": Status(500, b"Very wet\n"),
            }
        ),
        "moved-museum.example": Host(pages={"/": Redirect(museum, 301)}),
        # Two pages that send visitors to each other, and a door that sends them to the spammers.
        "deepwinter-papers.example": site(
            {
                "/": page(
                    "The Deep Winter Papers",
                    "Letters kept in ice, and one in a teapot.",
                    "/north The north box",
                    "/shop The shop",
                    "/further/ Further papers",
                ),
                "/north": Redirect("/south"),
                "/south": Redirect("/north"),
                "/shop": Redirect("https://cheap-waders-outlet.example/winter"),
                "/further/": page(
                    "Further papers",
                    "Nobody has been down here for years.",
                    "/further/cellar The cellar",
                    "/further/still Further still",
                ),
                "/pins": page("A paper of pins", "Two hundred, rusted into one."),
            }
        ),
        "sunken-village.example": Host(listener="refuse"),
        "old-ferry.example": site(
            {"/": page("The old ferry", "Its certificate ran out with its timetable.")},
            host=Host(certificate="expired"),
        ),
    }


def listed_sites() -> dict[str, Host]:
    """Return the hosts of the blacklist and the stub list; a polite crawl never asks them."""
    page_of = Html("You should not be reading this", text=("Nobody asked for this page.",))
    names = (
        "ads.banner-brook.example",
        "pixel.clickcurrent.example",
        "cheap-waders-outlet.example",
        "fluvial-encyclopaedia.example",
        "chirper.example",
        "forge.codeweir.example",
    )
    return {name: Host(otherwise=page_of) for name in names}
