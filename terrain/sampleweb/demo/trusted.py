"""The sites of the demo's quality list: a library, a bird count, a mill, an atlas, springs."""

from typing import TYPE_CHECKING

from terrain.sampleweb.demo.sites import page, series, site
from terrain.sampleweb.pages import NonHtml, Redirect, Status
from terrain.sampleweb.web import Host

if TYPE_CHECKING:
    from terrain.sampleweb.behaviours import Behaviour

LIBRARY = "https://riverlibrary.example"
LIBRARY_FOOTER = (
    "https://chirper.example/riverlibrary Follow us",
    "https://ads.banner-brook.example/slot?page=library Advertisement",
)


def river_library() -> dict[str, Host]:
    """Return the library with its map room and its letters on subdomains."""
    shelves, shelf_links = series(
        "/shelves/{}",
        {
            "crossings": "Fords, ferries and bridges",
            "floods": "The great floods",
            "fish": "Fish and fishing rights",
            "trades": "Trades of the waterside",
            "songs": "Songs and sayings",
        },
        "What the library holds under “{}”, with a note on where each book came from.",
        "https://oldlocks.example/ Old Locks and Weirs",
        "https://ferrymens-songs.example/ The Ferrymen's Songbook",
        "https://floodmarks.example/ Flood marks on church walls",
        "https://fluvial-encyclopaedia.example/wiki/Ford Ford",
    )
    rooms: dict[str, Behaviour] = {
        "/": page(
            "The River Library",
            "Books, maps and letters about one river, from its springs to the sea.",
            "/about About the library",
            "/shelves The shelves",
            "https://maps.riverlibrary.example/ The map room",
            "https://letters.riverlibrary.example/ Letters to the library",
            "https://heronwatch.example/ Heron Watch, our neighbours upstairs",
            "/reading-room.pdf Plan of the reading room",
        ),
        "/about": page(
            "About the library",
            "Founded in 1871 in a net loft; open on Tuesdays, and when the light is on.",
            "https://www.wetland-atlas.example/ The Wetland Atlas",
            "https://reedbed-trust.example/ The Reedbed Trust",
            "/annual-report-1999 Annual report 1999",
            "/opening-hours Opening hours",
        ),
        "/opening-hours": Redirect("/about", 301),
        "/shelves": Redirect("/shelves/", 301),
        "/shelves/": page("The shelves", "Five rooms, one long table, no catalogue.", *shelf_links),
        "/annual-report-1999": Status(410, b"Withdrawn\n"),
        "/reading-room.pdf": NonHtml(size=48_000),
        **shelves,
    }
    sheets, sheet_links = series(
        "/sheet/{}",
        {"1": "Springs to Otterbourne", "2": "Otterbourne to Mill Ait", "3": "Mill Ait to the sea"},
        "Survey sheet: {}, two inches to the mile, with the soundings of 1834.",
        "https://parish-maps.example/ Parish maps of the valley",
        "https://chalkstream-survey.example/ The Chalk Stream Survey",
    )
    maps: dict[str, Behaviour] = {
        "/": page(
            "The map room", "Three survey sheets and a globe without Australia.", *sheet_links
        ),
        **sheets,
    }
    letters: dict[str, Behaviour] = {
        "/": page(
            "Letters to the library",
            "What readers wrote, and what we answered.",
            "/1904 A complaint about the eels (1904)",
            "/1953 After the flood (1953)",
        ),
        "/1904": page(
            "A complaint about the eels",
            "A miller writes that eels have stopped his wheel for the third time this autumn.",
            "https://eelcount.example/ The Eel Count",
            "https://tidemill-archive.example/ The Tide Mill Archive",
        ),
        "/1953": page(
            "After the flood",
            "A schoolteacher lists the books she carried up the stairs, in the order she chose.",
            "https://floodmarks.example/1953 The mark of 1953",
            "https://marsh-school.example/ The Marsh School",
            "https://deepwinter-papers.example/ The Deep Winter Papers",
        ),
    }
    home = ("/ Home",)
    return {
        "riverlibrary.example": site(rooms, nav=("/ Home", "/about About"), footer=LIBRARY_FOOTER),
        "www.riverlibrary.example": Host(otherwise=Redirect(f"{LIBRARY}/", 301)),
        "maps.riverlibrary.example": site(maps, nav=(*home, f"{LIBRARY}/ The library")),
        "letters.riverlibrary.example": site(letters, nav=(*home, f"{LIBRARY}/ The library")),
    }


def heron_watch() -> dict[str, Host]:
    """Return the bird count, with a page a year."""
    years, year_links = series(
        "/counts/{}",
        {str(year): f"The heron count of {year}" for year in range(2017, 2025)},
        "{}: nests by heronry, with the weather and who held the telescope.",
        "https://kingfisher-notes.example/ Kingfisher Notes",
        "https://wader-roost.example/ The Wader Roost",
        "https://swan-registry.example/ The Swan Registry",
    )
    pages: dict[str, Behaviour] = {
        "/": page(
            "Heron Watch",
            "Counting herons on one river since 1928, every first Sunday in April.",
            "/counts/ All the counts",
            "/how-to-count How to count a heron",
            "/hide-rota Who sits in the hide",
            "https://night-herons.example/ Night Herons after dark",
            "https://dipper-diaries.example/ The Dipper Diaries",
        ),
        "/counts/": page("All the counts", "Eight years of nests, one page each.", *year_links),
        "/how-to-count": page(
            "How to count a heron",
            "Stand still. Count the legs, divide by two, and subtract the one that is a post.",
            "https://swift-boxes.example/ How to build a swift box",
            "https://forge.codeweir.example/heronwatch/tally Our counting program",
            "https://riverlibrary.example/?utm_source=heronwatch The River Library",
        ),
        "/hide-rota": Redirect("/how-to-count#rota", 302),
        **years,
    }
    footer = (
        "https://chirper.example/heronwatch Follow the herons",
        "https://pixel.clickcurrent.example/t?site=heronwatch Statistics",
    )
    return {"heronwatch.example": site(pages, nav=("/ Home", "/counts/ Counts"), footer=footer)}


def tide_mill_archive() -> dict[str, Host]:
    """Return the archive that has more ledgers than one visit may ask for."""
    ledgers, links = series(
        "/ledgers/{}",
        {str(year): f"Ledger of the tide mill, {year}" for year in range(1801, 1841)},
        "{}: flour out, eels in, and the hours the tide allowed.",
        "https://millwrights-guild.example/ The Millwrights' Guild",
    )
    pages: dict[str, Behaviour] = {
        "/": page(
            "The Tide Mill Archive",
            "Forty years of ledgers from a mill that worked when the moon said so.",
            "/ledgers/ The ledgers, year by year",
            "/wheel How the wheel turns",
            "https://saltern-museum.example/ The Saltern Museum",
        ),
        "/ledgers/": page("The ledgers", "One volume a year, 1801 to 1840.", *links),
        "/wheel": page(
            "How the wheel turns",
            "Twice a day, backwards at the ebb, and never on the miller's birthday.",
            "https://tide-tables.example/ Tide tables",
            "https://estuary-light.example/ The Estuary Light",
        ),
        **ledgers,
    }
    footer = ("https://ads.banner-brook.example/slot?page=mill Advertisement",)
    return {"tidemill-archive.example": site(pages, nav=("/ Archive",), footer=footer)}


def wetland_atlas() -> dict[str, Host]:
    """Return the atlas, which lives at `www.` and sends everybody there."""
    plates, links = series(
        "/plates/{}/",
        {
            "fen": "The fen",
            "carr": "The alder carr",
            "saltmarsh": "The salt marsh",
            "oxbow": "The oxbow",
            "reedbed": "The reed bed",
        },
        "{} in four seasons, drawn from the same stile.",
        "https://reedbed-trust.example/ The Reedbed Trust",
        "https://peat-core.example/ Peat Core",
        "https://mayfly-calendar.example/ The Mayfly Calendar",
    )
    # Linked without the slash, as people do; the server adds it.
    short = tuple(link.replace("/ ", " ", 1) for link in links)
    slashes: dict[str, Behaviour] = {path.rstrip("/"): Redirect(path, 301) for path in plates}
    pages: dict[str, Behaviour] = {
        "/": page(
            "The Wetland Atlas",
            "Plates of wet places, with notes on how to get there with dry feet.",
            *short,
            "https://riverblogs.example/ Weblogs from the bank",
            "https://fluvial-encyclopaedia.example/wiki/Wetland Wetland",
        ),
        **plates,
        **slashes,
    }
    return {
        "www.wetland-atlas.example": site(pages, nav=("/ Atlas",)),
        "wetland-atlas.example": Host(
            pages={"/": Redirect("https://www.wetland-atlas.example/", 301)}
        ),
    }


def otterbourne_springs() -> dict[str, Host]:
    """Return the site that the demo calls its own, and may ask faster."""
    springs, links = series(
        "/springs/{}",
        {
            "lady": "Lady Well",
            "cress": "Cress Head",
            "iron": "The Iron Spring",
            "dry": "Dry Bottom",
            "twin": "The Twins",
            "cold": "Cold Ash Spring",
        },
        "{}: flow, temperature and what grows at the edge, measured every month.",
        "https://chalkstream-survey.example/ The Chalk Stream Survey",
        "https://flood-gauge.example/ The flood gauge at Mill Ait",
    )
    pages: dict[str, Behaviour] = {
        "/": page(
            "Otterbourne Springs",
            "Six springs, one notebook, and a thermometer on a string.",
            *links,
            "https://riverlibrary.example/shelves/fish What the library has on fish",
        ),
        **springs,
    }
    return {"otterbourne-springs.example": site(pages, nav=("/ Springs",))}


def trusted_sites() -> dict[str, Host]:
    """Return all hosts that the quality list names."""
    return {
        **river_library(),
        **heron_watch(),
        **tide_mill_archive(),
        **wetland_atlas(),
        **otterbourne_springs(),
    }
