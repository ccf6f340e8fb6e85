import { toolMemories } from '../../../src/activities/turn/agent-memories.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { listMemories } from '../../support/list-memories.ts';
import type { ToolMemories } from '../../../src/tools/tool.ts';
import { SNAPSHOT, claimedCall, startTurn } from '../../store/support/store-builders.ts';
import { activityDependencies } from './activity-dependencies.ts';

type Stated = Partial<Parameters<ToolMemories['remember']>[0]>;

export interface RemembererOptions {
  /** What the user says first. Default: `hello`. */
  readonly said?: string;
  /** Default: one of its own. */
  readonly user?: string;
}

/** A conversation of a user of its own, or of another one's, that remembers. */
export async function startRememberer(
  sql: Database,
  { said = 'hello', user = `user-${newId()}` }: RemembererOptions = {},
) {
  const snapshot = { ...SNAPSHOT, memory: { user, tokens: 1_000 } };
  const turn = await startTurn(sql, said, { snapshot });
  const plain = { kind: 'fact', scope: 'user', supersedes: [], confidence: 1, expiresInDays: null } as const;
  const dependencies = activityDependencies(sql);
  let calls = 0;
  const toolOf = async () => {
    calls += 1;
    const call = await claimedCall(sql, turn, calls);
    const memories = toolMemories(dependencies, { call, snapshot });
    if (memories === null) throw new Error('there is no memory');
    return { call, memories };
  };
  return {
    turn,
    user,
    toolOf,
    state: (text: string, rest: Stated = {}) => ({ ...plain, text, ...rest }),
    inForce: () => listMemories(sql, { scopes: [{ scope: 'user', scopeName: user }] }),
    remember: async (text: string, rest: Stated = {}) =>
      (await toolOf()).memories.remember({ ...plain, text, ...rest }),
    forget: async (id: string) => (await toolOf()).memories.forget(id),
  };
}
