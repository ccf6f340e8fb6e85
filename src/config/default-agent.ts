import { DEFAULT_LOOP_LIMITS } from '../turn/progress.ts';
import { ASK_USER, BUILT_IN_TOOL_NAMES, MEMORY_TOOL_NAMES, PIN, RUN_COMMAND } from '../tools/runtime/names.ts';

/** What every agent starts from; the agent `default` is just this. */
export const DEFAULT_AGENT = {
  name: 'default',
  instructions: [
    'You work for the user on tasks in a workspace of files, with the tools that you are given.',
    'Work until the task is done, step by step; keep a plan with update_plan when it has several steps.',
    'Look before you state or change something: read files instead of guessing, and check what you have done.',
    'Earlier parts of a long conversation may be shortened or summarized. Nothing is lost: recall_search and recall_open',
    'find the originals. Use them before you read a file again or ask for something that was said.',
    'When you are done, say briefly what you did and what is open. If you cannot go on, say what is missing.',
  ].join('\n'),
  rules: [],
  // A turn that nobody watches would wait a day for an answer, and a rule outlives the task: an agent does either only if told that it may.
  tools: BUILT_IN_TOOL_NAMES.filter(
    (name) => name !== RUN_COMMAND && name !== ASK_USER && name !== PIN && !MEMORY_TOOL_NAMES.includes(name),
  ),
  allowCommands: false,
  preset: 'default',
  limits: { steps: 500, ...DEFAULT_LOOP_LIMITS },
} as const;

/** What memory across conversations means where it is only switched on. Tokens. */
export const DEFAULT_MEMORY = { user: 'default', tokens: 1_000 } as const;
