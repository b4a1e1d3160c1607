"""What a device is made of at one moment: the members of an array, the paths of a multipath device."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """`good` and `failed` are kernel names of members (of paths where `paths`), `missing` how many an array lacks of `wanted`.

    `sync` is what the kernel does with an array by itself (md's sync_action: resync, recover, check, repair, reshape), empty for
    nothing; `synced` how much of that is done, of 1, None where it does not say.
    """

    name: str
    paths: bool
    good: tuple[str, ...]
    failed: tuple[str, ...] = ()
    wanted: int = 0
    missing: int = 0
    sync: str = ""
    synced: float | None = None
