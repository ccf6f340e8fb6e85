import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { SCOPES } from '../../store/conversations/api-keys.ts';
import type { ApiKey, Scope } from '../../store/conversations/api-keys.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { holdfastCommand, tenantOption, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';
import { UsageError } from '../usage-error.ts';

const DAY_MILLISECONDS = 86_400_000;

interface CreateFlags extends ConnectionFlags {
  readonly scopes: string;
  readonly days?: number;
  readonly requestsPerMinute?: number;
  readonly openTurns?: number;
  readonly costPerDay?: number;
}

/** `holdfast keys create`. */
export function createKeyCommand(): Command {
  return withConnections(
    holdfastCommand('create', {
      description:
        'Makes an API key for `holdfast server --keys` and prints it once: the database holds its hash. The key acts for one tenant.',
      examples: [
        'npx holdfast keys create web-app --tenant acme',
        'npx holdfast keys create dashboard --scopes read --days 90',
      ],
    }),
  )
    .addArgument(new Argument('<name>', 'what the key is for'))
    .addOption(tenantOption())
    .option('--scopes <list>', `comma-separated: ${SCOPES.join(', ')}`, 'read,write,decide')
    .option('--days <number>', 'days until it expires (default: never)', count(1))
    .option('--requests-per-minute <number>', "requests (default: the server's limit)", count(1))
    .option('--open-turns <number>', 'turns of the tenant that may be open when it begins one (default: any)', count(1))
    .addOption(new Option('--cost-per-day <dollars>', "the tenant's cost in 24 hours (default: any)").argParser(Number))
    .action(create);
}

async function create(name: string, flags: CreateFlags): Promise<void> {
  const output = openOutput();
  const scopes = flags.scopes.split(',').map((scope) => scopeOf(scope.trim()));
  const { days, requestsPerMinute, openTurns, costPerDay } = flags;
  const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * DAY_MILLISECONDS).toISOString();
  await withReader(flags, async (client) => {
    const limits = definedOf({ requestsPerMinute, openTurns, costPerDay });
    const made = await client.keys.create({ name, scopes, limits, ...definedOf({ expiresAt }) });
    if (flags.json === true) output.json(made);
    else output.lines([made.key, `It is shown this once. Its id is ${made.id}, its tenant ${safeLine(made.tenant)}.`]);
  });
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((each) => each === text);
  if (scope !== undefined) return scope;
  throw new UsageError('usage', `"${text}" is no scope.`, `Name some of ${SCOPES.join(', ')}.`);
}

/** `holdfast keys list`. */
export function listKeysCommand(): Command {
  return withConnections(
    holdfastCommand('list', {
      description: 'Lists the API keys of all tenants, newest first: never the keys themselves.',
      examples: ['npx holdfast keys list'],
    }),
  ).action(list);
}

async function list(flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const keys = await client.keys.list();
    if (flags.json === true) return output.json({ keys });
    const rows = keys.map((key) => [
      key.id,
      safeLine(key.tenant),
      safeLine(key.name),
      key.scopes.join(', '),
      stateOf(key),
      key.lastUsedAt ?? 'never',
    ]);
    const titles = ['id', 'tenant', 'name', 'scopes', 'state', 'last use'];
    const columns = titles.map((title) => ({ title }));
    output.lines(tableLines(columns, rows, { columns: output.columns(), style: output.style }));
  });
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return 'in force';
  return Date.parse(expiresAt) > Date.now() ? `until ${expiresAt}` : `expired ${expiresAt}`;
}

/** `holdfast keys revoke`. */
export function revokeKeyCommand(): Command {
  return withConnections(
    holdfastCommand('revoke', {
      description: 'Ends an API key for good: requests with it are refused, and its event streams end within seconds.',
      examples: ['npx holdfast keys revoke 0199…'],
    }),
  )
    .addArgument(new Argument('<id>', 'as `holdfast keys list` prints it'))
    .action(revoke);
}

async function revoke(keyId: string, flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    if (!(await client.keys.revoke({ keyId }))) {
      throw new UsageError('usage', `There is no key "${safeLine(keyId)}".`, '`npx holdfast keys list` shows them.');
    }
    if (flags.json === true) output.json({ keyId, revoked: true });
    else output.line('Revoked.');
  });
}
