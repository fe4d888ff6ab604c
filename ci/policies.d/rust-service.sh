# A service of Rust, which is built by ci/policies.
. ./up.sh
./service 127.0.0.1:8080 &
service=$!
up curl -sf http://127.0.0.1:8080/
test "$(curl -sf --data-binary sent http://127.0.0.1:8080/)" = sent
curl -sf --data-binary end http://127.0.0.1:8080/ >out
wait "$service"
test "$(cat kept)" = sentend
