#!/bin/sh
# Creates the namespace. Waits for the server; may run again.
set -eu
export TEMPORAL_ADDRESS=temporal:7233
until temporal operator cluster health >/dev/null 2>&1; do sleep 1; done
temporal operator namespace describe -n default >/dev/null 2>&1 || temporal operator namespace create -n default --retention 30d
