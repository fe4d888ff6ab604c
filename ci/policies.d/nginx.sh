# Two pages and one that is not there, by one worker of another user.
. ./up.sh
mkdir logs www
echo hello >www/index.html
chmod -R a+rX .
cat >nginx.conf <<END
daemon off;
user nobody nogroup;
pid nginx.pid;
error_log error.log;
worker_processes 1;
events {}
http {
    access_log access.log;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server { listen 127.0.0.1:8080; root www; }
}
END
nginx -e error.log -p "$PWD" -c nginx.conf &
service=$!
up curl -sf --max-time 2 http://127.0.0.1:8080/
test "$(curl -sf --max-time 2 http://127.0.0.1:8080/index.html)" = hello
test "$(curl -s --max-time 2 -o page -w '%{http_code}' http://127.0.0.1:8080/none)" = 404
kill -QUIT "$service"
wait "$service"
grep -q 'GET /none' access.log
