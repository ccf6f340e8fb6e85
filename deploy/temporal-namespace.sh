#!/bin/sh
# Creates the namespace and Holdfast's search attributes. Waits for the server; each step is idempotent.
set -eu
export TEMPORAL_ADDRESS=temporal:7233
until temporal operator cluster health >/dev/null 2>&1; do sleep 1; done
temporal operator namespace describe -n default >/dev/null 2>&1 || temporal operator namespace create -n default --retention 30d
for name in HoldfastConversation HoldfastAgent HoldfastModel HoldfastTurnState; do
  temporal operator search-attribute list -n default | grep -q "$name" ||
    temporal operator search-attribute create -n default --name "$name" --type Keyword
done
