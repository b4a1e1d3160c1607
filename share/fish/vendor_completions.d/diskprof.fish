# Loaded at the first Tab behind diskprof. The script is the program's own, so that the two fit each other.
diskprof completion fish 2>/dev/null | source
