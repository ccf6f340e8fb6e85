import { checkArgument } from './check-arguments.ts';
import type { CheckedMethod } from './check-arguments.ts';
import { clientClosed } from './errors.ts';
import type { HoldfastClient } from './types.ts';
import type { WatchOptions, WatchUpdate } from './watch-types.ts';

/** What every method passes first. */
function createGate() {
  let isClosed = false;
  const requireOpen = (): void => {
    if (isClosed) throw clientClosed();
  };
  const check = (method: CheckedMethod, argument: unknown): void => {
    requireOpen();
    checkArgument(method, argument);
  };
  return {
    check,
    checked:
      <Argument, Result>(method: CheckedMethod, work: (argument: Argument) => Promise<Result>) =>
      async (argument: Argument): Promise<Result> => {
        check(method, argument);
        return work(argument);
      },
    /** For a method without argument. */
    open:
      <Result>(work: () => Promise<Result>) =>
      async (): Promise<Result> => {
        requireOpen();
        return work();
      },
    close: (): void => {
      isClosed = true;
    },
  };
}

/** The client's boundary: arguments are checked before anything is done with them, and a closed client does nothing. */
export function checkedClient(client: HoldfastClient): HoldfastClient {
  const { check, checked, open, close: closeGate } = createGate();
  let closing: Promise<void> | null = null;
  async function* watch(options: WatchOptions): AsyncGenerator<WatchUpdate> {
    check('watch', options);
    yield* client.watch(options);
  }
  return {
    startTask: checked('startTask', (argument) => client.startTask(argument)),
    sendMessage: checked('sendMessage', (argument) => client.sendMessage(argument)),
    stop: checked('stop', (argument) => client.stop(argument)),
    requestCompaction: checked('requestCompaction', (argument) => client.requestCompaction(argument)),
    resume: checked('resume', (argument) => client.resume(argument)),
    listBranches: checked('listBranches', (argument) => client.listBranches(argument)),
    getActiveBranch: checked('getActiveBranch', (argument) => client.getActiveBranch(argument)),
    fork: checked('fork', (argument) => client.fork(argument)),
    switchBranch: checked('switchBranch', (argument) => client.switchBranch(argument)),
    regenerate: checked('regenerate', (argument) => client.regenerate(argument)),
    edit: checked('edit', (argument) => client.edit(argument)),
    approve: checked('approve', (argument) => client.approve(argument)),
    deny: checked('deny', (argument) => client.deny(argument)),
    answer: checked('answer', (argument) => client.answer(argument)),
    listStandingApprovals: open(() => client.listStandingApprovals()),
    endStandingApproval: checked('endStandingApproval', (argument) => client.endStandingApproval(argument)),
    getConversation: checked('getConversation', (argument) => client.getConversation(argument)),
    isTurnLost: checked('isTurnLost', (argument) => client.isTurnLost(argument)),
    listConversations: checked('listConversations', (argument) => client.listConversations(argument)),
    listEntries: checked('listEntries', (argument) => client.listEntries(argument)),
    listEntriesAround: checked('listEntriesAround', (argument) => client.listEntriesAround(argument)),
    findEntryId: checked('findEntryId', (argument) => client.findEntryId(argument)),
    countEntries: checked('countEntries', (argument) => client.countEntries(argument)),
    listSummaries: checked('listSummaries', (argument) => client.listSummaries(argument)),
    readLineage: checked('readLineage', (argument) => client.readLineage(argument)),
    searchMemory: checked('searchMemory', (argument) => client.searchMemory(argument)),
    countUnindexed: checked('countUnindexed', (argument) => client.countUnindexed(argument)),
    reindex: checked('reindex', (argument) => client.reindex(argument)),
    openEntry: checked('openEntry', (argument) => client.openEntry(argument)),
    getContext: checked('getContext', (argument) => client.getContext(argument)),
    getView: checked('getView', (argument) => client.getView(argument)),
    listModelCalls: checked('listModelCalls', (argument) => client.listModelCalls(argument)),
    listCosts: checked('listCosts', (argument) => client.listCosts(argument)),
    listServedModels: open(() => client.listServedModels()),
    listProviderPauses: open(() => client.listProviderPauses()),
    endProviderPause: checked('endProviderPause', (argument) => client.endProviderPause(argument)),
    storeServedModel: checked('storeServedModel', (argument) => client.storeServedModel(argument)),
    listLearnedWindows: checked('listLearnedWindows', (argument) => client.listLearnedWindows(argument)),
    exportConversation: checked('exportConversation', (argument) => client.exportConversation(argument)),
    importConversation: checked('importConversation', (argument) => client.importConversation(argument)),
    deleteConversation: checked('deleteConversation', (argument) => client.deleteConversation(argument)),
    waitForOutcome: checked('waitForOutcome', (argument) => client.waitForOutcome(argument)),
    watch,
    close() {
      closeGate();
      return (closing ??= client.close());
    },
  };
}
