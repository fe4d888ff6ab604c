# A file, a page in two parts, an upload, and a server that is not there.
. ./up.sh
/usr/bin/python3 service.py 8080 &
service=$!
up curl -sf http://127.0.0.1:8080/
echo hello >sent
test "$(curl -sf "file://$PWD/sent")" = hello
curl -sf --range 0-3 --output part http://127.0.0.1:8080/
curl -sf --range 4- http://127.0.0.1:8080/ >>part
curl -sf --data-binary @sent http://127.0.0.1:8080/ | cmp - sent
if curl -sf --connect-timeout 2 http://127.0.0.1:9/; then exit 1; fi
kill "$service"
if wait "$service"; then exit 1; fi
