#!/bin/bash
# Takes the guest's disks into use, in every way that diskprof has to notice. Which disk is which is told by its serial number.
#
#   VMNVME0001      GPT: ext4 "nvdata" on /mnt/nvme, swap, xfs "spare" that is not mounted
#   VMSCSI0001, 2   LVM, vgdata: lvxfs (xfs on /mnt/lv), lvcrypt (LUKS, open as secret, ext4 on /mnt/secret)
#   VMSCSI0003, 4   md RAID1 /dev/md0, ext4 on /mnt/md
#   VMSCSI0005, 6   btrfs "pool" of two devices on /mnt/btrfs
#   VMPATH0001      multipath mpatha, GPT, ext4 on /mnt/path
#   VMPAIR0001      no map; GPT; by its first path: ext4 on /mnt/pair, LVM vgpair (active), md /dev/md1 of one member
#   no serial       no map; GPT; by its first path: ext4 on /mnt/nameless. Four nodes have no serial number: these two have the wwn 0x...0222
#   VMSATA0001      GPT, ext4, not mounted
#   VMUSB0001       ext4 "stick" without a table, on /mnt/stick
#   VMVIRTIO0001    LVM, vgold, not active
set -euo pipefail
paths() { lsblk -dnpro NAME,"$1" | while read -r node value; do [ "$value" != "$2" ] || echo "$node"; done; }
of() { paths SERIAL "$1" | sed -n "${2:-1}p"; }
partitioned() { # partitioned NODE NAME...: a GPT with a partition of 300 MiB for each name
    local node=$1 at=1 words=()
    shift
    for name; do words+=(mkpart "$name" "${at}MiB" "$((at + 300))MiB") at=$((at + 300)); done
    parted -s "$node" mklabel gpt "${words[@]}"
    udevadm settle
}
on() { mkdir -p "$2" && mount -o noatime "$1" "$2"; }
mke4() { mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$@"; }
swapoff -a

nvme=$(of VMNVME0001)
partitioned "$nvme" data swap spare
mke4 -L nvdata "${nvme}p1" && on "${nvme}p1" /mnt/nvme
mkswap -q "${nvme}p2" && swapon "${nvme}p2"
mkfs.xfs -q -L spare "${nvme}p3"

one=$(of VMSCSI0001) two=$(of VMSCSI0002)
vgcreate -qq vgdata "$one" "$two"
lvcreate -qq -y -n lvxfs -L 600m vgdata "$one"
lvcreate -qq -y -n lvcrypt -L 300m vgdata "$two"
mkfs.xfs -q /dev/vgdata/lvxfs && on /dev/vgdata/lvxfs /mnt/lv
printf secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/vgdata/lvcrypt -
printf secret | cryptsetup open --key-file - /dev/vgdata/lvcrypt secret
mke4 -L secret /dev/mapper/secret && on /dev/mapper/secret /mnt/secret

mdadm --create /dev/md0 --run -q --level=1 --raid-devices=2 --assume-clean --size=300M "$(of VMSCSI0003)" "$(of VMSCSI0004)"
mke4 /dev/md0 && on /dev/md0 /mnt/md

five=$(of VMSCSI0005)
mkfs.btrfs -q -f -L pool -d raid1 -m raid1 "$five" "$(of VMSCSI0006)"
udevadm settle
btrfs device scan > /dev/null
on "$five" /mnt/btrfs

modprobe dm_multipath
systemctl start multipathd
for _ in $(seq 60); do
    [ ! -e /dev/mapper/mpatha ] || break
    multipath > /dev/null
    sleep 1
done
partitioned /dev/mapper/mpatha data
kpartx -a -p -part -s /dev/mapper/mpatha
udevadm settle
mke4 /dev/mapper/mpatha-part1 && on /dev/mapper/mpatha-part1 /mnt/path
# Its uevents of what is plugged in later would be an emulated processor's whole day.
systemctl stop multipathd.socket multipathd

first=$(of VMPAIR0001 1) second=$(of VMPAIR0001 2)
partitioned "$first" data volumes array
mke4 "${first}1" && on "${first}1" /mnt/pair
only="devices { filter = [ \"r|^$second|\" ] }"
vgcreate -qq --config "$only" vgpair "${first}2"
lvcreate -qq -y --config "$only" -n lvpair -L 100m vgpair
mdadm --create /dev/md1 --run -q --level=1 --raid-devices=2 "${first}3" missing
partprobe "$second"

first=$(paths WWN 0x5000000000000222 | sed -n 1p) second=$(paths WWN 0x5000000000000222 | sed -n 2p)
partitioned "$first" data
mke4 "${first}1" && on "${first}1" /mnt/nameless
partprobe "$second"

sata=$(of VMSATA0001)
partitioned "$sata" data
mke4 "${sata}1"
mke4 -L stick "$(of VMUSB0001)" && on "$(of VMUSB0001)" /mnt/stick

vgcreate -qq vgold "$(of VMVIRTIO0001)"
lvcreate -qq -y -n lvold -L 300m vgold
vgchange -qq -an vgold
udevadm settle
sync
