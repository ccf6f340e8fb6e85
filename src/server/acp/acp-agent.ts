/** Holdfast as an agent of the Agent Client Protocol (v1): sessions are conversations, modes are agents. */
import { agent, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { AgentApp, AgentContext, SessionConfigOption } from '@agentclientprotocol/sdk';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Configuration } from '../../config/configuration.ts';
import { newId } from '../../store/database/ids.ts';
import { refused } from './prompt-content.ts';
import { AcpSession } from './session.ts';

export interface AcpAgentOptions {
  readonly client: Holdfast;
  readonly configuration: Pick<Configuration, 'agents' | 'models' | 'presets'>;
  readonly version: string;
}

export function createAcpAgent(options: AcpAgentOptions): AgentApp {
  const sessions = new OpenSessions(options);
  const { session } = methods.agent;
  return agent({ name: 'holdfast' })
    .onConnect(({ signal }) => signal.addEventListener('abort', () => sessions.closeAll()))
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.knowsCompactions = params.clientCapabilities?.session?.compaction != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'holdfast', title: 'Holdfast', version: options.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          // No `close`: by the protocol it stops the turn, which goes on here without its editor.
          sessionCapabilities: { resume: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(session.new, ({ params, client }) => {
      const sessionId = newId();
      return { sessionId, ...sessions.choicesOf(sessions.open(client, sessionId, params.cwd)) };
    })
    .onRequest(session.load, ({ params, client }) => coded(() => sessions.load(client, params, true)))
    .onRequest(session.resume, ({ params, client }) => coded(() => sessions.load(client, params, false)))
    .onRequest(session.prompt, ({ params }) => coded(() => sessions.named(params.sessionId).prompt(params.prompt)))
    .onNotification(session.cancel, ({ params }) => coded(() => sessions.named(params.sessionId).cancel()))
    .onRequest(session.setMode, ({ params }) => {
      sessions.choose(params.sessionId, 'agent', params.modeId);
      return {};
    })
    .onRequest(session.setConfigOption, ({ params }) => {
      const { configOptions } = sessions.choose(params.sessionId, params.configId, params.value);
      return { configOptions };
    });
}

class OpenSessions {
  knowsCompactions = false;
  readonly #client: Holdfast;
  readonly #agents: Configuration['agents'];
  readonly #values: Readonly<Record<string, readonly string[]>>;
  readonly #byId = new Map<string, AcpSession>();

  constructor({ client, configuration: { agents, models, presets } }: AcpAgentOptions) {
    this.#client = client;
    this.#agents = agents;
    this.#values = {
      agent: agents.map(({ name }) => name),
      model: [...new Set([...agents.map(({ model }) => model), ...Object.keys(models)])],
      preset: Object.keys(presets),
    };
  }

  open(editor: AgentContext, conversationId: string, workspace: string): AcpSession {
    this.#byId.get(conversationId)?.close();
    const { knowsCompactions } = this;
    const session = new AcpSession({ client: this.#client, editor, conversationId, workspace, knowsCompactions });
    this.#byId.set(conversationId, session);
    return session;
  }

  async load(editor: AgentContext, of: { sessionId: string; cwd: string }, isReplayed: boolean) {
    const session = this.open(editor, of.sessionId, of.cwd);
    await session.load(isReplayed);
    return this.choicesOf(session);
  }

  named(id: string): AcpSession {
    const session = this.#byId.get(id);
    if (session !== undefined) return session;
    throw refused(`session ${id} is not open: load it`, 'session_not_open');
  }

  closeAll(): void {
    for (const session of this.#byId.values()) session.close();
  }

  /** @throws RequestError for what cannot be chosen, or not any more */
  choose(sessionId: string, name: string, value: unknown) {
    const session = this.named(sessionId);
    const values = this.#values[name];
    if (values === undefined) throw refused(`there is no option ${name}`);
    if (typeof value !== 'string' || !values.includes(value)) {
      throw refused(`${name} has no value ${String(value)}: there are ${values.join(', ')}`);
    }
    if (session.isStarted) {
      throw refused(`${name} is chosen before the first message: begin a new session for another one`);
    }
    session.choices = { ...session.choices, [name]: value };
    return this.choicesOf(session);
  }

  /** What session/new and session/load answer. */
  choicesOf({ choices }: AcpSession) {
    const chosen = this.#agents.find(({ name }) => name === (choices.agent ?? 'default')) ?? this.#agents[0];
    const { agent: agents = [], model: models = [], preset: presets = [] } = this.#values;
    return {
      modes: {
        currentModeId: choices.agent ?? chosen?.name ?? 'default',
        availableModes: agents.map((name) => ({ id: name, name })),
      },
      configOptions: [
        { ...select('model', 'Model', models, choices.model ?? chosen?.model ?? ''), category: 'model' },
        select('preset', 'Compaction', presets, choices.preset ?? chosen?.policy.name ?? 'default'),
      ],
    };
  }
}

function select(id: string, name: string, values: readonly string[], currentValue: string): SessionConfigOption {
  const options = [...new Set([...values, currentValue])].map((value) => ({ value, name: value }));
  return { type: 'select', id, name, currentValue, options };
}

/** Refusals of the client with their code and what to do. */
async function coded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HoldfastClientError)) throw error;
    throw refused(error.message, error.code);
  }
}
