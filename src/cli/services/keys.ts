import { definedOf } from '../../context/policy/defined-of.ts';
import { SCOPES } from '../../store/conversations/api-keys.ts';
import type { ApiKey } from '../../store/conversations/api-keys.ts';
import { readerCommand } from '../command.ts';
import { tenantOption } from '../holdfast-command.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';
import { UsageError } from '../usage-error.ts';
import { amount, argument, count, option, someOf } from '../options.ts';

const DAY_MILLISECONDS = 86_400_000;

const create = readerCommand({
  description:
    'Makes an API key for one tenant of `holdfast server --keys` and prints it once. The database holds only its hash.',
  examples: [
    'npx holdfast keys create web-app --tenant acme',
    'npx holdfast keys create dashboard --scopes read --days 90',
  ],
  arguments: [argument('<name>', 'what the key is for')],
  options: [
    tenantOption(),
    option('--scopes <list>', `comma-separated: ${SCOPES.join(', ')} (default: read,write,decide)`, someOf(SCOPES)),
    option('--days <number>', 'days until it expires (default: never)', count(1)),
    option('--requests-per-minute <number>', "requests (default: the server's limit)", count(1)),
    option('--open-turns <number>', 'turns of the tenant that may be open when it begins one (default: any)', count(1)),
    option('--cost-per-day <dollars>', "the tenant's cost in 24 hours (default: any)", amount),
  ],
  async run({ client }, flags, name) {
    const { scopes, days, requestsPerMinute, openTurns, costPerDay } = flags;
    const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * DAY_MILLISECONDS).toISOString();
    const limits = definedOf({ requestsPerMinute, openTurns, costPerDay });
    const made = await client.keys.create({ name, limits, ...definedOf({ scopes, expiresAt }) });
    const lines = [made.key, `It is shown this once. Its id is ${made.id}, its tenant ${safeLine(made.tenant)}.`];
    return { json: made, lines };
  },
});

const list = readerCommand({
  description: 'Lists the API keys of all tenants, newest first: never the keys themselves.',
  examples: ['npx holdfast keys list'],
  async run({ client, output }) {
    const keys = await client.keys.list();
    const rows = keys.map((key) => [
      key.id,
      safeLine(key.tenant),
      safeLine(key.name),
      key.scopes.join(', '),
      stateOf(key),
      key.lastUsedAt ?? 'never',
    ]);
    const columns = ['id', 'tenant', 'name', 'scopes', 'state', 'last use'].map((title) => ({ title }));
    return { json: { keys }, lines: keys.length === 0 ? ['No key.'] : tableLines(columns, rows, output) };
  },
});

const revoke = readerCommand({
  description: 'Ends an API key for good: requests with it are refused, and its event streams end within seconds.',
  examples: ['npx holdfast keys revoke 0199…'],
  arguments: [argument('<id>', 'as `holdfast keys list` prints it')],
  async run({ client }, _flags, keyId) {
    if (!(await client.keys.revoke({ keyId }))) {
      throw new UsageError('usage', `There is no key "${safeLine(keyId)}".`, '`npx holdfast keys list` shows them.');
    }
    return { json: { keyId, revoked: true }, lines: ['Revoked.'] };
  },
});

export const commands = { create, list, revoke };

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return 'in force';
  return Date.parse(expiresAt) > Date.now() ? `until ${expiresAt}` : `expired ${expiresAt}`;
}
