import type { ToolMemories, ToolMemory } from '../../tools/tool.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { throughOutage } from '../runtime/through-outage.ts';

interface MemoryContext {
  readonly memory: ToolMemory;
  readonly memories: ToolMemories | null;
  readonly signal: AbortSignal;
}

/** What a tool reads and remembers, waiting while Postgres is away for as long as the call lasts. */
export function withPatientMemory<Context extends MemoryContext>(
  dependencies: Pick<ActivityDependencies, 'logger'>,
  context: Context,
): Context {
  const { memory, memories, signal } = context;
  const wait = <Result>(work: () => Promise<Result>): Promise<Result> => throughOutage(dependencies, { signal }, work);
  return {
    ...context,
    memory: {
      search: (...asked) => wait(() => memory.search(...asked)),
      open: (...asked) => wait(() => memory.open(...asked)),
      searchedInPart: () => wait(() => memory.searchedInPart()),
      countUnindexed: () => wait(() => memory.countUnindexed()),
      around: (...asked) => wait(() => memory.around(...asked)),
    },
    memories: memories && {
      remember: (stated) => wait(() => memories.remember(stated)),
      forget: (id) => wait(() => memories.forget(id)),
    },
  };
}
