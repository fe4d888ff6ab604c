# Waits until a command succeeds, as long as the service lives that it asks; for scripts of this folder.
up() {
    for _ in $(seq 60); do
        # Before the first try and in the background, so that every run makes the calls of a wait.
        sleep 0.05 &
        wait "$!"
        kill -0 "$service"
        if "$@" >/dev/null 2>&1; then return; fi
    done
    echo "the service does not answer: $*" >&2
    exit 1
}
