# A cluster of an ordinary user, a table, a query that sorts, an error, and the same table after a restart.
. ./up.sh
user="setpriv --reuid 65534 --regid 65534 --clear-groups"
mkdir cluster
chown 65534:65534 cluster
$user initdb --no-sync --auth trust --username it cluster/data >out
serve() {
    $user postgres -D cluster/data -k "$PWD/cluster" -c listen_addresses= -c fsync=on 2>>log &
    service=$!
    up $user psql -h "$PWD/cluster" -U it -c 'select 1' postgres
}
ask() { $user psql -qAt -h "$PWD/cluster" -U it -c "$1" postgres; }
serve
ask 'create table t as select g as a from generate_series(1, 1000) g'
test "$(ask 'select a from t order by -a limit 1')" = 1000
if ask 'select nothing' 2>>log; then exit 1; fi
ask checkpoint
kill -INT "$service"
wait "$service"
serve
test "$(ask 'select sum(a) from t')" = 500500
kill -INT "$service"
wait "$service"
