"""The file that `diskprof config init` writes: every setting with its default, commented out."""

from diskprof.config.described import DESCRIBED

_HEAD = """\
# Settings of diskprof. Take the # away from what you want to change; `diskprof config` shows what holds.
"""
_KEYS = """\
# Keys of the screen, by the ids that `diskprof config keys` lists. One key, or several in [brackets].
[keys]
# "live.stop" = "S"
# "app.quit" = ["q", "f10"]
"""


def example() -> str:
    """TOML that sets nothing."""
    settings = (f"# {one.summary} ({one.allowed})\n# {one.name} = {one.default}\n" for one in DESCRIBED)
    return "\n".join([_HEAD, *settings, _KEYS])
