"""The reply to /help."""

from __future__ import annotations

HELP_TEXT = """\
/remind <when> <what> - for example: /remind tomorrow 9am call the bank
/do <when> <what> - have it done, at once if you name no time
/tasks - your open tasks
/task <id> - all about one of them
/cancel <id> - cancel it
/snooze <id> <how long> - put it off, for example by 20 minutes
/pause <id> and /resume <id> - not now, and on again
/done <id> - you need no more reminding of it
/retry <id> - try again what failed
/approve <id> - the work was done well
/reject <id> <why> - it was not
/resolve <id> applied, not_applied or skip - what became of work that was lost track of
/timezone <place> - where you are, for example: /timezone Europe/Berlin
/quiet <from>-<to> - when not to disturb you, for example: /quiet 22:00-7:00; or off
/notify all, important or none - what you hear of your tasks
/help - this list

<when> is in 10 minutes, at 15:00, on friday 8:30, 2026-02-17 15:00, every weekday 8:30, \
every month on the 1st, every 2 hours, and the like."""
