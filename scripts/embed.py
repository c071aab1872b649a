#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py FILE NAME: FILE as a C source with the string NAME, for what is easier to write in a language of its own."""
import pathlib
import sys


def main():
    path, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    print(f"/* {path.name}, by scripts/embed.py */\nextern const char {name}[];\nconst char {name}[] =")
    data = path.read_bytes()
    if b"SPDX-License-Identifier" in data.split(b"\n", 1)[0]: # of the file, not of what is made with it
        data = data.split(b"\n", 1)[1]
    for at in range(0, len(data), 24): # texts, not numbers: a char has a sign here and none there
        print('    "' + "".join(f"\\{byte:03o}" for byte in data[at:at + 24]) + '"')
    print('    "";')


if __name__ == "__main__":
    main()
