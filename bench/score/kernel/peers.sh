#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: runs iperf3 over the line of the
# directory $1, fping as flent runs it and irtt with and without this load, and halts.
work=$1
. "$(dirname "$0")/line.sh"
wake
exec 2>"$work/said"
build_line
inside server iperf3 -s >/dev/null 2>&1 &
inside server irtt server >/dev/null 2>&1 &
start_captures peers.

probe() { # name, seconds
    inside client fping -D -p 200 -c $(($2 * 5)) -t 30000 10.0.1.1 >"$work/$1.fping" 2>/dev/null &
    fping=$!
    inside client irtt client -q -i 50ms -d "${2}s" --wait=3x30s -o "$work/$1.irtt.json" 10.0.1.1 >/dev/null 2>&1 &
    wait $fping $!
}
probe idle 5
date +%s.%N >"$work/peers.from"
inside client iperf3 -J -c 10.0.1.1 -P "$FLOWS" -t 20 $REVERSE >"$work/iperf3" 2>/dev/null &
iperf3=$!
probe load 20
wait $iperf3
stop_captures peers. && cp "$work/path" "$work/peers.done"
halt
