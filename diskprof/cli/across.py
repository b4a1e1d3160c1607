"""What like runs may differ in where a person says so: the option `--across`."""

from diskprof.model.fingerprint import Aspect

ACROSS = {"kernel": Aspect.KERNEL, "file-system": Aspect.FILE_SYSTEM, "disk": Aspect.DISK}
