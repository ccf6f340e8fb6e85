import type { Transaction } from '../database/database.ts';
import { jsonText } from '../log/stored-text.ts';

/** Inserts rows whose values are as JSON has them: bytes in base64, what JSON has no type for as Postgres writes it. */
export class RowWriter {
  private readonly sql: Transaction;
  private readonly types = new Map<string, ReadonlyMap<string, string>>();

  constructor(sql: Transaction) {
    this.sql = sql;
  }

  /** @param onConflict ends the statement. Default: a row that is there is an error */
  async insert(table: string, row: Readonly<Record<string, unknown>>, onConflict = ''): Promise<void> {
    const types = await this.typesOf(table);
    const columns = Object.keys(row);
    const values = columns.map((column, index) => expression(types.get(column) ?? 'text', index + 1));
    await this.sql.unsafe(
      `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')}) values (${values.join(', ')}) ${onConflict}`,
      columns.map((column) => parameter(types.get(column) ?? 'text', row[column])),
      { prepare: true },
    );
  }

  private async typesOf(table: string): Promise<ReadonlyMap<string, string>> {
    const known = this.types.get(table);
    if (known !== undefined) return known;
    const columns = await this.sql<{ name: string; type: string }[]>`
      select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`;
    const types = new Map(columns.map(({ name, type }) => [name, type]));
    this.types.set(table, types);
    return types;
  }
}

function expression(type: string, parameter: number): string {
  return type === 'bytea' ? `decode($${parameter}::text, 'base64')` : `$${parameter}::text::${type}`;
}

function parameter(type: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' && type !== 'json' && type !== 'jsonb' ? value : jsonText(value);
}
