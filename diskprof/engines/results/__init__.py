"""Result files of fio and ioping that somebody else started: what they say of their runs."""
