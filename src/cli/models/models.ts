import type { Configuration } from '../../config/configuration.ts';
import type { ModelFacts } from '../../models/catalogue/catalogue.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { LearnedWindow, ServedModel } from '../../store/providers/model-facts.ts';
import type { ProviderPause } from '../../store/providers/provider-pauses.ts';
import { localCommand } from '../command.ts';
import { withReader } from '../connect.ts';
import { databaseUrlOption } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { modelListLines } from '../render/lists/model-list.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { argument, option } from '../options.ts';

/** A model with what is known of it and what servers taught. */
export interface ListedModel extends ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  readonly learned: readonly Omit<LearnedWindow, 'model'>[];
}

const NONE = 'No model has that in its name. Any `provider/model` can be used; what is not known is assumed carefully.';

const list = localCommand({
  description:
    'Lists facts about models: context window, longest input and answer in tokens, prices in dollars per million tokens, the source and its day. Without a filter it lists the models of the configuration. --refresh asks the server of each model for its own list, which wins over the built-in table; `models` in holdfast.yaml wins over both. Windows and caps that a server named in an error are below their model and win until they are forgotten. Below the models are paused providers, which answered with a rate limit; `holdfast model unpause` ends a pause.',
  examples: [
    'npx holdfast model list',
    'npx holdfast model list claude-sonnet',
    'npx holdfast model list groq/ --json',
    'npx holdfast model list --refresh',
  ],
  arguments: [argument('[filter]', 'part of `provider/model`, upper and lower case alike')],
  options: [
    option('--refresh', 'ask the servers of these models what they list, for turns that begin from now on'),
    option('--database-url <url>', 'Postgres, for learned windows (default: DATABASE_URL, else the local stack)'),
  ],
  async run({ output }, flags, filter) {
    const [{ loadConfiguration }, { BUILT_IN_MODELS }] = await Promise.all([
      import('../../config/load-configuration.ts'),
      import('../../models/catalogue/built-in-models.ts'),
    ]);
    const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
    const remark = (text: string): void => output.remark(text);
    const own = namedModels(configuration);
    const wanted = filter?.toLowerCase();
    const matching = (names: readonly string[]): string[] =>
      [...new Set(names)].filter((name) => wanted === undefined || name.toLowerCase().includes(wanted));
    if (flags.refresh === true) await refresh(flags, { configuration, names: matching(own), remark });
    const taught = await readTaught(flags, configuration.forgetWindowsAfterDays, remark);
    const { learned, served, pauses } = taught;
    const known = [...BUILT_IN_MODELS.keys(), ...[...learned, ...served].map(({ model }) => model)];
    const names = matching(wanted === undefined ? own : [...own, ...known]);
    const models = await listModels(configuration, names.sort(), taught);
    const lines = models.length === 0 ? [NONE] : modelListLines(models, output);
    const more = `${BUILT_IN_MODELS.size} more are known: holdfast model list <part of the name>`;
    return {
      json: { models, pauses },
      lines: [...lines, ...pauses.map(pauseLine)],
      remarks: models.length > 0 && wanted === undefined ? [more] : [],
    };
  },
});

const unpause = localCommand({
  description:
    'Ends the pause of a provider that answered with a rate limit. New calls go out at once, waiting ones within a minute. `holdfast model list` shows the pauses.',
  examples: ['npx holdfast model unpause anthropic'],
  arguments: [argument('<provider>', 'its name')],
  options: [databaseUrlOption()],
  run: (_call, flags, provider) =>
    withReader(flags, async (client) => {
      const ended = await client.models.endPause({ provider });
      const line = ended
        ? `${safeLine(provider)} is called again.`
        : `${safeLine(provider)} was not paused. ${pausedInstead(await client.models.listPauses())}`;
      return { json: { provider, ended }, lines: [line] };
    }),
});

export const commands = { list, unpause };

async function listModels(
  configuration: Configuration,
  names: readonly string[],
  { learned, served }: Taught,
): Promise<ListedModel[]> {
  const { factsOf, serverOf } = await import('../../config/configuration.ts');
  return names.map((name) => {
    const ofModel = learned.filter(({ model }) => model === name).map(({ model: _sameForAll, ...limits }) => limits);
    const server = serverOf(configuration, parseModelName(name).provider);
    // A model may be listed by several servers: the one that is configured now counts.
    const listed = served.find((one) => one.model === name && one.server === server) ?? null;
    return { name, learned: ofModel, ...factsOf(configuration, name, listed) };
  });
}

function pauseLine({ provider, since, until }: ProviderPause): string {
  return `${safeLine(provider)} is not called until ${until}: it answered with a rate limit at ${since}. npx holdfast model unpause ${safeLine(provider)} ends that.`;
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

async function refresh(
  flags: ConnectionFlags,
  of: {
    readonly configuration: Configuration;
    readonly names: readonly string[];
    readonly remark: (text: string) => void;
  },
): Promise<void> {
  if (of.names.length === 0)
    of.remark('Nothing was asked for: no model that configuration names has that in its name.');
  const { refreshModels } = await import('./refresh-models.ts');
  await withReader(flags, (client) => refreshModels(client, of));
}

interface Taught {
  readonly learned: readonly LearnedWindow[];
  readonly served: readonly ServedModel[];
  readonly pauses: readonly ProviderPause[];
}

/** Without a database there is nothing to show of what servers said; the rest needs none. */
async function readTaught(flags: ConnectionFlags, days: number, remark: (text: string) => void): Promise<Taught> {
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
