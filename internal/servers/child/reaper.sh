# Owns the directory that it creates under $1: prints its name, waits until
# standard input ends, which is when the program that started us closes it or
# dies, however it dies, and then takes everything back. There is no moment at
# which the directory exists and nobody is going to remove it. What else is to be
# taken back the script $2 knows, which has the other arguments.

trap '' HUP INT TERM PIPE

dir=$(mktemp -d "$1/lockstorm.XXXXXX") || exit 1
printf '%s\n' "$dir"
last=$2
shift 2

while read -r _; do :; done

(cd "$dir" && eval "$last")

tries=0
until rm -rf "$dir" 2>/dev/null && [ ! -e "$dir" ]; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || exit 1
	sleep 0.05
done
