#!/bin/sh
# Called by image.py: ROOT USER WORKDIR ENV COMMAND HEALTH PROBE. Runs the image's command in
# namespaces of its own, asks it, and ends it.
set -eu
root=$1 user=$2 workdir=$3 environment=$4 command=$5 health=$6 probe=$7

if [ "${INSIDE:-}" != 1 ]; then
    INSIDE=1 exec unshare --mount --net --pid --ipc --fork --kill-child sh "$0" "$@"
fi
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" "$root/run"
mount -t tmpfs -o size=64m tmpfs "$root/dev/shm"
touch "$root/probe.py"
mount --bind "$probe" "$root/probe.py"
mount -o remount,bind,ro "$root"
python3 -c 'import fcntl, socket, struct
s = socket.socket(); fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 1 | 64))'  # lo up

inside() { # replaces its shell, so that in the background its number is the command's own
    exec chroot --userspec="$user:$user" "$root" sh -c "cd $workdir && exec $environment $1"
}
(inside "sh -c 'id -u; touch /app/x /tmp/x 2>&1 || true'")
now() { date +%s%N; }
begun=$(now)
inside "$command" &
app=$!
until (inside "$health" 2>/dev/null); do
    kill -0 "$app" || { echo "the app ended before it was healthy"; exit 1; }
    sleep 0.2
done
echo "healthy after $(( ($(now) - begun) / 1000000 )) ms"
(inside "/app/.venv/bin/python /probe.py")
echo "memory: $(awk '/VmRSS/ {printf "%d MB", $2 / 1024}' "$root/proc/$app/status" 2>/dev/null || true)"
begun=$(now)
kill -TERM "$app"
wait "$app" && status=0 || status=$?
echo "ended with $status after $(( ($(now) - begun) / 1000000 )) ms"
