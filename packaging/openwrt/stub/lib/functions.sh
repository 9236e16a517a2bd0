# For packaging/openwrt/check: as much of OpenWrt's functions.sh as our scripts use. Reads the file
# of a configuration, without `uci`.
config_load() {
	CONFIG=/etc/config/$1
}

# The lines of a section, without comments and indentation.
config_section() {
	sed -n "s/^[ 	]*//; /^config .*'$1'\$/,/^config /p" "$CONFIG" | sed '/^#/d; 1d; /^config /d'
}

config_get() {
	local found
	found=$(config_section "$2" | sed -n "s/^option $3 '\(.*\)'\$/\1/p" | tail -n1)
	[ -n "$found" ] || found=$(config_list_foreach "$2" "$3" echo)
	eval "$1=\${found:-\$4}"
}

config_get_bool() {
	config_get "$@"
}

config_foreach() {
	local function="$1" type="$2" section
	shift 2
	for section in $(sed -n "s/^config $type '\(.*\)'\$/\1/p" "$CONFIG"); do
		"$function" "$section" "$@"
	done
}

config_list_foreach() {
	local section="$1" name="$2" function="$3" item items
	shift 3
	items=$(config_section "$section" | sed -n "s/^list $name '\(.*\)'\$/\1/p")
	[ -z "$items" ] || while read -r item; do
		"$function" "$item" "$@"
	done <<-END
		$items
	END
}
