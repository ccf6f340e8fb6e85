#!/bin/sh
# Creates and upgrades both databases of the Temporal server. Runs before every start; each step is idempotent.
set -eu
export SQL_PLUGIN=postgres12 SQL_HOST=postgres SQL_PORT=5432 SQL_USER="$POSTGRES_USER" SQL_PASSWORD="$POSTGRES_PASSWORD"
for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  schema=${pair##*:}
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema --schema-name "postgresql/v12/$schema"
done
