// What each folder may import of the others: the one table. The linter enforces it (oxlint.config.mjs), and
// test/import-rules.test.ts shows that it does.

/**
 * Folders of `src`, each with those that it may import.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const ALLOWED = {
  context: [],
  turn: ['context'],
  models: ['context', 'turn'],
  tools: ['context'],
  store: ['context', 'turn', 'models', 'tools'],
  temporal: ['turn'],
  activities: ['context', 'turn', 'models', 'tools', 'store', 'temporal'],
  // Of activities the types only: what Temporal replays has no I/O.
  workflows: ['context', 'turn', 'activities'],
  config: ['context', 'turn', 'models', 'tools'],
  local: ['context', 'turn', 'store', 'temporal', 'config'],
  worker: ['context', 'turn', 'models', 'tools', 'store', 'temporal', 'activities', 'config', 'local'],
  client: ['context', 'turn', 'tools', 'store', 'temporal', 'local', 'verify'],
  verify: ['context', 'turn', 'store', 'temporal'],
  import: ['context', 'turn', 'models', 'tools', 'store', 'config'],
  server: ['context', 'turn', 'tools', 'store', 'client', 'temporal', 'config'],
  cli: [
    'context',
    'turn',
    'models',
    'tools',
    'store',
    'temporal',
    'config',
    'worker',
    'client',
    'verify',
    'import',
    'local',
    'server',
  ],
};

/** Packages that no pure folder imports. */
const IMPURE = ['node:*', 'postgres', 'pino', 'openai', '@anthropic-ai/*'];
const PURE = 'No Node and no I/O: src/context and src/turn are pure, and Temporal replays src/workflows.';

const TYPES_OF_POLICIES = {
  regex: 'context/(policy|plan)/',
  allowTypeImports: true,
  message: 'Policies are made with zod, which Temporal must not replay: import their types only.',
};

/** @type {Readonly<Record<string, readonly object[]>>} */
const MORE = {
  context: [{ group: [...IMPURE, 'zod', '@temporalio/*'], message: PURE }],
  turn: [TYPES_OF_POLICIES, { group: [...IMPURE, 'zod', '@temporalio/*'], message: PURE }],
  workflows: [
    {
      regex: '^(\\.\\./)+activities/',
      allowTypeImports: true,
      message: 'Workflows name activities by their types only: what Temporal replays has no I/O.',
    },
    TYPES_OF_POLICIES,
    { group: [...IMPURE, 'zod'], message: PURE },
  ],
};

/**
 * @param {string} folder
 */
function foldersRefusedTo(folder) {
  const refused = Object.keys(ALLOWED).filter((other) => other !== folder && !ALLOWED[folder]?.includes(other));
  return {
    regex: `^(\\.\\./)+(${[...refused, 'packages', 'dev', 'test'].join('|')})/`,
    message: `src/${folder} may import only ${ALLOWED[folder]?.join(', ') || 'nothing'} of Holdfast's folders.`,
  };
}

/**
 * @param {string} files
 * @param {readonly object[]} patterns
 */
function refuse(files, patterns) {
  return { files: [files], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

/** Overrides for the linter. A later one replaces an earlier one for the same file. */
export const IMPORT_RULES = [
  ...Object.keys(ALLOWED).map((folder) =>
    refuse(`src/${folder}/**`, [foldersRefusedTo(folder), ...(MORE[folder] ?? [])]),
  ),
  // Policies are data that zod checks.
  ...['policy', 'plan/reducers'].map((folder) =>
    refuse(`src/context/${folder}/**`, [
      foldersRefusedTo('context'),
      { group: [...IMPURE, '@temporalio/*'], message: PURE },
    ]),
  ),
  refuse('packages/simulator/**', [
    { regex: '^holdfast', message: 'The simulator knows nothing of Holdfast.' },
    { regex: '^(\\.\\./)+(lab|\\.\\./)', message: 'The simulator knows nothing of Holdfast.' },
  ]),
  refuse('packages/console/**', [
    {
      regex: '^(\\.\\./)+src/',
      allowTypeImports: true,
      message: 'The pages know the API by its types only: they run in a browser.',
    },
  ]),
  refuse('packages/lab/**', [
    {
      regex: '^holdfast/internal/(workflows|worker|client|server|temporal/(?!process-logger))',
      message: 'The lab runs no worker and needs no Temporal.',
    },
  ]),
];
