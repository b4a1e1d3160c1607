"""The hosts: words and files to hosts, the way there, and the program that is sent."""
