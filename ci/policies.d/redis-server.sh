# Values set, counted, saved, appended, and there again after a restart.
. ./up.sh
serve() {
    redis-server --port 0 --unixsocket ./redis.sock --appendonly yes --logfile redis.log --save "" &
    service=$!
    up redis-cli -s ./redis.sock ping
}
serve
redis-cli -s ./redis.sock set color blue >out
redis-cli -s ./redis.sock incr count >>out
redis-cli -s ./redis.sock save >>out
redis-cli -s ./redis.sock shutdown
wait "$service"
serve
test "$(redis-cli -s ./redis.sock get color)" = blue
redis-cli -s ./redis.sock shutdown
wait "$service"
