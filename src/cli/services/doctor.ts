import { definedOf } from '../../context/policy/defined-of.ts';
import type { ResolvedProviders } from '../../config/providers.ts';
import { ConfigurationError, describeProblem } from '../../config/errors.ts';
import { broken, CHECK_NAMES } from '../../local/doctor/finding.ts';
import type { Finding } from '../../local/doctor/finding.ts';
import { localCommand } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { wrapWords } from '../render/text/text-width.ts';
import { option, someOf } from '../options.ts';

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: 'ok     ', warning: 'warning', broken: 'broken ' };

/** Of further rows of a finding: below its detail. */
const INDENT = ' '.repeat(23);

/** One line for a finding, its fix at the end. */
export function formatFinding(finding: Finding): string {
  const fix = finding.fix === null ? '' : ` → ${finding.fix}`;
  return `${MARKS[finding.status]}  ${finding.check.padEnd(13)} ${finding.detail}${fix}`;
}

interface Examined {
  readonly environment: NodeJS.ProcessEnv;
  /** Absent when the file cannot be read. */
  readonly providers?: ResolvedProviders;
  readonly findings: readonly Finding[];
}

/** What `holdfast.yaml` names; a mistake in that file is a finding like any other, also one that only a worker refuses. */
async function readConfiguration(): Promise<Examined> {
  const [{ loadConfiguration }, { namedServers }, { problemsOfWorker }] = await Promise.all([
    import('../../config/load-configuration.ts'),
    import('../../local/find-servers.ts'),
    import('../../config/check/check-for-worker.ts'),
  ]);
  try {
    const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
    return {
      environment: namedServers(process.env, process.cwd()).environment,
      providers: { available: configuration.providers, unavailable: configuration.unavailableProviders },
      findings: problemsOfWorker(configuration).map((problem) => mistake(describeProblem(problem))),
    };
  } catch (error) {
    return { environment: process.env, findings: mistakesOf(error) };
  }
}

function mistake(detail: string): Finding {
  return broken('configuration', detail, 'correct what is named there');
}

/** A finding for each problem of the file, as for everything else that is examined. */
function mistakesOf(error: unknown): Finding[] {
  const details =
    error instanceof ConfigurationError && error.problems.length > 0
      ? error.problems.map(describeProblem)
      : [(error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')];
  return details.map(mistake);
}

const doctor = localCommand({
  description:
    'Checks this machine and its servers: versions, workspace, ports, disk, Postgres and its clock, Temporal and its worker, model key.',
  examples: ['npx holdfast doctor', 'npx holdfast doctor --only temporal,postgres'],
  options: [
    option('--directory <folder>', 'state folder of the local stack; default: .holdfast'),
    option(
      '--only <checks>',
      `these checks alone, separated by commas: ${CHECK_NAMES.join(', ')}`,
      someOf(CHECK_NAMES),
    ),
  ],
  async run({ output: { columns } }, { directory, only }) {
    // Loaded here: these bring Temporal's client, and `holdfast --help` should not wait for it.
    const [{ examine }, { stateDirectory }] = await Promise.all([
      import('../../local/doctor/examine.ts'),
      import('../../local/stack-file.ts'),
    ]);
    const { findings: mistakes, ...read } = await readConfiguration();
    const examined = await examine({ ...read, directory: directory ?? stateDirectory(), ...definedOf({ only }) });
    const findings = [...examined, ...mistakes];
    const healthy = findings.every(({ status }) => status !== 'broken');
    if (!healthy) process.exitCode = EXIT_CODES.findings.code;
    return {
      json: { healthy, findings },
      lines: findings.flatMap((each) => wrapWords(formatFinding(each), columns, INDENT)),
    };
  },
});

export const commands = { doctor };
