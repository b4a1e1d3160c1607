"""Each request to a device, by the kernel's trace of it."""
