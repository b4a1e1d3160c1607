#!/bin/bash
# recipe.sh STATE PYTHON: builds the guest of the lane in the directory STATE. Needs root; tests/vm/build.py calls it.
#
#   STATE/root       the guest's files         STATE/vmlinuz, initrd.img  its kernel
#   STATE/base.raw   its root disk             STATE/wheels               what diskprof is installed from, offline
#   STATE/key        opens its sshd
#
# STATE/requirements.txt names the packages of Python that it gets, pip of PYTHON downloads them.
set -euo pipefail
# What debootstrap mounts in the guest's directory is gone with this process, however it ends.
[ "${MOUNTS_ARE_OURS:-}" ] || MOUNTS_ARE_OURS=1 exec unshare --mount --propagation private -- "$BASH" "$0" "$@"
state=$1 python=$2
suite=bookworm
root=$state/root

packages=(
    linux-image-amd64 systemd-sysv udev dbus openssh-server kmod iproute2 procps util-linux-extra
    python3 python3-venv fio ioping tmux ncurses-term
    lvm2 dmsetup mdadm cryptsetup-bin multipath-tools kpartx nvme-cli sg3-utils parted fdisk
    e2fsprogs xfsprogs btrfs-progs
)

say() { printf 'vm: %s\n' "$*" >&2; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
install_in_guest() { inside apt-get install -y -q --no-install-recommends "$@"; }

rm -rf --one-file-system "$root" "$state"/{base.raw,vmlinuz,initrd.img,wheels,run}
mkdir -p "$state/wheels"

say "Debian $suite into $root (debootstrap)"
# The mirror is the one that apt uses here; without one for Debian, that of debootstrap.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" | sed -n 1p)
debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"}

say "${#packages[@]} packages and what they need"
echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/quick"
printf 'path-exclude=/usr/share/%s/*\n' doc man info locale > "$root/etc/dpkg/dpkg.cfg.d/small"
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" # nothing is started in a chroot
chmod 755 "$root/usr/sbin/policy-rc.d"
# An emulated processor unpacks the initial RAM disk at each boot: it holds what finds the root disk, and no more.
install_in_guest initramfs-tools lz4
sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=lz4/' "$root/etc/initramfs-tools/initramfs.conf"
printf '%s\n' virtio_pci virtio_blk ext4 > "$root/etc/initramfs-tools/modules"
install_in_guest "${packages[@]}"
inside apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root/usr/sbin/policy-rc.d"

say "settings"
[ -e "$state/key" ] || ssh-keygen -q -t ed25519 -N '' -C vm -f "$state/key"
inside useradd -m -s /bin/bash plain # a person without rights
for home in root home/plain; do
    install -d -m 700 "$root/$home/.ssh"
    install -m 600 "$state/key.pub" "$root/$home/.ssh/authorized_keys"
done
inside chown -R plain: /home/plain
inside passwd -q -d root
echo vm > "$root/etc/hostname"
echo '127.0.0.1 localhost vm' > "$root/etc/hosts"
echo '/dev/vda / ext4 noatime 0 1' > "$root/etc/fstab"
# QEMU's network has fixed addresses.
cat > "$root/etc/systemd/system/lane-network.service" <<'UNIT'
[Unit]
DefaultDependencies=no
After=systemd-remount-fs.service
Before=network.target ssh.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'modprobe virtio_net; ip link set lo up; ip link set eth0 up; ip address add 10.0.2.15/24 dev eth0'

[Install]
WantedBy=multi-user.target
UNIT
printf '[Journal]\nStorage=volatile\n' > "$root/etc/systemd/journald.conf"
printf 'UseDNS no\nPrintMotd no\nMaxSessions 50\n' > "$root/etc/ssh/sshd_config.d/lane.conf"
# A map where there are two paths, but for the disks called NO-MAP.
cat > "$root/etc/multipath.conf" <<'CONF'
defaults {
    find_multipaths yes
    user_friendly_names yes
}
blacklist {
    device {
        vendor "LANE"
        product "NO-MAP"
    }
}
CONF
inside systemctl -q enable lane-network ssh
inside systemctl -q set-default multi-user.target
# multipathd is started by the tests. The rest would keep an emulated processor busy.
inside systemctl -q disable multipathd systemd-networkd 2>/dev/null || true
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    nvmf-autoconnect.service nvmefc-boot-connections.service systemd-update-utmp.service systemd-update-utmp-runlevel.service \
    systemd-pstore.service modprobe@drm.service modprobe@efi_pstore.service systemd-timesyncd.service keyboard-setup.service \
    getty@tty1.service mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
printf 'blacklist %s\n' cfg80211 drm intel_rapl_common rapl kvm kvm_amd psmouse pcspkr iTCO_wdt lpc_ich i2c_i801 joydev evdev \
    > "$root/etc/modprobe.d/lane.conf"

say "packages of Python"
minor=$(inside python3 -c 'import sys; print(sys.version_info.minor)')
platforms=()
for glibc in 2_28 2_17 2_12 2_5; do platforms+=(--platform "manylinux_${glibc}_x86_64"); done
for old in 2014 2010 1; do platforms+=(--platform "manylinux${old}_x86_64"); done
"$python" -m pip download -q --disable-pip-version-check --only-binary=:all: --python-version "3.$minor" "${platforms[@]}" \
    -d "$state/wheels" -r "$state/requirements.txt"
cp -r "$state/wheels" "$root/opt/wheels"
cp "$state/requirements.txt" "$root/opt/requirements.txt"
inside python3 -m venv /opt/diskprof
inside /opt/diskprof/bin/pip install -q --disable-pip-version-check --no-index --find-links /opt/wheels -r /opt/requirements.txt
ln -s /opt/diskprof/bin/diskprof "$root/usr/local/bin/diskprof"

say "the root disk"
cp -L "$root/vmlinuz" "$root/initrd.img" "$state/"
truncate -s 6G "$state/base.raw"
mke2fs -q -t ext4 -E lazy_itable_init=1,lazy_journal_init=1 -d "$root" "$state/base.raw"
say "built in $SECONDS s"
