# A service of Go, which is built by ci/policies.
. ./up.sh
./service 127.0.0.1:8080 2>&1 &
service=$!
up curl -sf http://127.0.0.1:8080/
test "$(curl -sf --data-binary sent http://127.0.0.1:8080/)" = sent
kill "$service"
wait "$service"
test "$(cat kept)" = sent
