/** What `holdfast doctor --only` accepts, in the order in which a person would fix what they find. */
export const CHECK_NAMES = [
  'node',
  'packages',
  'temporal-cli',
  'workspace',
  'disk',
  'ports',
  'postgres',
  'temporal',
  'model-key',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

/** What one check of the doctor found. */
export interface Finding {
  readonly check: string;
  /** `broken`: something will not work. `warning`: it works, but not as one would wish. */
  readonly status: 'ok' | 'warning' | 'broken';
  readonly detail: string;
  /** What to do; null when nothing has to be done. */
  readonly fix: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, fix: null };
}

export function warning(check: string, detail: string, fix: string): Finding {
  return { check, status: 'warning', detail, fix };
}

export function broken(check: string, detail: string, fix: string): Finding {
  return { check, status: 'broken', detail, fix };
}
