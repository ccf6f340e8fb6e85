import type { LogAudit } from '../../../dev/demo/audit.ts';
import type { Job } from '../../../dev/demo/job.ts';
import type { Takeover } from '../../../dev/demo/demo-screen.ts';
import type { DemoFindings } from '../../../dev/demo/result.ts';

export const JOB: Job = {
  noun: 'package',
  description: 'packages',
  remarks: [],
  items: [
    {
      label: 'hono',
      files: [
        { path: 'hono/package.json', bytes: new Uint8Array(100) },
        { path: 'hono/README.md', bytes: new Uint8Array(900) },
      ],
      facts: [
        { column: 'version', words: '', value: '4.1.0' },
        { column: 'licence', words: '', value: 'MIT' },
      ],
    },
  ],
};

export const LOG: LogAudit = {
  entries: 12,
  lostEntries: 0,
  doubledEntries: 0,
  steps: 5,
  modelCalls: 7,
  overflows: 0,
  maxTokens: 27_000,
  compactions: 2,
  pathsRead: new Set(['hono/package.json', 'hono/README.md']),
  lookups: 1,
  outcome: 'completed',
  reason: null,
  tokensWithoutCompaction: 131_072,
};

export function takeover(changes: Partial<Takeover> = {}): Takeover {
  return {
    crashPoint: 'runTool:finished',
    filesRead: 19,
    activity: 'runTool',
    words: 'inside a tool call, finished and not stored',
    processId: 4_711,
    at: 1_000,
    milliseconds: 5_400,
    ...changes,
  };
}

/** Findings of a demo in which all went well. */
export function findings(changes: Partial<DemoFindings> = {}): DemoFindings {
  return {
    conversationId: '01a20100-b17a-7976-a866-dfbb98d8ee7b',
    model: 'simulator/sim-32k',
    job: JOB,
    window: 32_768,
    report: { right: 2, wrong: [], doubled: [] },
    log: LOG,
    history: { bytes: 17_500, events: 90, continuedAsNew: 0, attempts: new Map([['runTool', 2]]) },
    explanation: 'The turn completed.',
    takeovers: [takeover()],
    turnMilliseconds: 20_000,
    wallMilliseconds: 25_000,
    ...changes,
  };
}
