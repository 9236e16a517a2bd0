#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: a modem of $3 and $4 Mbit/s with 205 ms
# of buffer, and a fix by the program $2 of the host in front of it, with each of the shapers in the
# remaining arguments. The output of `fathom fix` is saved in $work/RUNG.json and RUNG.said.
#
#   client up0, where the fix is --- up1 modem: tbf up and down --- down0 server, with 5 ms of delay
work=$1 program=$2 up=$3 down=$4
shift 4
. "$(dirname "$0")/../uml/common.sh"
wake
load_modules veth ifb sch_tbf sch_htb sch_netem sch_cake sch_fq_codel sch_ingress act_mirred cls_matchall cls_u32 cls_bpf tcp_cubic
connect
tc -n middle qdisc add dev down1 root tbf rate "${up}mbit" burst 3028 limit $((up * 25600))
tc -n middle qdisc add dev up1 root tbf rate "${down}mbit" burst 3028 limit $((down * 25600))
tc -n server qdisc add dev down0 root netem delay 5ms limit 20000

inside server "$program" serve >/dev/null 2>"$work/serve.said" &
until grep -q . "$work/serve.said"; do sleep 0.1; done
for rung in "$@"; do
    inside client "$program" fix up0 --server 10.0.1.1 --shaper "$rung" --json --state /run/fathom >"$work/$rung.json" 2>"$work/$rung.said"
    inside client "$program" fix --undo --state /run/fathom up0 >>"$work/$rung.said" 2>&1
done
halt
