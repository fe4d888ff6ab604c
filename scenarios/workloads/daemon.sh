# Leaves a daemon behind that ends only after this shell has ended.
mkfifo gate
setsid sh -c 'read -r nothing; echo "daemon is done"' < gate &
# Both ends meet here; the daemon reads the end of file when this shell, the only writer, is gone.
exec 3> gate
echo "main is done"
