import { CHAT_CALL_IDS, COMPATIBLE_CALL_IDS, MISTRAL_CALL_IDS, type ToolCallIdRule } from '../tool-names.ts';

/** Where servers of the Chat Completions protocol differ in what they accept. */
export interface ChatDialect {
  /**
   * Whether `max_completion_tokens`, `prompt_cache_key`, `strict` of a tool and PDF files are sent. OpenAI's reasoning models refuse
   * `max_tokens`. Many compatible servers know nothing else, and strict ones (Mistral, Groq) refuse fields that they do not know.
   */
  readonly openAIFields: boolean;
  /**
   * Who gives the instructions. OpenAI calls it `developer` from o1 on ("developer messages replace the previous system
   * messages", types of its SDK); the others, and deployments of any name on Azure, know only `system` for certain.
   */
  readonly instructionsRole: 'developer' | 'system';
  /** Whether a form of the answer (`response_format`) is taken beside tools; else it is offered as a tool. */
  readonly outputFormat: boolean;
  readonly callIds: ToolCallIdRule;
  /** OpenRouter takes the middle out of a prompt over the window, silently and for some models unasked, unless it is told not to. */
  readonly refusesMiddleOut?: true;
  /** Mistral refuses a user message right after a tool message. */
  readonly assistantBetweenToolAndUser?: true;
}

const OPENAI: ChatDialect = {
  openAIFields: true,
  instructionsRole: 'developer',
  outputFormat: true,
  callIds: CHAT_CALL_IDS,
};

const COMPATIBLE: ChatDialect = {
  openAIFields: false,
  instructionsRole: 'system',
  outputFormat: false,
  callIds: COMPATIBLE_CALL_IDS,
};

/** Dialects by the domain of the server, or the name of the built-in provider behind a proxy; all others are plainly compatible. */
const DIALECTS: readonly (readonly [domain: string, provider: string | null, dialect: ChatDialect])[] = [
  ['openai.com', null, OPENAI],
  ['openai.azure.com', null, { ...OPENAI, instructionsRole: 'system' }],
  ['mistral.ai', 'mistral', { ...COMPATIBLE, callIds: MISTRAL_CALL_IDS, assistantBetweenToolAndUser: true }],
  ['openrouter.ai', 'openrouter', { ...COMPATIBLE, refusesMiddleOut: true }],
  ['x.ai', 'xai', { ...COMPATIBLE, outputFormat: true }],
];

/** The dialect of a server, told from the host of its base URL, else from the provider's name. */
export function chatDialect(baseUrl: string, provider?: string): ChatDialect {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  const found =
    DIALECTS.find(([domain]) => isHostOf(host, domain)) ??
    DIALECTS.find(([, name]) => name !== null && name === provider);
  return found?.[2] ?? COMPATIBLE;
}

function isHostOf(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
