import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import type { ModelFacts } from '../../models/catalogue/catalogue.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { LearnedWindow, ServedModel } from '../../store/providers/model-facts.ts';
import type { ProviderPause } from '../../store/providers/provider-pauses.ts';
import { databaseUrlOption, holdfastCommand, withJson } from '../holdfast-command.ts';
import type { JsonOption } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { modelListLines } from '../render/lists/model-list.ts';

interface ModelsFlags extends JsonOption {
  readonly databaseUrl?: string;
  readonly refresh?: true;
}

/** A model with what is known of it and what servers taught. */
export interface ListedModel extends ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  readonly learned: readonly Omit<LearnedWindow, 'model'>[];
}

/** `holdfast model list`: what is known of models, and from where. */
export function modelsCommand(): Command {
  return withJson(
    holdfastCommand('list', {
      description:
        'Lists what is known of models: context window, longest input and answer in tokens, prices in dollars per million tokens, the source and its day. Without a filter: the models that configuration names. With --refresh the server of each model is asked for its own list; what it says counts more than the built-in table and less than `models` in holdfast.yaml. A window that a server named in an error stands below its model and counts instead, as do caps on messages, images and files that it refused, until it is forgotten. Unknown prices are shown as "unknown". Below them stand providers that no worker calls for a while, because they answered with a rate limit; `holdfast model unpause` lets workers call one again.',
      examples: [
        'npx holdfast model list',
        'npx holdfast model list claude-sonnet',
        'npx holdfast model list groq/ --json',
        'npx holdfast model list --refresh',
      ],
    }),
  )
    .argument('[filter]', 'part of `provider/model`, upper and lower case alike')
    .option('--refresh', 'ask the servers of these models what they list, for turns that begin from now on')
    .option('--database-url <url>', 'Postgres, for learned windows (default: DATABASE_URL, else the local stack)')
    .action(models);
}

async function models(filter: string | undefined, flags: ModelsFlags): Promise<void> {
  const output = openOutput();
  const [{ loadConfiguration }, { factsOf, serverOf }, { BUILT_IN_MODELS }] = await Promise.all([
    import('../../config/load-configuration.ts'),
    import('../../config/configuration.ts'),
    import('../../models/catalogue/built-in-models.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const remark = (text: string): void => output.remark(text);
  const own = namedModels(configuration);
  const wanted = filter?.toLowerCase();
  if (flags.refresh === true) {
    const names = [...new Set(own)].filter((name) => wanted === undefined || name.toLowerCase().includes(wanted));
    if (names.length === 0) remark('Nothing was asked for: no model that configuration names has that in its name.');
    await refresh(flags, { configuration, names, remark });
  }
  const { learned, served, pauses } = await readTaught(flags, configuration.forgetWindowsAfterDays, remark);
  const all =
    wanted === undefined
      ? own
      : [...own, ...BUILT_IN_MODELS.keys(), ...learned.map(({ model }) => model), ...served.map(({ model }) => model)];
  const names = [...new Set(all)].filter((name) => wanted === undefined || name.toLowerCase().includes(wanted));
  const listed = names.sort().map((name): ListedModel => {
    const taught = learned.filter(({ model }) => model === name);
    return Object.assign(
      {
        name,
        learned: taught.map(({ model: _sameForAll, ...limits }) => limits),
      },
      factsOf(configuration, name, listedAt(served, name, serverOf(configuration, parseModelName(name).provider))),
    );
  });
  if (flags.json === true) output.json({ models: listed, pauses });
  else if (listed.length === 0)
    output.line(
      'No model has that in its name. Any `provider/model` can be used; what is not known is assumed carefully.',
    );
  else {
    output.lines(modelListLines(listed, { columns: output.columns(), style: output.style }));
    if (wanted === undefined)
      output.remark(`${BUILT_IN_MODELS.size} more are known: holdfast model list <part of the name>`);
  }
  if (flags.json !== true) output.lines(pauses.map(pauseLine));
}

function pauseLine({ provider, since, until }: ProviderPause): string {
  return `${safeLine(provider)} is not called until ${until}: it answered with a rate limit at ${since}. npx holdfast model unpause ${safeLine(provider)} ends that.`;
}

/** `holdfast model unpause`: calls a provider again before the time is over that it asked for. */
export function unpauseCommand(): Command {
  return withJson(
    holdfastCommand('unpause', {
      description:
        'Lets workers call a provider again at once that answered with a rate limit, and turns that wait for it within five minutes. `holdfast model list` shows the pauses.',
      examples: ['npx holdfast model unpause anthropic'],
    }),
  )
    .argument('<provider>', 'its name')
    .addOption(databaseUrlOption())
    .action(unpause);
}

async function unpause(provider: string, flags: Pick<ModelsFlags, 'json' | 'databaseUrl'>): Promise<void> {
  const output = openOutput();
  const { withReader } = await import('../connect.ts');
  await withReader(flags, async (client) => {
    const ended = await client.models.endPause({ provider });
    if (flags.json === true) output.json({ provider, ended });
    else if (ended) output.line(`${safeLine(provider)} is called again.`);
    else output.line(`${safeLine(provider)} was not paused. ${pausedInstead(await client.models.listPauses())}`);
  });
}

/** Providers of one address and key share a pause, under the name of the one that was refused last. */
function pausedInstead(pauses: readonly ProviderPause[]): string {
  if (pauses.length === 0) return 'No provider is.';
  return `Paused are ${pauses.map(({ provider }) => safeLine(provider)).join(', ')}; providers of one address and key are paused together, under one of their names.`;
}

/** Models of agents, their fallbacks included, of `models` in the file, and the default. */
function namedModels({ defaultModel, models: overridden, agents }: Configuration): string[] {
  const summarizers = agents.flatMap(({ policy }) => policy.summary.model ?? []);
  const ofAgents = agents.flatMap(({ model, fallbacks = [] }) => [model, ...fallbacks.map((one) => one.model)]);
  return [defaultModel, ...Object.keys(overridden), ...ofAgents, ...summarizers];
}

/** A model may be listed by several servers: the one that is configured now counts. */
function listedAt(served: readonly ServedModel[], name: string, server: string): ServedModel | null {
  return served.find((one) => one.model === name && one.server === server) ?? null;
}

async function refresh(
  flags: ModelsFlags,
  of: {
    readonly configuration: Configuration;
    readonly names: readonly string[];
    readonly remark: (text: string) => void;
  },
): Promise<void> {
  const [{ withReader }, { refreshModels }] = await Promise.all([
    import('../connect.ts'),
    import('./refresh-models.ts'),
  ]);
  await withReader(flags, (client) => refreshModels(client, of));
}

interface Taught {
  readonly learned: readonly LearnedWindow[];
  readonly served: readonly ServedModel[];
  readonly pauses: readonly ProviderPause[];
}

/** Without a database there is nothing to show of what servers said; the rest needs none. */
async function readTaught(flags: ModelsFlags, days: number, remark: (text: string) => void): Promise<Taught> {
  const { withReader } = await import('../connect.ts');
  try {
    return await withReader(flags, async (client) => ({
      learned: await client.models.listLearnedWindows({ days }),
      served: await client.models.listServed(),
      pauses: await client.models.listPauses(),
    }));
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
    remark(`What servers said of their models is not shown: the database could not be read (${code}).`);
    return { learned: [], served: [], pauses: [] };
  }
}
