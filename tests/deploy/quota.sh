#!/bin/sh
# How many processors the image in ROOT thinks it has under a quota of one: `quota.sh ROOT`. For a
# machine with cgroup v1; its controller is shown to the image as a container engine shows it.
set -eu
if [ -z "${GROUP:-}" ]; then
    GROUP=/sys/fs/cgroup/cpu/footnote-quota
    mkdir "$GROUP"
    trap 'rmdir "$GROUP"' EXIT
    echo 100000 > "$GROUP/cpu.cfs_period_us"
    echo 100000 > "$GROUP/cpu.cfs_quota_us"
    GROUP=$GROUP unshare --mount --fork sh "$0" "$1"
    exit
fi
echo $$ > "$GROUP/tasks"
mkdir -p "$1/sys/fs/cgroup"
mount -t tmpfs none "$1/sys/fs/cgroup"
mkdir "$1/sys/fs/cgroup/cpu"
mount --bind "$GROUP" "$1/sys/fs/cgroup/cpu"
exec chroot --userspec=1000:1000 "$1" env -C /app .venv/bin/python -c '
import os
from rag.settings import usable_processors
print(os.cpu_count(), "processors,", usable_processors(), "to use")'
