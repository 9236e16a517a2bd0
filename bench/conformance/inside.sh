#!/bin/sh
# The first process of a User-Mode Linux whose root is the host's: measures each cell of the directory in $1 and halts.
#
# A cell is a directory with a file `cell` (RATE RTT QDISC CC FLOWS ECN OMIT SPAN PROBES TRACE). What the measuring programs
# print is left beside it: `iperf.json`, `ping`, `tc`, with TRACE `ss`. All else is in memory and gone with the kernel.
#
#   client 10.0.0.1 --- 10.0.0.2 router 10.0.1.2 --- 10.0.1.1 server
#                        the queue in question ->    <- the delay, on the way of the ACKs
work=$1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
uname -r >"$work/kernel"

# A kernel with modules has them outside the place where it looks; the host has no such place, and is not given one.
modules=/usr/lib/uml/modules/$(uname -r)
load_modules() {
    [ -d "$modules" ] || return 0
    mkdir -p /run/modules/lib/modules
    ln -sfn "$modules" /run/modules/lib/modules/
    # One that is not there is built in, or its user says so.
    for module in "$@"; do modprobe -d /run/modules "$module" 2>/dev/null; done
    return 0
}

inside() { space=$1; shift; ip netns exec "$space" "$@"; }

# Few processes, many commands: to start one takes User-Mode Linux up to a tenth of a second.
connect() {
    ip -batch - <<-END
	netns add client
	netns add router
	netns add server
	link add up0 netns client type veth peer name up1 netns router
	link add down0 netns server type veth peer name down1 netns router
	END
    ip -n client -batch - <<-END
	link set lo up
	link set up0 up
	addr add 10.0.0.1/24 dev up0
	route add default via 10.0.0.2
	END
    ip -n router -batch - <<-END
	link set up1 up
	link set down1 up
	addr add 10.0.0.2/24 dev up1
	addr add 10.0.1.2/24 dev down1
	END
    ip -n server -batch - <<-END
	link set lo up
	link set down0 up
	addr add 10.0.1.1/24 dev down0
	route add default via 10.0.1.2
	END
    # A limit must count packets of the line's size.
    for end in client/up0 router/up1 router/down1 server/down0; do
        inside ${end%/*} ethtool -K ${end#*/} tso off gso off gro off >/dev/null
    done
    inside router sysctl -qw net.ipv4.ip_forward=1
    for space in client server; do
        inside $space sysctl -qw net.ipv4.tcp_ecn="$ECN" net.ipv4.tcp_no_metrics_save=1 \
            net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 131072 67108864"
    done
}

narrow() { # CAKE has a rate of its own; any other discipline is the leaf of a shaper that holds one packet
    tc -n server qdisc add dev down0 root netem delay "$RTT" limit 200000
    case $QDISC in
    cake*) tc -n router qdisc add dev down1 root $QDISC ;;
    *)
        tc -n router qdisc add dev down1 root handle 1: htb default 1
        tc -n router class add dev down1 parent 1: classid 1:1 htb rate "$RATE" burst 1600 cburst 1600
        tc -n router qdisc add dev down1 parent 1:1 $QDISC
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
    tc -n router -s qdisc show dev down1 >"$cell/tc"
}

disconnect() {
    for pid in $(ip netns pids server); do kill "$pid"; done
    for space in client router server; do ip netns del $space; done
    sleep 0.2
}

ip link set lo up
for cell in "$work"/*/; do
    . "$cell/cell"
    load_modules veth sch_htb sch_netem "sch_${QDISC%% *}" "tcp_$CC"
    { connect && narrow && load; } 2>>"$work/failed"
    disconnect
done
echo o >/proc/sysrq-trigger
sleep 5
