"""One load from many hosts: fio's own client here drives fio's servers there."""
