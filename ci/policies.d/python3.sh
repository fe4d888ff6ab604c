# A service with threads, asked by Python itself.
. ./up.sh
/usr/bin/python3 service.py 8080 &
service=$!
up /usr/bin/python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8080/")'
/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8080/", b"sent").read().decode())' >got
test "$(cat got)" = sent
kill "$service"
if wait "$service"; then exit 1; fi
test -s service.log
