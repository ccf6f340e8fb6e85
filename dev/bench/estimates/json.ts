/** A record of a session as it was parsed: nothing in it is certain. */
export type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json };

/** The value under a path of names; `null` where there is none. */
export function at(value: Json, ...path: readonly string[]): Json {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || isList(found)) return null;
    found = found[name] ?? null;
  }
  return found;
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function listAt(value: Json, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return isList(found) ? found : [];
}

export function textAt(value: Json, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: Json, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
}
