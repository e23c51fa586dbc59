"""The commands of `duecourse`, one file each.

A command imports what it needs when it runs. Commands that do more than call the server have their
own module outside this package.
"""

from __future__ import annotations
