import { ENDPOINTS } from '../api/endpoints.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { schemaOf } from '../answer-form.ts';
import type { GivenForm } from '../answer-form.ts';
import type { HoldfastClient } from '../holdfast.ts';
import { waitForOutcome } from './outcome.ts';
import { createRequests } from './requests.ts';
import type { Requests } from './requests.ts';
import { exportRemote, importRemote, openRemote } from './transfer.ts';
import { watchRemote } from './watch.ts';
import { openConversation, taskOf } from '../task.ts';

export interface RemoteOptions {
  /** Address of a `holdfast server`, such as `https://holdfast.example`. */
  readonly url: string;
  /** Of `holdfast keys create`. Default: none, as a server on the same machine may need none. */
  readonly apiKey?: string;
}

/** A client over HTTP: its methods are the endpoints of the server. */
export function connectRemote({ url, apiKey }: RemoteOptions): HoldfastClient {
  const requests = createRequests(url, apiKey);
  const methods = methodsOf(requests);
  const groups: Groups = {
    ...methods,
    conversation: {
      ...methods.conversation,
      watch: (options) => watchRemote(requests, options),
      outcome: (options) => waitForOutcome(requests, options),
      send: (options) => methods.conversation.send(withSchema(options)),
      export: (options) => exportRemote(requests, options),
      import: (options) => importRemote(requests, options),
    },
    log: { ...methods.log, open: (options) => openRemote(requests, (of) => methods.log.open(of), options) },
  };
  return {
    ...groups,
    async start(task, options = {}) {
      const sent = await requests.call(ENDPOINTS.start, { task, ...withSchema(options) });
      return taskOf(groups, { sent: ENDPOINTS.start.result.parse(sent), afterEvent: 0, form: options.output });
    },
    open: (conversationId) => openConversation(groups, conversationId),
    close: async () => requests.close(),
  };
}

type Groups = Omit<HoldfastClient, 'start' | 'open' | 'close'>;

/** A form as JSON. */
function withSchema<Options extends { readonly output?: GivenForm }>(options: Options): Options {
  return options.output === undefined ? options : { ...options, output: schemaOf(options.output) };
}

/** What else an object holds, such as a message that was sent, is passed over, as a client of the database does. */
function known(endpoint: Endpoint, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in endpoint.arguments));
}

/** A method for each endpoint, by group. */
function methodsOf(requests: Requests): Groups;
function methodsOf(requests: Requests): unknown {
  const groups: Record<string, Record<string, (options?: Readonly<Record<string, unknown>>) => Promise<unknown>>> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const [group = '', method = ''] = name.split('.');
    (groups[group] ??= {})[method] = (options = {}) => requests.call(endpoint, known(endpoint, options));
  }
  return groups;
}
