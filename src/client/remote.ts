import { ENDPOINTS } from './api/endpoints.ts';
import type { EndpointName } from './api/endpoints.ts';
import type { HoldfastClient } from './holdfast-client.ts';
import { waitForOutcome } from './remote-outcome.ts';
import { createRequests } from './remote-requests.ts';
import type { Requests } from './remote-requests.ts';
import { watchRemote } from './remote-watch.ts';
import { openConversation, taskOf } from './task.ts';

export interface RemoteOptions {
  /** Address of a `holdfast server`, such as `https://holdfast.example`. */
  readonly url: string;
  /** Of `holdfast keys create`. Default: none, as a server on the same machine may need none. */
  readonly apiKey?: string;
}

type MethodOf<Name> = Name extends `${infer Group extends keyof HoldfastClient}.${infer Method}`
  ? Method extends keyof HoldfastClient[Group]
    ? HoldfastClient[Group][Method]
    : never
  : never;

/** A client over HTTP: its methods are the endpoints of the server. */
export function connectRemote({ url, apiKey }: RemoteOptions): HoldfastClient {
  const requests = createRequests(url, apiKey);
  function method<Name extends EndpointName>(name: Name): MethodOf<Name>;
  function method(name: EndpointName): unknown {
    return (options: Readonly<Record<string, unknown>> = {}) => requests.call(ENDPOINTS[name], options);
  }
  const groups = groupsOf(method, requests);
  return {
    ...groups,
    async start(task, options = {}) {
      const sent = await requests.call(ENDPOINTS.start, { task, ...options });
      return taskOf(groups, ENDPOINTS.start.result.parse(sent), 0);
    },
    open: (conversationId) => openConversation(groups, conversationId),
    close: async () => requests.close(),
  };
}

type RemoteMethod = <Name extends EndpointName>(name: Name) => MethodOf<Name>;

function groupsOf(method: RemoteMethod, requests: Requests): Omit<HoldfastClient, 'start' | 'open' | 'close'> {
  return {
    conversation: {
      list: method('conversation.list'),
      get: method('conversation.get'),
      delete: method('conversation.delete'),
      send: method('conversation.send'),
      stop: method('conversation.stop'),
      compact: method('conversation.compact'),
      resume: method('conversation.resume'),
      isTurnLost: method('conversation.isTurnLost'),
      pins: method('conversation.pins'),
      pin: method('conversation.pin'),
      unpin: method('conversation.unpin'),
      watch: (options) => watchRemote(requests, options),
      outcome: (options) => waitForOutcome(requests, options),
    },
    branches: {
      list: method('branches.list'),
      active: method('branches.active'),
      fork: method('branches.fork'),
      switch: method('branches.switch'),
      regenerate: method('branches.regenerate'),
      edit: method('branches.edit'),
    },
    log: {
      entries: method('log.entries'),
      around: method('log.around'),
      count: method('log.count'),
      findEntryId: method('log.findEntryId'),
      summaries: method('log.summaries'),
      searchSummaries: method('log.searchSummaries'),
      lineage: method('log.lineage'),
      context: method('log.context'),
      view: method('log.view'),
      modelCalls: method('log.modelCalls'),
    },
    ...otherGroups(method),
  };
}

function otherGroups(method: RemoteMethod): Pick<HoldfastClient, 'memory' | 'decisions' | 'models'> {
  return {
    memory: {
      search: method('memory.search'),
      list: method('memory.list'),
      forget: method('memory.forget'),
      countUnindexed: method('memory.countUnindexed'),
    },
    decisions: {
      approve: method('decisions.approve'),
      deny: method('decisions.deny'),
      answer: method('decisions.answer'),
      listWaiting: method('decisions.listWaiting'),
      listStanding: method('decisions.listStanding'),
      endStanding: method('decisions.endStanding'),
    },
    models: {
      costs: method('models.costs'),
      listServed: method('models.listServed'),
      listPauses: method('models.listPauses'),
    },
  };
}
