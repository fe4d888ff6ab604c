# A session of SSH by a key, which runs a command. The home of root is another folder in a mount namespace of its own.
if [ "${1-}" != inside ]; then exec unshare --mount sh it.sh inside; fi
. ./up.sh
mkdir -p home/.ssh
dropbearkey -t ed25519 -f server.key >out
dropbearkey -t ed25519 -f client.key >>out
dropbearkey -y -f client.key | grep '^ssh-' >home/.ssh/authorized_keys
chmod -R go-rwx home
mount --bind home /root
export HOME=/root
dropbear -F -E -s -p 127.0.0.1:8022 -P dropbear.pid -r server.key 2>log &
service=$!
up dbclient -y -y -i client.key -p 8022 root@127.0.0.1 true
test "$(dbclient -y -y -i client.key -p 8022 root@127.0.0.1 'echo said' 2>>log)" = said
kill "$service"
# It ends with 1 by a signal.
wait "$service" || test $? = 1
