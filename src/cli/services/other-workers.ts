import type { LocalStack } from '../../local/stack.ts';
import { formatClock } from '../render/text/numbers.ts';

/** What to know of workers that run beside that of the stack, in words; `null` where none does, or Postgres does not answer. */
export async function otherWorkers(stack: LocalStack): Promise<string | null> {
  const [{ openDatabase }, { listWorkers }] = await Promise.all([
    import('../../store/database/pooler.ts'),
    import('../../store/upkeep/worker-sessions.ts'),
  ]);
  const url = stack.connections.databaseUrl;
  const database = await openDatabase({ url, applicationName: 'holdfast-dev', maximumConnections: 1 });
  try {
    const own = `${stack.processIds().worker}@`;
    const others = (await listWorkers(database)).filter(({ id }) => !id.startsWith(own));
    if (others.length === 0) return null;
    const named = others.map(
      ({ id, since }) => `${id.split('/')[0]} since ${formatClock(since.getTime(), Date.now())}`,
    );
    return `Other workers serve turns here too: ${named.join(', ')}. They keep the holdfast.yaml that they have read: start them again after a change.`;
  } catch {
    return null;
  } finally {
    await database.end({ timeout: 1 });
  }
}
