import type { Holdfast, StartOptions } from '../../src/client/holdfast.ts';

type Options<Method extends (options: never) => unknown> = Parameters<Method>[0];

/** The client with the calls that tests make most under one name each. */
export function withFlatMethods(holdfast: Holdfast) {
  const { conversation, log, decisions } = holdfast;
  type Conversations = typeof conversation;
  return Object.assign(holdfast, {
    startTask: ({ task, ...options }: StartOptions & { task: Parameters<Holdfast['start']>[0] }) =>
      holdfast.start(task, options),
    sendMessage: (options: Options<Conversations['send']>) => conversation.send(options),
    stop: (options: Options<Conversations['stop']>) => conversation.stop(options),
    resume: (options: Options<Conversations['resume']>) => conversation.resume(options),
    requestCompaction: (options: Options<Conversations['compact']>) => conversation.compact(options),
    waitForOutcome: (options: Options<Conversations['outcome']>) => conversation.outcome(options),
    watch: (options: Options<Conversations['watch']>) => conversation.watch(options),
    getConversation: (conversationId: string) => conversation.get({ conversationId }),
    deleteConversation: (conversationId: string) => conversation.delete({ conversationId }),
    listEntries: (options: Options<typeof log.entries>) => log.entries(options),
    listSummaries: (options: Options<typeof log.summaries>) => log.summaries(options),
    listModelCalls: (options: Options<typeof log.modelCalls>) => log.modelCalls(options),
    approve: (options: Options<typeof decisions.approve>) => decisions.approve(options),
    deny: (options: Options<typeof decisions.deny>) => decisions.deny(options),
    answer: (options: Options<typeof decisions.answer>) => decisions.answer(options),
  });
}
