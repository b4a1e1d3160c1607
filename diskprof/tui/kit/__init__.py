"""Lines, lists and fields that the screens are made of; knows nothing of fio or of runs."""
