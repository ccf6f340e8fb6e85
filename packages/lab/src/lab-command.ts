import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { localCommand } from 'holdfast/internal/cli/command.js';
import type { CommandFlags } from 'holdfast/internal/cli/command.js';
import type { Printed } from 'holdfast/internal/cli/command.js';
import { EXIT_CODES } from 'holdfast/internal/cli/exit-codes.js';
import { untilAborted, untilSignalled } from 'holdfast/internal/cli/interruption.js';
import type { Output } from 'holdfast/internal/cli/output.js';
import type { LabStore } from './lab-store.ts';
import { argument, count, option } from 'holdfast/internal/cli/options.js';

const OPTIONS = [
  option('--window <tokens,...>', 'context windows; k is 1,000 and m 1,000,000 tokens', windows, [32_000, 200_000]),
  option('--preset <name,...>', 'presets, or `all`', names, ['all']),
  option('--model <provider/model>', 'model that summarizes (default: the simulator, started for the run)'),
  option('--prices <provider/model>', 'whose prices count (default: those of the model that answered)'),
  option('--seed <number>', 'decides which facts are asked for', count(0), 1),
  option('--facts <number>', 'facts asked for per replay at most', count(5), 200),
] as const;

type LabFlags = CommandFlags<typeof OPTIONS>;

/** `holdfast-lab`: what each preset would do with a session of one's own. */
export function labCommand(): Command {
  return localCommand({
    description:
      'Replays recorded sessions step by step under the presets: what a turn would do before each model call, which requests it would send, and what of the dropped originals the agent still knows. Reads files of Claude Code, Codex, pi, GitHub Copilot CLI and Gemini CLI, and message lists of the OpenAI API. Of a session with branches it takes the newest; damaged lines are counted and passed over. The replay runs in a database of its own, which is deleted at the end: on the server of DATABASE_URL, else on an embedded Postgres. Nothing of the session is run.',
    examples: [
      'npx holdfast-lab ~/.claude/projects/my-project/*.jsonl --window 200k',
      'npx holdfast-lab session.jsonl --preset default,pi --window 32k,128k',
      'npx holdfast-lab session.jsonl --model anthropic/claude-haiku-5-5 --json',
    ],
    arguments: [argument('<file...>', 'recorded sessions')],
    options: OPTIONS,
    run: ({ output }, flags, files) => lab(output, flags, files),
  })('holdfast-lab');
}

async function lab(output: Output, flags: LabFlags, files: readonly string[]): Promise<Printed> {
  const [{ runLab }, { openLabStore }, { loadConfiguration }, { presetNamed }, { labLines }] = await Promise.all([
    import('./run-lab.ts'),
    import('./lab-store.ts'),
    import('holdfast/internal/config/load-configuration.js'),
    import('holdfast/internal/config/presets.js'),
    import('./lab-report.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const { presets } = configuration;
  const policies = flags.preset.includes('all')
    ? Object.values(presets)
    : flags.preset.map((name) => presetNamed(presets, name));
  const stores: LabStore[] = [];
  const replay = async (): Promise<Printed> => {
    const result = await runLab({
      files,
      windows: flags.window,
      policies,
      model: flags.model ?? null,
      prices: flags.prices ?? null,
      seed: flags.seed,
      facts: flags.facts,
      configuration,
      openDatabase: async () => {
        const store = stores[0] ?? (await openLabStore(process.env));
        stores[0] = store;
        return store.database;
      },
      onReplay: ({ session, preset, window }) =>
        output.remark(`replaying ${session} under ${preset} at ${window} tokens`),
    });
    const { replays: _replays, ...figures } = result;
    return { json: figures, lines: labLines(result, { columns: output.columns, style: output.style }) };
  };
  const { result } = await untilSignalled(async (signal) => {
    try {
      return await Promise.race([replay(), untilAborted(signal).then(() => null)]);
    } finally {
      // The database is deleted after Ctrl-C too.
      for (const store of stores) await store.close();
    }
  });
  if (result !== null) return result;
  process.exit(EXIT_CODES.interrupted.code);
}

const WINDOW = /^(\d+(?:\.\d+)?)([km]?)$/i;
const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };

function windows(text: string): number[] {
  return names(text).map((part) => {
    const found = WINDOW.exec(part);
    const tokens = Number(found?.[1]) * (FACTORS[found?.[2]?.toLowerCase() ?? ''] ?? 1);
    if (Number.isInteger(tokens) && tokens > 0) return tokens;
    throw new InvalidArgumentError('It takes tokens, for example 32k,200k or 128000.');
  });
}

function names(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}
