"""What block devices there are: sysfs, mounts and udev, put together as a tree."""
