import type { ProtocolName } from '../models/provider.ts';

export interface BuiltInProvider {
  readonly protocol: ProtocolName;
  readonly keyVariable: string | null;
  readonly addressVariable: string;
  readonly defaultAddress: string | null;
  /** Path between a bare server address and the protocol's own paths. */
  readonly path: string;
}

const SIMULATOR = { keyVariable: null, addressVariable: 'HOLDFAST_SIMULATOR_URL', defaultAddress: null } as const;

/** Servers that people use with Chat Completions: a name, the beginning of its variables, its address, whether it wants a key. */
const CHAT_SERVERS: readonly (readonly [name: string, variables: string, address: string, key: 'key' | 'no key'])[] = [
  ['openrouter', 'OPENROUTER', 'https://openrouter.ai/api/v1', 'key'],
  ['google', 'GEMINI', 'https://generativelanguage.googleapis.com/v1beta/openai', 'key'],
  ['groq', 'GROQ', 'https://api.groq.com/openai/v1', 'key'],
  ['mistral', 'MISTRAL', 'https://api.mistral.ai/v1', 'key'],
  ['deepseek', 'DEEPSEEK', 'https://api.deepseek.com', 'key'],
  ['xai', 'XAI', 'https://api.x.ai/v1', 'key'],
  ['together', 'TOGETHER', 'https://api.together.xyz/v1', 'key'],
  ['fireworks', 'FIREWORKS', 'https://api.fireworks.ai/inference/v1', 'key'],
  ['vllm', 'VLLM', 'http://127.0.0.1:8000/v1', 'no key'],
  ['llama.cpp', 'LLAMA_CPP', 'http://127.0.0.1:8080/v1', 'no key'],
  ['ollama', 'OLLAMA', 'http://127.0.0.1:11434/v1', 'no key'],
  ['lm-studio', 'LM_STUDIO', 'http://127.0.0.1:1234/v1', 'no key'],
];

/** Servers that need no entry in `holdfast.yaml`, by name. */
export const BUILT_IN_PROVIDERS: Readonly<Record<string, BuiltInProvider>> = {
  anthropic: {
    protocol: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    addressVariable: 'ANTHROPIC_BASE_URL',
    defaultAddress: 'https://api.anthropic.com',
    path: '',
  },
  openai: {
    protocol: 'responses',
    keyVariable: 'OPENAI_API_KEY',
    addressVariable: 'OPENAI_BASE_URL',
    defaultAddress: 'https://api.openai.com/v1',
    path: '',
  },
  'openai-compatible': {
    protocol: 'chat',
    keyVariable: 'HOLDFAST_COMPATIBLE_API_KEY',
    addressVariable: 'HOLDFAST_COMPATIBLE_BASE_URL',
    defaultAddress: null,
    path: '',
  },
  simulator: { ...SIMULATOR, protocol: 'anthropic', path: '' },
  'simulator-chat': { ...SIMULATOR, protocol: 'chat', path: '/v1' },
  'simulator-responses': { ...SIMULATOR, protocol: 'responses', path: '/v1' },
  ...Object.fromEntries(
    CHAT_SERVERS.map(([name, variables, defaultAddress, key]): [string, BuiltInProvider] => [
      name,
      {
        protocol: 'chat',
        keyVariable: key === 'key' ? `${variables}_API_KEY` : null,
        addressVariable: `${variables}_BASE_URL`,
        defaultAddress,
        path: '',
      },
    ]),
  ),
};
