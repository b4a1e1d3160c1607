"""Whose cloud this machine is in, by what its firmware says (DMI)."""

from diskprof.devices.scan.files import SYSTEM, Roots, read_text

_SIGNS = (
    ("sys_vendor", "Amazon EC2", "AWS"),
    ("product_name", "Google Compute Engine", "Google Cloud"),
    ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "Azure"),
    ("chassis_asset_tag", "OracleCloud.com", "Oracle Cloud"),
    ("sys_vendor", "DigitalOcean", "DigitalOcean"),
    ("sys_vendor", "Hetzner", "Hetzner Cloud"),
    ("product_name", "Alibaba Cloud ECS", "Alibaba Cloud"),
)
"""The file of DMI, what stands in it, and the cloud that writes it, as cloud-init tells clouds apart."""


def cloud(roots: Roots = SYSTEM) -> str:
    """`AWS`, `Google Cloud` and so on; empty where the firmware names none."""
    identity = roots.sys / "class" / "dmi" / "id"
    return next((name for file, sign, name in _SIGNS if read_text(identity / file).strip() == sign), "")
