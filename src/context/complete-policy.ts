import type { CompactionPolicy, Reducer } from './policy.ts';
import { DEFAULT_POLICY } from './presets/default.ts';

/**
 * A policy as it was stored with a turn. One that an older version wrote lacks the options that came
 * later: they have their value in `default`, so that a turn under way survives an upgrade.
 */
export function completePolicy(stored: CompactionPolicy): CompactionPolicy {
  const { keep } = DEFAULT_POLICY;
  // Absent is a choice here: the transcript is a request of its own.
  const { sharesPrefix: _choice, ...summary } = DEFAULT_POLICY.summary;
  return {
    ...DEFAULT_POLICY,
    ...stored,
    reduce: stored.reduce.map(completeReducer),
    keep: { ...keep, ...stored.keep },
    summary: {
      ...summary,
      ...stored.summary,
      prompts: { ...summary.prompts, ...stored.summary.prompts },
      transcript: { ...summary.transcript, ...stored.summary.transcript },
    },
  };
}

function completeReducer(stored: Reducer): Reducer {
  return { ...DEFAULT_POLICY.reduce.find(({ kind }) => kind === stored.kind), ...stored };
}
