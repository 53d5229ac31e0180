"""The sites that are found by walking outward: ordinary, small, and linked to each other."""

from dataclasses import dataclass, field

from terrain.sampleweb.demo.sites import page, site
from terrain.sampleweb.web import Host


@dataclass(frozen=True)
class Neighbour:
    """A home page, and perhaps one page more."""

    title: str
    about: str
    links: tuple[str, ...] = ()
    """Where its home page points, as address, space and text."""
    more: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Further pages: path, title and what they are about."""


NEIGHBOURS: dict[str, Neighbour] = {
    "reedbed-trust.example": Neighbour(
        "The Reedbed Trust",
        "We own forty hectares of reed and one boat.",
        (
            "https://willow-weavers.example/ The Willow Weavers",
            "https://wader-roost.example/ The Wader Roost",
            "https://cheap-waders-outlet.example/?aff=reed Waders, cheap",
        ),
        {"/volunteer": ("Volunteer with us", "Saturdays at nine. Bring gloves and a flask.")},
    ),
    "oldlocks.example": Neighbour(
        "Old Locks and Weirs",
        "A register of locks that no longer lock.",
        (
            "https://bridgekeepers.example/ The Bridge Keepers",
            "https://barge-almanac.example/ The Barge Almanac",
            "https://moved-museum.example/ The Lock Museum",
        ),
        {"/register": ("The register", "Sixty-one locks, of which nine can still be seen.")},
    ),
    "ferrymens-songs.example": Neighbour(
        "The Ferrymen's Songbook",
        "Forty songs for pulling a rope, with the verses that were left out.",
        (
            "https://barge-almanac.example/songs Songs in the almanac",
            "https://old-ferry.example/ The old ferry",
        ),
        {"/rope-song": ("The long rope song", "As sung at the upper crossing until 1911.")},
    ),
    "floodmarks.example": Neighbour(
        "Flood Marks",
        "Every line scratched into a church wall between the springs and the sea.",
        (
            "https://frost-fairs.example/ Frost Fairs",
            "https://flood-gauge.example/ The gauge at Mill Ait",
            "/1953 The mark of 1953",
            "/1607 The mark of 1607",
        ),
        {"/1953": ("The mark of 1953", "Two hand's breadths above the font of Saint Brannock.")},
    ),
    "chalkstream-survey.example": Neighbour(
        "The Chalk Stream Survey",
        "Clear water, counted: weed, shrimp and trout at eleven bridges.",
        (
            "https://mayfly-calendar.example/ The Mayfly Calendar",
            "https://lamprey-lab.example/ The Lamprey Laboratory",
        ),
        {"/method": ("How we survey", "A net, a tray, a pencil and two people who agree.")},
    ),
    "eelcount.example": Neighbour(
        "The Eel Count",
        "Elvers at the weir by night, one lamp, one clicker.",
        (
            "https://lamprey-lab.example/ The Lamprey Laboratory",
            "https://dredger-log.example/ Log of the dredger Perseverance",
        ),
    ),
    "kingfisher-notes.example": Neighbour(
        "Kingfisher Notes",
        "Blue, briefly. A diary of sightings from one bench.",
        (
            "https://dipper-diaries.example/ The Dipper Diaries",
            "https://swift-boxes.example/ Swift boxes",
            "/bench The bench",
        ),
        {"/bench": ("The bench", "Given in memory of someone who also waited.")},
    ),
    "wader-roost.example": Neighbour(
        "The Wader Roost",
        "Knot, dunlin and godwit at high water, counted by the thousand.",
        (
            "https://tide-tables.example/ Tide tables",
            "https://estuary-light.example/ The Estuary Light",
        ),
    ),
    "dipper-diaries.example": Neighbour(
        "The Dipper Diaries",
        "One bird, one stone, nine winters.",
        ("https://heronwatch.example/how-to-count How to count a heron",),
        {"/winter-nine": ("The ninth winter", "The stone has moved. The bird has not.")},
    ),
    "swift-boxes.example": Neighbour(
        "Swift Boxes",
        "Plans for a nest box that swifts accept, eventually.",
        ("https://willow-weavers.example/ The Willow Weavers",),
    ),
    "marsh-school.example": Neighbour(
        "The Marsh School",
        "A school for thirty children, reached by causeway, except in March.",
        ("https://parish-maps.example/marsh Our parish on the map", "/causeway The causeway"),
        {"/causeway": ("The causeway", "Open two hours either side of low water.")},
    ),
    "millwrights-guild.example": Neighbour(
        "The Millwrights' Guild",
        "Cogs of apple, shafts of oak: how mills are mended.",
        (
            "https://oldlocks.example/register Locks beside mills",
            "https://sunken-village.example/mill The drowned mill",
        ),
    ),
    "saltern-museum.example": Neighbour(
        "The Saltern Museum",
        "How salt was boiled from the tide, told in a hut.",
        ("https://mudlark-finds.example/ Mudlark Finds",),
        {"/hut": ("The hut", "Rebuilt twice, by the same family, in the same place.")},
    ),
    "estuary-light.example": Neighbour(
        "The Estuary Light",
        "A lighthouse with a visitors' book.",
        ("https://dredger-log.example/ Log of the dredger", "/book The visitors' book"),
        {"/book": ("The visitors' book", "“Very bright.” Two hundred pages of it.")},
    ),
    "peat-core.example": Neighbour(
        "Peat Core",
        "Six metres of bog, read downwards.",
        ("https://mayfly-calendar.example/ The Mayfly Calendar",),
        {"/metre-four": ("Metre four", "A hazelnut, and the pollen of a warmer time.")},
    ),
    "mayfly-calendar.example": Neighbour(
        "The Mayfly Calendar",
        "When each mayfly rises, for those who rise with it.",
        ("https://fluvial-encyclopaedia.example/wiki/Mayfly Mayfly",),
    ),
    "willow-weavers.example": Neighbour(
        "The Willow Weavers",
        "Eel traps, baskets and a boat that nearly floated.",
        ("https://frost-fairs.example/ Frost Fairs",),
    ),
    "barge-almanac.example": Neighbour(
        "The Barge Almanac",
        "Names, loads and misfortunes of four hundred barges.",
        ("https://bridgekeepers.example/ The Bridge Keepers", "/songs Songs of the bargemen"),
        {"/songs": ("Songs of the bargemen", "Fit to print, mostly.")},
    ),
    "bridgekeepers.example": Neighbour(
        "The Bridge Keepers", "Who lifted which bridge, and for whom it stayed down."
    ),
    "frost-fairs.example": Neighbour(
        "Frost Fairs",
        "Years when the river carried oxen, printing presses and regret.",
        ("https://deepwinter-papers.example/ The Deep Winter Papers",),
    ),
    "lamprey-lab.example": Neighbour(
        "The Lamprey Laboratory", "Older than jaws. We keep three in a tank and ask them things."
    ),
    "dredger-log.example": Neighbour(
        "Log of the dredger Perseverance", "What came up in the buckets, 1936 to 1971."
    ),
    "mudlark-finds.example": Neighbour(
        "Mudlark Finds",
        "Pins, pipes and one small bronze heron.",
        ("https://deepwinter-papers.example/pins A paper of pins",),
    ),
}


def neighbouring_sites() -> dict[str, Host]:
    """Return the hosts that the quality sites lead to."""
    hosts: dict[str, Host] = {}
    for name, it in NEIGHBOURS.items():
        inward = tuple(f"{path} {title}" for path, (title, _) in it.more.items())
        pages = {path: page(title, about) for path, (title, about) in it.more.items()}
        home = page(it.title, it.about, *it.links, *inward)
        hosts[name] = site({"/": home, **pages}, nav=(f"/ {it.title}",))
    return hosts
