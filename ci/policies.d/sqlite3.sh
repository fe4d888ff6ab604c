# A table, an index, a rollback, a journal of each kind, and the file as it is in the end.
sqlite3 a.db 'create table t(a, b); create index i on t(a); insert into t values (1, 2), (3, 4);'
sqlite3 a.db 'begin; delete from t; rollback; pragma journal_mode = wal; insert into t values (5, 6);' >out
sqlite3 a.db vacuum
test "$(sqlite3 a.db 'select sum(a) + sum(b) from t')" = 21
test "$(sqlite3 a.db 'pragma integrity_check')" = ok
