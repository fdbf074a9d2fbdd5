# Kills the processes that work below the current directory, and ends the mounts there: the reaper runs
# this.

here=$(pwd -P)

ls -l /proc/[0-9]*/cwd 2>/dev/null | while read -r line; do
	case $line in
	*"/cwd -> $PWD"/* | *"/cwd -> $here"/*)
		pid=${line##*/proc/}
		kill -KILL "${pid%%/*}"
		;;
	esac
done

# The kernel writes a space in a name as \040. The name of this directory has nothing of that kind.
while read -r _ dir _; do
	case $dir in
	*"/${here##*/}/"*) ;;
	*) continue ;;
	esac
	dir=$(printf '%b.' "$(printf '%s' "$dir" | sed 's/\\/\\0/g')")
	umount -l "${dir%.}"
done </proc/self/mounts
