#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: measures each cell of the directory in
# $1 and halts.
#
# A cell is a directory with a file `cell` (RATE RTT QDISC CC FLOWS ECN OMIT SPAN PROBES TRACE). The
# output of the measuring programs is saved next to it: `iperf.json`, `ping`, `tc`, and with TRACE
# `ss`. Everything else is in memory and freed with the kernel.
#
#   client 10.0.0.1 --- 10.0.0.2 middle 10.0.1.2 --- 10.0.1.1 server
#                        the queue in question ->    <- the delay, on the path of the ACKs
work=$1
. "$(dirname "$0")/../uml/common.sh"

attune() {
    for space in client server; do
        inside $space sysctl -qw net.ipv4.tcp_ecn="$ECN" net.ipv4.tcp_no_metrics_save=1 \
            net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 131072 67108864"
    done
}

narrow() { # CAKE shapes by itself; any other qdisc is the child of a shaper that holds one packet
    tc -n server qdisc add dev down0 root netem delay "$RTT" limit 200000
    case $QDISC in
    cake*) tc -n middle qdisc add dev down1 root $QDISC ;;
    *)
        tc -n middle qdisc add dev down1 root handle 1: htb default 1
        tc -n middle class add dev down1 parent 1: classid 1:1 htb rate "$RATE" burst 1600 cburst 1600
        tc -n middle qdisc add dev down1 parent 1:1 $QDISC
        ;;
    esac
}

load() {
    inside server iperf3 -s -D
    sleep 0.5
    (sleep "$OMIT"; inside client ping -i 0.05 -c "$PROBES" 10.0.1.1 >"$cell/ping") &
    probes=$!
    if [ -n "$TRACE" ]; then
        while sleep "$TRACE"; do echo "at $(cut -d' ' -f1 /proc/uptime)"; inside client ss -tinO dst 10.0.1.1; done >"$cell/ss" &
        trace=$!
    fi
    inside client iperf3 -c 10.0.1.1 -O "$OMIT" -t "$SPAN" -P "$FLOWS" -C "$CC" -J >"$cell/iperf.json"
    wait $probes
    [ -z "$TRACE" ] || kill $trace
    tc -n middle -s qdisc show dev down1 >"$cell/tc"
}

disconnect() {
    for pid in $(ip netns pids server); do kill "$pid"; done
    for space in client middle server; do ip netns del $space; done
    sleep 0.2
}

wake
for cell in "$work"/*/; do
    . "$cell/cell"
    load_modules veth sch_htb sch_netem "sch_${QDISC%% *}" "tcp_$CC"
    { connect && attune && narrow && load; } 2>>"$work/failed"
    disconnect
done
halt
