import { given } from '../../config/environment.ts';
import { CAPABILITIES, isUnknownPath } from '../../models/conformance/capability.ts';
import type { ConformanceFinding, ConformanceReport } from '../../models/conformance/capability.ts';
import { otherAddress } from '../../models/catalogue/base-url-advice.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { localCommand } from '../command.ts';
import type { CommandFlags } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { findingLine } from '../render/lists/finding-line.ts';
import { UsageError } from '../usage-error.ts';
import { count, option, requiredOption, someOf } from '../options.ts';

/** Seconds within which a user wants to know. */
const SECONDS = 60;

/** Milliseconds of silence after which a call is given up: one dead check must not cost the others their time. */
const SILENCE_MILLISECONDS = 30_000;

const OPTIONS = [
  requiredOption('--model <name>', "the server's name of the model; without --base-url `provider/model`"),
  option('--base-url <url>', 'address of the server (default: that of the provider in the name of the model)'),
  option('--protocol <name>', 'how the server is spoken to (default: chat, or that of the provider)', [
    'anthropic',
    'chat',
    'responses',
  ]),
  option('--key-env <variable>', 'environment variable that holds the key (default: none, or that of the provider)'),
  option('--window <tokens>', "window of the model (default: what the server's list of models says)", count(256)),
  option(
    '--only <capabilities>',
    `these checks alone, separated by commas: ${CAPABILITIES.join(', ')}`,
    someOf(CAPABILITIES),
  ),
  option(
    '--cache-tokens <tokens>',
    'length of the prefix sent twice (default: 4,200 with Anthropic, else 1,500)',
    count(16),
  ),
  option('--seconds <number>', 'time for everything', count(1), SECONDS),
] as const;

type ConformanceFlags = CommandFlags<typeof OPTIONS>;

const test = localCommand({
  description:
    'Sends about a dozen small requests to a live server and shows what works: streaming, usage, cut answers, tool calls, several calls in one answer, thinking, images, cache usage, and the refusal of an input over the window. Costs a few thousand tokens. Holdfast does without what is `limited` or `missing`, and needs what `fails`.',
  examples: [
    'npx holdfast model test --model openai/gpt-5-mini',
    'npx holdfast model test --base-url http://localhost:8000/v1 --model my-model --protocol chat',
    'npx holdfast model test --base-url https://api.groq.com/openai/v1 --model llama-3.3-70b --key-env GROQ_API_KEY',
  ],
  options: OPTIONS,
  async run({ output }, flags) {
    const { provider, model } = await target(flags);
    const begin = ({ baseUrl, protocol }: ProviderDefinition): void => {
      if (flags.json !== true) output.remark(`${model} at ${baseUrl} (${protocol})`);
    };
    const show = (finding: ConformanceFinding): void => {
      if (flags.json !== true) output.line(findingLine(finding, output.style));
    };
    begin(provider);
    let found = await checkAt(provider, { flags, model, show });
    const other = found.held.length === 0 ? null : otherAddress(provider);
    if (other !== null) {
      if (flags.json !== true) output.remark('Nothing is there (HTTP 404): the base URL may be meant that follows.');
      begin({ ...provider, baseUrl: other });
      const again = await checkAt({ ...provider, baseUrl: other }, { flags, model, show });
      if (again.held.length === 0) found = again;
    }
    for (const finding of found.held) show(finding);
    const { report, baseUrl } = found;
    process.exitCode = exitCode(report);
    return { json: { ...report, baseUrl }, lines: [], remarks: [closingLine(report)] };
  },
});

export const commands = { test };

/** Checks a server. Findings are shown as they come, but held when there is no such path at the address. */
async function checkAt(
  provider: ProviderDefinition,
  of: {
    readonly flags: ConformanceFlags;
    readonly model: string;
    readonly show: (finding: ConformanceFinding) => void;
  },
): Promise<{
  readonly report: ConformanceReport;
  readonly held: readonly ConformanceFinding[];
  readonly baseUrl: string;
}> {
  const { checkServer } = await import('../../models/conformance/check-server.ts');
  const { window, only, cacheTokens, seconds } = of.flags;
  const held: ConformanceFinding[] = [];
  const report = await checkServer({
    provider: { ...provider, idleTimeoutMilliseconds: Math.min(seconds * 1_000, SILENCE_MILLISECONDS) },
    model: of.model,
    seconds,
    ...definedOf({ window, only, cacheTokens }),
    onFinding: (finding) => {
      if (held.length > 0 || (finding.capability === 'streaming' && isUnknownPath(finding))) held.push(finding);
      else of.show(finding);
    },
  });
  return { report, held, baseUrl: provider.baseUrl };
}

function exitCode({ fits, reachable }: ConformanceReport): number {
  if (!reachable) return EXIT_CODES.unreachable.code;
  return fits ? EXIT_CODES.done.code : EXIT_CODES.findings.code;
}

function closingLine({ fits, reachable, milliseconds }: ConformanceReport): string {
  const seconds = `${(milliseconds / 1_000).toFixed(1)} s`;
  if (!reachable) return `The server does not answer (${seconds}).`;
  return fits ? `Nothing fails (${seconds}).` : `Holdfast needs what fails here (${seconds}); see docs/providers.md.`;
}

/** The server that is meant, by its address or by the name of a configured provider. */
async function target(flags: ConformanceFlags): Promise<{ provider: ProviderDefinition; model: string }> {
  const { baseUrl, model, protocol, keyEnv } = flags;
  const key = keyEnv === undefined ? undefined : keyFrom(keyEnv);
  if (baseUrl !== undefined) {
    if (!/^https?:\/\/\S+$/.test(baseUrl)) {
      throw new UsageError(
        'usage',
        'The value of --base-url is no address.',
        'Give one like http://localhost:8000/v1.',
      );
    }
    return { provider: { name: 'server', protocol: protocol ?? 'chat', baseUrl, apiKey: key ?? null }, model };
  }
  const [{ loadConfiguration }, { providerNamed }] = await Promise.all([
    import('../../config/load-configuration.ts'),
    import('../../config/configuration.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  if (!model.includes('/')) {
    const next = 'Name it as provider/model, or give the server with --base-url.';
    throw new UsageError('usage', `${JSON.stringify(model)} names no provider.`, next);
  }
  const name = parseModelName(model);
  const provider = providerNamed(configuration, name.provider);
  return {
    provider: { ...provider, ...(protocol !== undefined && { protocol }), ...(key !== undefined && { apiKey: key }) },
    model: name.model,
  };
}

function keyFrom(variable: string): string {
  const key = given(process.env, variable);
  if (key !== undefined) return key;
  throw new UsageError('usage', `The variable ${variable} is not set.`, `Set ${variable} to the key of the server.`);
}
