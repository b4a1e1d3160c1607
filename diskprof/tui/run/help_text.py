"""What the help of the Run screen says."""

HELP_OF_RUN = """
Select a device and a preset, then press {run.start}. A dialog shows the plan again; {run.start} starts the run. If a run is using
the same disk, the dialog offers to wait for it.

{run.question} asks in plain words what you want to know, and chooses a preset with values for this disk: a size beyond its cache,
a time beyond its burst, the benchmark of the cloud that the machine is of.

A mounted device is tested with a temporary file, which is removed at the end. An unmounted device is only read. To overwrite it,
press {run.allow} and type its name at the start: all data on it is lost. Devices in use and your own files are never overwritten.

Load is what the device read and wrote in the last seconds. A ! marks a device that a test would disturb, or that would distort the
test: its details say why. New and removed devices are detected automatically.

{run.watch} watches the device instead of testing it: what others read and write, how long that takes, and which processes do
it. As root, with tracefs, each request is traced. It is a run like any other, of an hour at the most; stopped, it is complete.

With enough columns, a card shows the device: health and temperature where the disk need not be woken, free space, and the last
result with the trend of each figure.

{run.edit} edits the parameters, how often to repeat, and steady: a figure, such as total.iops; each test goes on until it is
steady. Targets marked with {run.mark} alternate (A B B A).

Recent presets and favourites ({run.favourite} adds or removes one) are first. The last target, preset and edits are remembered.
"""
