# For packaging/openwrt/check: the network `wan` has the device `eth9`.
network_get_device() {
	[ "$2" = wan ] && eval "$1=eth9"
}
