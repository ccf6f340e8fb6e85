import { parse } from 'postgres-array';
import type { Database } from './database.ts';

/** Postgres's own numbers of types and of arrays of them, which are the same on every server. */
const ARRAY_TYPES: Readonly<Record<string, { readonly element: number; readonly array: number }>> = {
  boolean: { element: 16, array: 1000 },
  bigint: { element: 20, array: 1016 },
  integer: { element: 23, array: 1007 },
  text: { element: 25, array: 1009 },
  double: { element: 701, array: 1022 },
  timestamptz: { element: 1184, array: 1185 },
  uuid: { element: 2950, array: 2951 },
};

/**
 * Teaches a pool the arrays that the store sends and reads; an array of another type is read as text.
 *
 * By itself postgres.js (3.4.9) asks each new connection for all types (`fetch_types`), and nobody handles the failure of that
 * query: a server that ends at that moment ends the process, by an unhandled rejection. It also is a query a connection.
 */
export function teachArrays({ options }: Database): void {
  const { parsers, serializers } = options;
  for (const { element, array } of Object.values(ARRAY_TYPES)) {
    const read = parsers[element] ?? ((text: string) => text);
    const write = serializers[element] ?? String;
    parsers[array] = (text: string) => parse(text, read);
    serializers[array] = (values: unknown) => (Array.isArray(values) ? literal(values, write) : values);
  }
}

const NUMBER = /^\d+$/u;

function literal(values: readonly unknown[], write: (value: unknown) => unknown): string {
  const elements = values.map((value) => (value === null ? 'null' : quoted(String(write(value)))));
  return `{${elements.join(',')}}`;
}

function quoted(text: string): string {
  // A search sends hundreds of numbers.
  if (NUMBER.test(text)) return text;
  return `"${text.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}
