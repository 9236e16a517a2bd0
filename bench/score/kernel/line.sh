# Shared by the init scripts: the line that the file `path` in the directory $work describes.
#
#   client 10.0.0.1 --- middle --- 10.0.1.1 server
#                  down ^    ^ up: the queues; half of the delay at each end
. "$(dirname "$0")/../../uml/common.sh"
. "$work/path"

shape() { # device, handle, rate, then the queue
    dev=$1 handle=$2 rate=$3
    shift 3
    tc -n middle qdisc add dev "$dev" root handle 1: htb default 1
    tc -n middle class add dev "$dev" parent 1: classid 1:1 htb rate "$rate" burst 1600 cburst 1600
    tc -n middle qdisc add dev "$dev" parent 1:1 handle "$handle" "$@"
}

build_line() {
    load_modules veth sch_htb sch_netem sch_codel sch_fq_codel sch_pie sch_cake tcp_cubic
    connect
    for space in client server; do
        inside $space sysctl -qw net.ipv4.tcp_no_metrics_save=1 \
            net.ipv4.tcp_congestion_control="$CONTROL" \
            net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 131072 67108864"
    done
    tc -n client qdisc add dev up0 root netem delay "$HALF" loss "$LOSS_UP" limit 200000
    tc -n server qdisc add dev down0 root netem delay "$HALF" loss "$LOSS_DOWN" limit 200000
    shape down1 10: "$RATE_UP" $QUEUE_UP
    shape up1 20: "$RATE_DOWN" $QUEUE_DOWN
}

# Captures both sides of the queues: $1 and the name of the interface are the name of the file.
start_captures() {
    captures=
    for side in up1 down1; do
        # Not `inside`: the process ID would be that of a shell.
        ip netns exec middle tcpdump -i $side -s 80 -B 16384 -Z root --time-stamp-precision=nano \
            -w "$work/$1$side.pcap" >/dev/null 2>"$work/$1$side.said" &
        captures="$captures $!"
    done
    for side in up1 down1; do
        until grep -q 'listening on' "$work/$1$side.said"; do sleep 0.1; done
    done
}

# Ends the captures. Fails if they lost packets.
stop_captures() {
    # tcpdump reads packets up to a second after they were captured.
    sleep 2
    kill $captures
    wait $captures
    [ "$(grep -hc '^0 packets dropped by kernel' "$work/$1"*.said | tr '\n' ' ')" = "1 1 " ]
}
