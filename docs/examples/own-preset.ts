import { presets } from 'holdfast';
import type { CompactionPolicyInput } from 'holdfast';

const { default: base } = presets;
if (base === undefined) throw new Error('there is no preset default');

/** Compacts at half of the window to a quarter, with two sections of its own, as the answer to a question. */
export const tickets: CompactionPolicyInput = {
  ...base,
  name: 'tickets',
  trigger: { fraction: 0.5, of: 'window' },
  target: { fraction: 0.25, of: 'window' },
  keep: { tail: { fraction: 0.1, of: 'window' }, userMessages: { tokens: 1_000 } },
  summary: {
    prompts: base.summary.prompts,
    maximumOutput: { fraction: 0.05, of: 'window' },
    question: 'Which tickets did you see?',
    sections: [
      { title: 'Tickets So Far', subject: 'progress', instruction: 'Every ticket, one line each.' },
      { title: 'Tickets Left', subject: 'open', instruction: 'What is still to be read.' },
    ],
  },
};
