"""The reply to /help."""

from __future__ import annotations

HELP_TEXT = """\
/remind <when> <what> - set a reminder. Example: /remind tomorrow 9am call the bank
/do <when> <what> - run an action. Without <when>, it starts now
/tasks - list your open tasks
/task <id> - show one task
/cancel <id> - cancel a task
/snooze <id> <how long> - postpone a task. Example: /snooze a1b2c3d4 20 minutes
/pause <id> - pause a task
/resume <id> - resume a paused task
/done <id> - dismiss a reminder
/retry <id> - retry a failed task
/approve <id> - approve finished work
/reject <id> <why> - reject finished work
/resolve <id> applied, not_applied or skip - say whether an action with an unknown outcome happened
/timezone <place> - set your time zone. Example: /timezone Europe/Berlin
/quiet <from>-<to> - set your quiet hours. Example: /quiet 22:00-7:00. Turn them off: /quiet off
/notify all, important or none - choose your notifications
/forget me - delete your tasks, their history and your settings
/help - show this list

<when> can be: in 10 minutes, at 15:00, tomorrow 9am, on friday 8:30, 2026-02-17 15:00, \
every weekday 8:30, every month on the 1st, every 2 hours."""
