/** Holdfast as an agent of the Agent Client Protocol (v1): sessions are conversations, modes are agents. */
import { agent, methods, RequestError } from '@agentclientprotocol/sdk';
import type { AgentApp, AgentContext, SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Configuration } from '../../config/configuration.ts';
import { newId } from '../../store/database/ids.ts';
import { AcpSession } from './session.ts';

export interface AcpAgentOptions {
  readonly client: Holdfast;
  readonly configuration: Pick<Configuration, 'agents' | 'models' | 'presets'>;
  readonly version: string;
}

const PROTOCOL_VERSION = 1;

/** What session/new and session/load answer of the choices that there are. */
interface Choices {
  readonly modes: SessionModeState;
  readonly configOptions: SessionConfigOption[];
}

/** One connection of an editor. */
export function createAcpAgent(options: AcpAgentOptions): AgentApp {
  const sessions = new OpenSessions(options);
  const app = agent({ name: 'holdfast' })
    .onConnect(({ signal }) => signal.addEventListener('abort', () => sessions.closeAll()))
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.knowsCompactions = params.clientCapabilities?.session?.compaction != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'holdfast', title: 'Holdfast', version: options.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          sessionCapabilities: { resume: {}, close: {} },
        },
        authMethods: [],
      };
    });
  return withSessions(app, sessions, options);
}

function withSessions(app: AgentApp, sessions: OpenSessions, options: AcpAgentOptions): AgentApp {
  const { session } = methods.agent;
  return app
    .onRequest(session.new, ({ params, client }) => {
      const sessionId = newId();
      return { sessionId, ...choicesOf(sessions.open(client, sessionId, params.cwd), options) };
    })
    .onRequest(session.load, ({ params, client }) => coded(() => sessions.load(client, params, true)))
    .onRequest(session.resume, ({ params, client }) => coded(() => sessions.load(client, params, false)))
    .onRequest(session.close, ({ params }) => {
      sessions.named(params.sessionId).close();
      return {};
    })
    .onRequest(session.prompt, ({ params }) => coded(() => sessions.named(params.sessionId).prompt(params.prompt)))
    .onNotification(session.cancel, ({ params }) => coded(() => sessions.named(params.sessionId).cancel()))
    .onRequest(session.setMode, ({ params: { sessionId, modeId } }) => {
      choose(sessions.named(sessionId), 'agent', modeId, options);
      return {};
    })
    .onRequest(session.setConfigOption, ({ params: { sessionId, configId, value } }) => {
      choose(sessions.named(sessionId), configId, value, options);
      return { configOptions: choicesOf(sessions.named(sessionId), options).configOptions };
    });
}

/** The sessions that an editor has opened. */
class OpenSessions {
  knowsCompactions = false;
  readonly #options: AcpAgentOptions;
  readonly #byId = new Map<string, AcpSession>();

  constructor(options: AcpAgentOptions) {
    this.#options = options;
  }

  open(editor: AgentContext, id: string, workspace: string): AcpSession {
    this.#byId.get(id)?.close();
    const { knowsCompactions } = this;
    const session = new AcpSession({ client: this.#options.client, editor, id, workspace, knowsCompactions });
    this.#byId.set(id, session);
    return session;
  }

  async load(editor: AgentContext, of: { sessionId: string; cwd: string }, isReplayed: boolean): Promise<Choices> {
    const session = this.open(editor, of.sessionId, of.cwd);
    await session.load(isReplayed);
    return choicesOf(session, this.#options);
  }

  named(id: string): AcpSession {
    const session = this.#byId.get(id);
    if (session !== undefined) return session;
    throw RequestError.invalidParams({ code: 'session_not_open' }, `session ${id} is not open: load it`);
  }

  closeAll(): void {
    for (const session of this.#byId.values()) session.close();
  }
}

/** @throws RequestError for what cannot be chosen, or not any more */
function choose(session: AcpSession, name: string, value: unknown, options: AcpAgentOptions): void {
  const known = valuesOf(options);
  if (name !== 'agent' && name !== 'model' && name !== 'preset') throw refused(`there is no option ${name}`);
  if (typeof value !== 'string' || !known[name].includes(value)) {
    throw refused(`${name} has no value ${String(value)}: there are ${known[name].join(', ')}`);
  }
  if (session.isStarted)
    throw refused(`${name} is chosen before the first message: begin a new session for another one`);
  session.choices = { ...session.choices, [name]: value };
}

function valuesOf({ configuration: { agents, models, presets } }: AcpAgentOptions) {
  return {
    agent: agents.map(({ name }) => name),
    model: [...new Set([...agents.map(({ model }) => model), ...Object.keys(models)])],
    preset: Object.keys(presets),
  };
}

function choicesOf({ choices }: AcpSession, options: AcpAgentOptions): Choices {
  const { agents } = options.configuration;
  const known = valuesOf(options);
  const chosen = agents.find(({ name }) => name === (choices.agent ?? 'default')) ?? agents[0];
  const select = (id: string, name: string, values: readonly string[], current: string): SessionConfigOption => ({
    type: 'select',
    id,
    name,
    currentValue: current,
    options: [...new Set([...values, current])].map((value) => ({ value, name: value })),
    ...(id === 'model' && { category: 'model' }),
  });
  return {
    modes: {
      currentModeId: choices.agent ?? chosen?.name ?? 'default',
      availableModes: known.agent.map((name) => ({ id: name, name })),
    },
    configOptions: [
      select('model', 'Model', known.model, choices.model ?? chosen?.model ?? ''),
      select('preset', 'Compaction', known.preset, choices.preset ?? chosen?.policy.name ?? 'default'),
    ],
  };
}

/** Refusals of the client with their code and what to do. */
async function coded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HoldfastClientError)) throw error;
    throw RequestError.invalidParams({ code: error.code }, error.message);
  }
}

function refused(message: string): RequestError {
  return RequestError.invalidParams({ code: 'invalid_argument' }, message);
}
