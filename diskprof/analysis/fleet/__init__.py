"""A fleet run as a whole: its sums, which member stands out, what members share, what disks lose together."""
