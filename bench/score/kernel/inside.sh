#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: runs `fathom test` over the line of
# the directory $1, captures both sides of its queues, and halts. $2 is the program.
work=$1 fathom=$2
. "$(dirname "$0")/line.sh"
wake
exec 2>"$work/said"
build_line
inside server "$fathom" serve >/dev/null 2>&1 &
start_captures test.
rm -f "$work/run.json"
inside client "$fathom" test 10.0.1.1 -o "$work/run.json" --no-save --flows "$FLOWS" >/dev/null 2>"$work/test"
stop_captures test. && [ -s "$work/run.json" ] && cp "$work/path" "$work/test.done"
halt
