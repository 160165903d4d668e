#!/bin/sh
# Runs the browser tests: run.sh [FILE...]. Ends with 77 (skipped) where Node, a Chromium or the packages are missing.
cd "$(dirname "$0")" || exit 1
command -v node >/dev/null || { echo "skipped: no node (Debian: apt install nodejs npm)"; exit 77; }
[ -n "$CHROMIUM" ] || [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ] || [ -x /usr/bin/google-chrome ] ||
  { echo "skipped: no Chromium (Debian: apt install chromium)"; exit 77; }
if [ ! -d node_modules/playwright-core ]; then
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --ignore-scripts >&2 ||
    { echo "skipped: npm cannot install playwright-core"; exit 77; }
fi
exec node --test --test-concurrency=1 "$@"
