#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: measures the line of $work/line with the
# program $2, and with bbperf ($3) if PEER is 1, and halts. A line has words:
#
#   RATE HALF_OF_THE_DELAY PEER KIND ARGUMENTS
#
#   client 10.0.0.1 --- middle --- 10.0.1.1 server
#                  down ^    ^ up: the queues; half of the delay at each end
work=$1 fathom=$2 bbperf=$3
. "$(dirname "$0")/../uml/common.sh"
wake
exec 2>"$work/said"
load_modules veth sch_htb sch_tbf sch_netem sch_red sch_codel sch_fq_codel sch_pie sch_cake sch_ingress act_police cls_matchall
connect
# bbperf has semaphores there.
mkdir -p /dev/shm && mount -t tmpfs tmp /dev/shm
inside server "$fathom" serve >/dev/null 2>"$work/serve" &
inside server "$bbperf" -s >/dev/null 2>&1 &
until grep -q . "$work/serve"; do sleep 0.1; done

shape() { # device, the device on the other side of the router, rate, kind, arguments
    dev=$1 other=$2 rate=$3 kind=$4
    shift 4
    case $kind in
    tbf) tc -n middle qdisc add dev "$dev" root tbf rate "$rate" "$@" ;;
    police)
        tc -n middle qdisc add dev "$other" ingress
        tc -n middle filter add dev "$other" parent ffff: matchall action police rate "$rate" "$@" conform-exceed drop
        ;;
    *)
        tc -n middle qdisc add dev "$dev" root handle 1: htb default 1
        tc -n middle class add dev "$dev" parent 1: classid 1:1 htb rate "$rate" burst 1600 cburst 1600
        tc -n middle qdisc add dev "$dev" parent 1:1 "$kind" "$@"
        ;;
    esac
}

read -r rate half peer kind arguments <"$work/line"
tc -n client qdisc add dev up0 root netem delay "$half" limit 200000
tc -n server qdisc add dev down0 root netem delay "$half" limit 200000
shape down1 up1 "$rate" "$kind" $arguments
shape up1 down1 "$rate" "$kind" $arguments
inside client "$fathom" buffer 10.0.1.1 --json >"$work/buffer.json" 2>"$work/buffer.said"
if [ "$peer" = 1 ]; then
    inside client "$bbperf" -c 10.0.1.1 -u -q -J "$work/peer.json" >"$work/peer.said" 2>&1
fi
echo done >"$work/done"
halt
