"""Print the installed versions as a constraints file: names and versions, no download host."""

from importlib.metadata import distributions

OURS = "terrain"

pins = sorted(
    {
        f"{dist.metadata['Name'].lower().replace('_', '-')}=={dist.version}"
        for dist in distributions()
        if dist.metadata["Name"] != OURS
    }
)
print("# Written by `make constraints`; tested together.")
print("\n".join(pins))
