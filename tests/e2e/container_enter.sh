# Makes overlaid folders the root of a mount namespace of its own, as container engines do, and runs a command in it.
#   sh container_enter.sh LAYERS UPPER VOLUMES COMMAND...
# LAYERS: folders, the uppermost first, with ':' between. UPPER: an empty folder that takes what is written, or "" to
# forget it. VOLUMES: OUTSIDE:INSIDE with blanks between. Must be called by root in new mount and PID namespaces.
set -e
layers=$1 upper=$2 volumes=$3
shift 3
mount --make-rprivate /
stage=/mnt
if [ -z "$upper" ]; then
  mount -t tmpfs tmpfs $stage
  upper=$stage
fi
mkdir "$upper/upper" "$upper/work" "$upper/root"
mount -t overlay overlay -o "lowerdir=$layers,upperdir=$upper/upper,workdir=$upper/work" "$upper/root"
cd "$upper/root"
for volume in $volumes; do
  mkdir -p ".${volume#*:}"
  mount --rbind "${volume%%:*}" ".${volume#*:}"
done
: >.dockerenv # Docker's mark
mount -t proc proc proc
mount --rbind /dev dev
pivot_root . mnt
umount -l /mnt
exec chroot . "$@"
