import { CHAT_CALL_IDS, COMPATIBLE_CALL_IDS, MISTRAL_CALL_IDS, type ToolCallIdRule } from '../tool-names.ts';

/** Where servers of the Chat Completions protocol differ in what they accept. */
export interface ChatDialect {
  /** OpenAI's reasoning models refuse `max_tokens`; many compatible servers know nothing else. */
  readonly maximumOutputField: 'max_completion_tokens' | 'max_tokens';
  /**
   * Who gives the instructions. OpenAI calls it `developer` from o1 on ("developer messages replace the previous system
   * messages", types of its SDK); the others, and deployments of any name on Azure, know only `system` for certain.
   */
  readonly instructionsRole: 'developer' | 'system';
  /** Whether `prompt_cache_key` is sent: strict servers (Mistral, Groq) refuse fields that they do not know. */
  readonly cacheKey: boolean;
  /** Whether `strict` of a tool is known. */
  readonly strictTools: boolean;
  /** Whether a form of the answer (`response_format`) is taken beside tools; else it is offered as a tool. */
  readonly outputFormat: boolean;
  readonly callIds: ToolCallIdRule;
  /** Whether PDF files are accepted. */
  readonly pdf: boolean;
  /** OpenRouter takes the middle out of a prompt over the window, silently and for some models unasked, unless it is told not to. */
  readonly refusesMiddleOut: boolean;
  /** Mistral refuses a user message right after a tool message. */
  readonly assistantBetweenToolAndUser: boolean;
}

const OPENAI: ChatDialect = {
  instructionsRole: 'developer',
  maximumOutputField: 'max_completion_tokens',
  cacheKey: true,
  strictTools: true,
  outputFormat: true,
  callIds: CHAT_CALL_IDS,
  pdf: true,
  refusesMiddleOut: false,
  assistantBetweenToolAndUser: false,
};

const COMPATIBLE: ChatDialect = {
  instructionsRole: 'system',
  maximumOutputField: 'max_tokens',
  cacheKey: false,
  strictTools: false,
  outputFormat: false,
  callIds: COMPATIBLE_CALL_IDS,
  pdf: false,
  refusesMiddleOut: false,
  assistantBetweenToolAndUser: false,
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
