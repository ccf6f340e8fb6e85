/** What a server can do that Holdfast cares about, in the order in which it is checked. */
export const CAPABILITIES = [
  'streaming',
  'usage',
  'cut_answer',
  'tool_calls',
  'parallel_calls',
  'thinking',
  'overflow_shape',
  'images',
  'cache_usage',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

export type ConformanceStatus =
  /** As Holdfast wants it. */
  | 'works'
  /** Usable; the detail says with what restriction. */
  | 'limited'
  /** The server does not have it, and Holdfast does without. */
  | 'missing'
  /** Turns with this server will fail or lose something. */
  | 'fails'
  /** Nothing is known; the detail says why. */
  | 'not_checked';

/** What one check found. */
export interface ConformanceFinding {
  readonly capability: Capability;
  readonly status: ConformanceStatus;
  /** One sentence for a person, with numbers where there are some; holds no key. */
  readonly detail: string;
}

export interface ConformanceReport {
  readonly model: string;
  /** Whether nothing fails. */
  readonly fits: boolean;
  /** Whether the server answered at all. */
  readonly reachable: boolean;
  readonly findings: readonly ConformanceFinding[];
  readonly milliseconds: number;
}

/** What a server says that knows no such path: most often its base URL was given without `/v1`. */
export function isUnknownPath({ status, detail }: ConformanceFinding): boolean {
  return status === 'fails' && detail.startsWith('HTTP 404');
}
