# Two jobs with two children each, all of them waited for.
for job in 1 2; do
    (
        /bin/true &
        /bin/true &
        wait
    ) &
done
wait
