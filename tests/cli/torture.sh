#!/bin/bash
# A sample of tests/torture.sh, which `make torture` runs as a whole.
exec bash "$(dirname "$0")/../torture.sh" "$1" --sample
