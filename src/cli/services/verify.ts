import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { Database } from '../../store/database/database.ts';
import type { CheckedInvariant, VerifyScope } from '../../verify/invariant.ts';
import type { Journal } from '../../verify/journal.ts';
import type { JournalVerification } from '../../verify/journal-invariants.ts';
import type { TemporalVerification } from '../../verify/temporal-invariants.ts';
import { UNUSED_ADDRESS } from '../../local/stack-file.ts';
import { localCommand } from '../command.ts';
import type { CommandFlags } from '../command.ts';
import type { Printed } from '../command.ts';
import { findConnections, withReader } from '../connect.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { findConversation } from '../find-conversation.ts';
import type { Output } from '../output.ts';
import { verificationLines } from '../render/lists/verification-lines.ts';
import { UsageError } from '../usage-error.ts';
import { argument, count, option } from '../options.ts';

/** Breaches that one invariant lists. */
const LISTED = 20;

const OPTIONS = [
  option('--histories', 'fail when Temporal is not reached (default: leave it out then, and say so)'),
  option('--no-histories', 'do not ask Temporal'),
  option('--turns <number|all>', 'turns whose histories are read, the newest (default: 100)', countOrAll),
  option('--journal <file>', 'compare the ledger with what tools wrote down of their effects, a JSON object a line'),
] as const;

type VerifyFlags = CommandFlags<typeof OPTIONS>;

const verify = localCommand({
  description:
    'Checks Postgres: every message taken once, entries without gaps, one result per tool call, complete summaries, views that rebuild byte for byte. If Temporal answers, it also checks that open turns have an open workflow and no payload is large. Turns may run meanwhile. Exit code 5 means that a check failed.',
  examples: [
    'npx holdfast verify',
    'npx holdfast verify last --turns all',
    'npx holdfast verify --journal effects.jsonl',
    'npx holdfast verify --no-histories --json',
  ],
  servers: true,
  arguments: [argument('[conversation]', 'only this one: id, its beginning or end, or `last` (default: all)')],
  options: OPTIONS,
  async run({ output }, flags, reference) {
    const conversationId =
      reference === undefined ? null : await withReader(flags, (client) => findConversation(client, reference));
    return verifyAll(conversationId, flags, output);
  },
});

export const commands = { verify };

function countOrAll(text: string): number | 'all' {
  if (text === 'all') return text;
  try {
    return count(1)(text);
  } catch {
    throw new InvalidArgumentError('It takes a whole number of 1 or more, or `all`.');
  }
}

async function verifyAll(conversationId: string | null, flags: VerifyFlags, output: Output): Promise<Printed> {
  const connections = await findConnections(flags, { temporal: flags.histories === true });
  const [{ openDatabase }, { requireCurrentSchema }, { verify: verifyLog }] = await Promise.all([
    import('../../store/database/pooler.ts'),
    import('../../store/database/migrate.ts'),
    import('../../verify/verify.ts'),
  ]);
  const database = await openDatabase({ url: connections.databaseUrl, applicationName: 'holdfast-verify' });
  try {
    await requireCurrentSchema(database);
    const scope = { conversationId, limit: LISTED };
    const verification = await verifyLog(database, scope);
    const { temporalAddress: address, temporalNamespace: namespace } = connections;
    const temporal =
      flags.histories === false ? null : await askTemporal(database, { address, namespace }, scope, flags);
    const journal = flags.journal === undefined ? null : await readEffects(database, flags.journal, scope);
    const invariants: CheckedInvariant[] = [
      ...verification.invariants,
      ...(temporal?.invariants ?? []),
      ...(journal?.invariants ?? []),
    ];
    const all = {
      ...verification,
      invariants,
      histories: temporal?.histories ?? null,
      journal: withoutInvariants(journal),
    };
    const violations = invariants.reduce((sum, { breaches }) => sum + breaches.length, 0);
    if (violations > 0) process.exitCode = EXIT_CODES.findings.code;
    return { json: { violations, ...all }, lines: verificationLines(all, output) };
  } finally {
    await database.end({ timeout: 5 });
  }
}

/** They stand among the others. */
function withoutInvariants(journal: JournalVerification | null): Omit<JournalVerification, 'invariants'> | null {
  if (journal === null) return null;
  const { effects, foreign, unknownOutcomes, torn } = journal;
  return { effects, foreign, unknownOutcomes, torn };
}

/** `null` when Temporal is not reached and need not be. */
async function askTemporal(
  database: Database,
  temporal: { readonly address: string; readonly namespace: string },
  scope: VerifyScope,
  { histories, turns }: VerifyFlags,
): Promise<TemporalVerification | null> {
  if (temporal.address === UNUSED_ADDRESS) return null;
  const [{ connectClient }, { verifyTemporal }] = await Promise.all([
    import('../../temporal/connect.ts'),
    import('../../verify/temporal-invariants.ts'),
  ]);
  const client = await connectClient(temporal).catch((error: unknown) => {
    if (histories === true) throw error;
    return null;
  });
  if (client === null) return null;
  try {
    return await verifyTemporal(database, client, scope, {
      ...(turns !== undefined && { turns: turns === 'all' ? null : turns }),
    });
  } finally {
    await client.connection.close();
  }
}

async function readEffects(database: Database, file: string, scope: VerifyScope): Promise<JournalVerification> {
  const { verifyJournal } = await import('../../verify/journal-invariants.ts');
  return verifyJournal(database, () => readJournal(file), scope);
}

async function readJournal(file: string): Promise<Journal> {
  const { JournalError, parseJournal } = await import('../../verify/journal.ts');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError('usage', `The journal ${file} cannot be read.`, 'Name the file to which the tools write.');
  });
  try {
    return parseJournal(text);
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    throw new UsageError(
      'usage',
      `Line ${error.line} of ${file} is no effect of a tool.`,
      'A line is {"tool": "…", "effect": "once", "key": "<idempotency key>"}; see docs/what-can-go-wrong.md.',
    );
  }
}
