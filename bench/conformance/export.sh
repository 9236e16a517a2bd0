#!/bin/sh
# Init script of a User-Mode Linux whose root is the host's: applies exported configurations with
# real CAKE, shows what the kernel has of them, and removes them; then halts. $1 is the results
# directory, with linux-tc.sh and networkd.sh.
#
#   eth0 --- peer
work=$1
. "$(dirname "$0")/../uml/common.sh"
wake
exec 2>"$work/said"
load_modules nf_conntrack veth ifb sch_cake sch_ingress cls_matchall act_mirred
ip link add eth0 type veth peer name peer
ip link set eth0 up
ip link set peer up

shown() {
    tc qdisc show dev eth0
    tc qdisc show dev ifb-eth0 2>/dev/null
    tc filter show dev eth0 ingress
}
# The commands of a comment: those after its paragraph, up to the next paragraph.
commands() { sed -n "/^# $1:/,/^# [A-Z]/s/^#     //p" "$2"; }

shown >"$work/before"
sh "$work/linux-tc.sh" || echo "failed: $?" >&2
shown >"$work/linux-tc.shown"
commands Undo "$work/linux-tc.sh" | sh -ex
shown >"$work/after"

# Without the service manager: networkd and the commands of the unit. Without udev, which networkd
# recognizes by a /sys that is read-only, it does not wait for udev.
mount -o remount,ro /sys
mount -t tmpfs tmp /etc/systemd/network
mount -t tmpfs tmp /etc/systemd/system
printf '[Match]\nName=eth0\n\n[Network]\nLinkLocalAddressing=no\n' >/etc/systemd/network/10-wan.network
# It ends at its last commands, which need the service manager.
sh "$work/networkd.sh" 10-wan.network || true
systemd-analyze verify /etc/systemd/system/fathom-ifb-eth0.service >"$work/verify" 2>&1
/lib/systemd/systemd-networkd >"$work/networkd.log" 2>&1 &
tries=0
until tc qdisc show dev ifb-eth0 2>/dev/null | grep -q cake && tc qdisc show dev eth0 | grep -q cake; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || break
    sleep 0.1
done
sed -n 's/^ExecStart=//p' /etc/systemd/system/fathom-ifb-eth0.service | sh -ex
shown >"$work/networkd.shown"
sed -n 's/^ExecStop=//p' /etc/systemd/system/fathom-ifb-eth0.service | sh -ex
shown >"$work/networkd.stopped"
ip -br link show dev ifb-eth0 >"$work/networkd.ifb"
touch "$work/done"
halt
