#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: runs `fathom test` over the path that
# the file `path` in the directory $1 describes, samples its queues, and halts. $2 is the program.
#
#   client 10.0.0.1 --- middle --- 10.0.1.1 server
#                  down ^    ^ up: the queues; half of the delay at each end
work=$1 fathom=$2
. "$(dirname "$0")/../../uml/common.sh"
. "$work/path"
wake
exec 2>"$work/said"
load_modules veth sch_htb sch_netem sch_codel sch_fq_codel sch_pie sch_cake tcp_cubic
connect
for space in client server; do
    inside $space sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_congestion_control="$CONTROL" \
        net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 131072 67108864"
done

shape() { # device, handle, rate, then the queue
    dev=$1 handle=$2 rate=$3
    shift 3
    tc -n middle qdisc add dev "$dev" root handle 1: htb default 1
    tc -n middle class add dev "$dev" parent 1: classid 1:1 htb rate "$rate" burst 1600 cburst 1600
    tc -n middle qdisc add dev "$dev" parent 1:1 handle "$handle" "$@"
}
tc -n client qdisc add dev up0 root netem delay "$HALF" loss "$LOSS_UP" limit 200000
tc -n server qdisc add dev down0 root netem delay "$HALF" loss "$LOSS_DOWN" limit 200000
shape down1 10: "$RATE_UP" $QUEUE_UP
shape up1 20: "$RATE_DOWN" $QUEUE_DOWN

inside server "$fathom" serve >/dev/null 2>&1 &
# In pairs of lines: the time, and both queues.
inside middle sh -c 'while :; do date +%s.%N; tc -s -j qdisc; echo; sleep 0.1; done' >"$work/samples" &
sleep 1
inside client "$fathom" test 10.0.1.1 -o "$work/run.json" --no-save --flows "$FLOWS" >/dev/null 2>"$work/test"
halt
