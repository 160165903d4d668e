#!/bin/sh
# Requests per second of a running server: bench_http.sh [URL], default http://127.0.0.1:8080/livez. Needs wrk.
url=${1:-http://127.0.0.1:8080/livez}
command -v wrk >/dev/null || { echo "wrk is missing (Debian: apt install wrk)" >&2; exit 1; }
echo "| keep-alive connections | requests/s | p50 | p99 |"
echo "| ---: | ---: | ---: | ---: |"
for connections in 1 16 64 256; do
  threads=2
  [ "$connections" -lt 2 ] && threads=1
  wrk -t"$threads" -c"$connections" -d"${SECONDS_EACH:-5}s" --latency "$url" | awk -v c="$connections" '
    /50%/ {p50 = $2} /99%/ && !/%.*%/ {p99 = $2} /Requests\/sec/ {rate = $2}
    END {printf "| %d | %.0f | %s | %s |\n", c, rate, p50, p99}'
done
