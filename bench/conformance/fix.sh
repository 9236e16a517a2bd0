#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: applies shapers with real CAKE and
# fq_codel, measures a ping during an upload, and rolls them back, over various existing qdiscs;
# then halts. $1 is the results directory, $2 the program.
#
#   client 10.0.0.1 --- 10.0.0.2 router 10.0.1.1 wan0 --- 10.0.1.2 server
work=$1 fathom=$2
. "$(dirname "$0")/../uml/common.sh"
wake
exec 2>"$work/said"
load_modules nf_conntrack veth ifb tcp_cubic sch_htb sch_tbf sch_cake sch_fq_codel sch_codel sch_prio sch_red sch_ingress \
    cls_matchall cls_u32 cls_bpf act_mirred

ip -batch - <<-END
	netns add client
	netns add server
	link add x0 netns client type veth peer name lan0
	link add wan0 type veth peer name y0 netns server
	addr add 10.0.0.2/24 dev lan0
	addr add 10.0.1.1/24 dev wan0
	link set lan0 up
	link set wan0 up
END
ip -n client -batch - <<-END
	addr add 10.0.0.1/24 dev x0
	link set x0 up
	route add default via 10.0.0.2
END
ip -n server -batch - <<-END
	addr add 10.0.1.2/24 dev y0
	link set y0 up
	route add default via 10.0.1.1
END
sysctl -qw net.ipv4.ip_forward=1
ip netns exec server iperf3 -s -D >/dev/null
sleep 0.5

shown() {
    tc qdisc show | sed 's/direct_packets_stat [0-9]*//'
    tc class show dev wan0
    tc filter show dev wan0
    ip -o link | cut -d: -f2
}
fix() { "$fathom" fix --state /run/fix "$@"; }

for shaper in cake htb+fq_codel flow-hash; do
    shown >/run/before
    fix wan0 --up 5mbit --down 9mbit --shaper $shaper --commit >/dev/null
    ip netns exec client iperf3 -c 10.0.1.2 -C cubic -t 6 -J >"$work/$shaper.iperf" &
    sleep 2
    ip netns exec client ping -i 0.05 -c 60 10.0.1.2 >"$work/$shaper.ping"
    wait $!
    fix --status --json >"$work/$shaper.status"
    fix --undo >/dev/null
    shown >/run/after
    diff /run/before /run/after >"$work/$shaper.differs"
done

# Possible existing configurations: one per line, with ; between commands.
count=0
while read -r before; do
    count=$((count + 1))
    tc qdisc del dev wan0 root 2>/dev/null
    eval "$before"
    shown >/run/before
    fix wan0 --up 5mbit --down 9mbit --shaper cake --keep-for 50ms >/dev/null 2>"$work/before-$count.refused"
    shown >/run/after
    { echo "$before"; diff /run/before /run/after; } >"$work/before-$count.differs"
done <<-'END'
	tc qdisc add dev wan0 root handle 3: cake bandwidth 7mbit diffserv4 nat dual-srchost overhead 44 mpu 84 rtt 77ms ack-filter wash
	tc qdisc add dev wan0 root cake unlimited raw flowblind
	tc qdisc add dev wan0 root handle 4: fq_codel target 7ms interval 93ms flows 512 quantum 300 ce_threshold 3ms noecn
	tc qdisc add dev wan0 root handle 4: codel target 7ms interval 93ms ce_threshold 3ms
	tc qdisc add dev wan0 root handle 4: prio bands 4; tc qdisc add dev wan0 parent 4:2 handle 5: fq_codel; tc filter add dev wan0 parent 4: protocol all prio 4 matchall flowid 4:2
	tc qdisc add dev wan0 root handle 4: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10Mbit
END
halt
