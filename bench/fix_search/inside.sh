#!/bin/sh
# The first process of a User-Mode Linux whose root is the host's: a modem of 10 and 20 Mbit/s with 205 and 200 ms of buffer, and a fix
# of the host before it with each shaper of $work/rungs. What `fathom fix` prints is left in $work/RUNG.json and RUNG.said.
#
#   client 10.0.0.1 up0 --- up1 modem down1 --- down0 10.0.1.1 server
#       the fix is here      <- tbf -> tbf       5 ms of delay
work=$1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
uname -r >"$work/kernel"
mkdir -p /run/modules/lib/modules
ln -sfn "/usr/lib/uml/modules/$(uname -r)" /run/modules/lib/modules/
# One that is not there is built in, or `fathom fix` says so. Nobody loads modules by name in here.
for module in veth ifb sch_tbf sch_htb sch_netem sch_cake sch_fq_codel sch_ingress act_mirred cls_matchall cls_u32 cls_bpf tcp_cubic; do
    modprobe -d /run/modules "$module" 2>/dev/null
done

ip -batch - <<-END
	link set lo up
	netns add client
	netns add modem
	netns add server
	link add up0 netns client type veth peer name up1 netns modem
	link add down0 netns server type veth peer name down1 netns modem
END
ip -n client -batch - <<-END
	link set lo up
	link set up0 up
	addr add 10.0.0.1/24 dev up0
	route add default via 10.0.0.2
END
ip -n modem -batch - <<-END
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
# The modem's buffer is of bytes of the line's packets.
for end in client/up0 modem/up1 modem/down1 server/down0; do
    ip netns exec ${end%/*} ethtool -K ${end#*/} tso off gso off gro off >/dev/null
done
ip netns exec modem sysctl -qw net.ipv4.ip_forward=1
tc -n modem qdisc add dev down1 root tbf rate 10mbit burst 3028 limit 256000
tc -n modem qdisc add dev up1 root tbf rate 20mbit burst 3028 limit 500000
tc -n server qdisc add dev down0 root netem delay 5ms limit 20000

program=$(cat "$work/program")
ip netns exec server "$program" serve >/dev/null 2>"$work/serve.said" &
sleep 1
while read -r rung; do
    ip netns exec client "$program" fix up0 --server 10.0.1.1 --rung "$rung" --json --state /run/fathom \
        >"$work/$rung.json" 2>"$work/$rung.said"
    ip netns exec client "$program" fix --undo --state /run/fathom up0 >>"$work/$rung.said" 2>&1
done <"$work/rungs"
echo o >/proc/sysrq-trigger
sleep 5
