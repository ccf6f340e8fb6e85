import type { Command } from 'commander';
import type { Configuration } from '../config/configuration.ts';
import type { ModelFacts } from '../models/catalogue.ts';
import type { LearnedWindow } from '../store/learned-windows.ts';
import { holdfastCommand, withJson } from './holdfast-command.ts';
import type { JsonOption } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { modelListLines } from './render/model-list.ts';

interface ModelsFlags extends JsonOption {
  readonly databaseUrl?: string;
}

/** A model with what is known of it and what servers taught. */
export interface ListedModel extends ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  readonly learned: readonly Pick<LearnedWindow, 'server' | 'tokens' | 'messages' | 'learnedAt'>[];
}

/** `holdfast models`: what is known of models, and from where. */
export function modelsCommand(): Command {
  return withJson(
    holdfastCommand('models', {
      summary: 'list models with their windows and prices',
      description:
        'Lists what is known of models: context window, longest input and answer in tokens, prices in dollars per million tokens, the source and its day. Without a filter: the models that configuration names. A window that a server named in an error stands below its model and counts instead, until it is forgotten. Unknown prices are shown as "unknown".',
      examples: ['npx holdfast models', 'npx holdfast models claude-sonnet', 'npx holdfast models groq/ --json'],
    }),
  )
    .argument('[filter]', 'part of `provider/model`, upper and lower case alike')
    .option('--database-url <url>', 'Postgres, for learned windows (default: DATABASE_URL, else the local stack)')
    .action(models);
}

async function models(filter: string | undefined, flags: ModelsFlags): Promise<void> {
  const output = openOutput();
  const [{ loadConfiguration }, { factsOf }, { BUILT_IN_MODELS }] = await Promise.all([
    import('../config/load-configuration.ts'),
    import('../config/configuration.ts'),
    import('../models/built-in-models.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const learned = await readLearned(flags, configuration.forgetWindowsAfterDays, (text) => output.remark(text));
  const own = namedModels(configuration);
  const wanted = filter?.toLowerCase();
  const all = wanted === undefined ? own : [...own, ...BUILT_IN_MODELS.keys(), ...learned.map(({ model }) => model)];
  const names = [...new Set(all)].filter((name) => wanted === undefined || name.toLowerCase().includes(wanted));
  const listed = names.sort().map((name): ListedModel => {
    const taught = learned.filter(({ model }) => model === name);
    return Object.assign(
      {
        name,
        learned: taught.map(({ server, tokens, messages, learnedAt }) => ({ server, tokens, messages, learnedAt })),
      },
      factsOf(configuration, name),
    );
  });
  if (flags.json === true) output.json({ models: listed });
  else if (listed.length === 0)
    output.line(
      'No model has that in its name. Any `provider/model` can be used; what is not known is assumed carefully.',
    );
  else {
    output.lines(modelListLines(listed, { columns: output.columns(), style: output.style }));
    if (wanted === undefined)
      output.remark(`${BUILT_IN_MODELS.size} more are known: holdfast models <part of the name>`);
  }
}

/** Models of agents, of `models` in the file, and the default. */
function namedModels({ defaultModel, models: overridden, agents }: Configuration): string[] {
  const summarizers = agents.flatMap(({ policy }) => policy.summary.model ?? []);
  return [defaultModel, ...Object.keys(overridden), ...agents.map(({ model }) => model), ...summarizers];
}

/** Without a database there is nothing learned to show; the rest needs none. */
async function readLearned(
  flags: ModelsFlags,
  days: number,
  remark: (text: string) => void,
): Promise<readonly LearnedWindow[]> {
  const { withReader } = await import('./connect.ts');
  try {
    return await withReader(flags, (client) => client.listLearnedWindows({ days }));
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
    remark(`Windows that errors taught are not shown: the database could not be read (${code}).`);
    return [];
  }
}
