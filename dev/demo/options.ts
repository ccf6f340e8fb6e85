import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../src/cli/usage-error.ts';
import { parseCommand } from '../command-line.ts';

export interface DemoOptions {
  /** Tokens. */
  readonly window: number;
  readonly compaction: boolean;
  readonly kills: boolean;
  readonly keep: boolean;
  readonly json: boolean;
  /** `provider/model`; `null`: the simulator's model of that window. */
  readonly model: string | null;
  /** Address of a compatible server for the model's provider. */
  readonly baseUrl: string | null;
}

const TOKENS_PER_K = 1_024;

function parseWindow(text: string): number {
  const size = /^(\d{1,4})k$/u.exec(text)?.[1];
  const k = Number(size);
  if (size === undefined || k < 4 || k > 1_024) {
    throw new InvalidArgumentError('A window is 8k, 32k, 200k or another number of k from 4k to 1024k.');
  }
  return k * TOKENS_PER_K;
}

function parseModel(text: string): string {
  if (!/^[^/\s]+\/\S+$/u.test(text)) {
    throw new InvalidArgumentError('A model is provider/model, for example anthropic/claude-opus-5-5.');
  }
  return text;
}

function parseBaseUrl(text: string): string {
  if (!/^https?:\/\/\S+$/u.test(text)) throw new InvalidArgumentError('A base URL begins with http:// or https://.');
  return text;
}

const EXAMPLES = `
Examples:
  $ npm run demo
  $ npm run demo -- --window 8k
  $ npm run demo -- --keep
  $ ANTHROPIC_API_KEY=… npm run demo -- --model anthropic/claude-opus-5-5
  $ npm run demo -- --model openai-compatible/qwen3 --base-url http://localhost:8000/v1

Exit codes:
    0  every fact is right, no entry is lost or doubled, every overflow was recovered
    1  one of these is not so; always with --without-compaction, which ends at the overflow
    2  wrong flags
  130  interrupted with Ctrl-C`;

function createCommand(): Command {
  return new Command('demo')
    .usage('[options]')
    .description(
      'One durable agent turn over real input that exceeds the context window several times: reads READMEs and manifests of installed packages, compacts its context on the way, survives two kills of its worker, and writes a report that is then compared with the files.',
    )
    .addOption(
      new Option('--window <size>', 'context window: 8k (3 packages, since more would fill it alone), 32k, 200k')
        .default(32 * TOKENS_PER_K, '32k')
        .argParser(parseWindow),
    )
    .option('--without-compaction', 'show how the turn ends at the overflow')
    .option('--no-kills', 'do not kill the worker on the way')
    .option('--keep', 'leave everything running until Ctrl-C, to look at it')
    .option('--json', 'print one JSON object on the last line')
    .addOption(new Option('--model <provider/model>', 'a real model; the window still counts').argParser(parseModel))
    .addOption(
      new Option('--base-url <url>', "address of a compatible server for the model's provider").argParser(parseBaseUrl),
    )
    .addHelpText('after', EXAMPLES);
}

interface Flags {
  readonly window: number;
  readonly withoutCompaction?: true;
  readonly kills: boolean;
  readonly keep?: true;
  readonly json?: true;
  readonly model?: string;
  readonly baseUrl?: string;
}

/**
 * Reads the command line. @returns `null` when only the help was asked for, which is then printed
 * @throws UsageError naming the wrong flag
 */
export function parseOptions(args: readonly string[]): DemoOptions | null {
  const command = createCommand();
  if (!parseCommand(command, args)) return null;
  const flags = command.opts<Flags>();
  if (flags.baseUrl !== undefined && flags.model === undefined) {
    throw new UsageError(
      'usage',
      '--base-url needs a model.',
      'Add --model provider/name, for example openai-compatible/qwen3.',
    );
  }
  return {
    window: flags.window,
    compaction: flags.withoutCompaction !== true,
    kills: flags.kills,
    keep: flags.keep === true,
    json: flags.json === true,
    model: flags.model ?? null,
    baseUrl: flags.baseUrl ?? null,
  };
}
