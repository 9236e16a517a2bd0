# Shared by the init scripts of User-Mode Linux; each of them sources this. The kernel's root is the
# host's: writes go only to the results directory, $work, and to memory that is freed with the
# kernel.

wake() {
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
    mount -t proc proc /proc
    mount -t sysfs sys /sys
    mount -t tmpfs tmp /run
    uname -r >"$work/kernel"
    ip link set lo up
}

# A kernel with modules has them outside the usual location, which the host lacks and is not given.
load_modules() {
    modules=/usr/lib/uml/modules/$(uname -r)
    [ -d "$modules" ] || return 0
    mkdir -p /run/modules/lib/modules
    ln -sfn "$modules" /run/modules/lib/modules/
    # A missing module is built in, or its user reports it.
    for module in "$@"; do modprobe -d /run/modules "$module" 2>/dev/null; done
    return 0
}

inside() { space=$1; shift; ip netns exec "$space" "$@"; }

#   client 10.0.0.1 up0 --- up1 10.0.0.2 middle 10.0.1.2 down1 --- down0 10.0.1.1 server
# QUEUES, optionally from the kernel's command line, is the number of queues of the client's
# interface. Few processes with many commands: starting one takes User-Mode Linux up to a tenth of a
# second.
connect() {
    ip -batch - <<-END
	netns add client
	netns add middle
	netns add server
	link add up0 numtxqueues ${QUEUES:-1} numrxqueues ${QUEUES:-1} netns client type veth peer name up1 netns middle
	link add down0 netns server type veth peer name down1 netns middle
	END
    ip -n client -batch - <<-END
	link set lo up
	link set up0 up
	addr add 10.0.0.1/24 dev up0
	route add default via 10.0.0.2
	END
    ip -n middle -batch - <<-END
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
    # Limits must count packets of the line's size.
    for end in client/up0 middle/up1 middle/down1 server/down0; do
        inside ${end%/*} ethtool -K ${end#*/} tso off gso off gro off >/dev/null
    done
    inside middle sysctl -qw net.ipv4.ip_forward=1
}

halt() {
    echo o >/proc/sysrq-trigger
    # The init process must not end before its kernel.
    while :; do sleep 60; done
}
