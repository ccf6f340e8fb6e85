/** Options of model calls: what an agent asks of the vendor, and how long a provider's server is waited for. */
import { z } from 'zod';
import { REASONING_EFFORTS, SERVICE_TIERS } from '../../turn/agent-snapshot.ts';

const positive = z.number().int().positive();

/** The form of an agent's final answer. */
export const outputOption = z
  .record(z.string(), z.unknown())
  .refine(isFormOfObject, 'must be the JSON Schema of an object')
  .meta({
    description:
      'Form of the final answer: the JSON Schema of an object. A vendor that cannot enforce it gets it as a tool. An answer that does not fit is asked for once more.',
    defaultText: 'free text',
  });

/** Whether answers can be checked with it. */
function isFormOfObject(schema: Readonly<Record<string, unknown>>): boolean {
  try {
    return z.fromJSONSchema(schema) instanceof z.ZodObject;
  } catch {
    return false;
  }
}

export const requestOptions = z.strictObject({
  reasoningEffort: z.enum(REASONING_EFFORTS).optional().meta({
    description:
      'How hard the model thinks before it answers. The vendor says which efforts a model knows. `none` turns thinking off.',
    defaultText: "the vendor's",
  }),
  thinkingBudget: positive.min(1_024).optional().meta({
    description:
      'Longest thinking, for Anthropic models that take a budget. It is lowered if answer and thinking would not fit the maximum output.',
    unit: 'tokens',
    defaultText: 'no thinking, unless an effort is set',
  }),
  temperature: z.number().min(0).max(2).optional().meta({
    description:
      'How freely the model chooses its words. It cannot be used with a thinking budget. Most models that reason refuse it.',
    unit: 'from 0 to 2',
    defaultText: "the vendor's",
  }),
  stopSequences: z.array(z.string().min(1)).min(1).max(4).optional().meta({
    description: 'The answer ends before one of these. OpenAI Responses has none.',
    defaultText: 'none',
  }),
  serviceTier: z.enum(SERVICE_TIERS).optional().meta({
    description:
      'How the vendor serves and bills the call. Anthropic takes `auto` and `standard_only`, OpenAI `auto`, `default`, `flex`, `scale` and `priority`.',
    defaultText: "the vendor's",
  }),
  citations: z.boolean().optional().meta({
    description:
      'Whether Anthropic names the pages and words of PDFs behind an answer. They are stored in `citations` of its text.',
    defaultText: '`false`',
  }),
  maximumOutput: positive.optional().meta({
    description: 'Longest answer, thinking included.',
    unit: 'tokens',
    defaultText: "the model's",
  }),
  cacheLifetime: z.enum(['5m', '1h']).optional().meta({
    description:
      'How long Anthropic caches the prompt. `1h` costs more to write, and pays if users answer after more than five minutes.',
    defaultText: '`5m`',
  }),
});

/** Spread into the options of a provider. */
export const hostingOptions = {
  hosting: z.enum(['azure', 'bedrock', 'vertex']).optional().meta({
    description:
      'The cloud that serves the models: OpenAI models on Azure, or Claude on Amazon Bedrock or Google Vertex AI. Claude needs the package `@anthropic-ai/bedrock-sdk` or `@anthropic-ai/vertex-sdk`, and the credentials of the cloud.',
    defaultText: 'none: the vendor itself, or any compatible server',
  }),
  apiVersion: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Version of the API on Azure.', defaultText: 'required with `hosting: azure`' }),
  region: z.string().min(1).optional().meta({
    description: 'Region on Bedrock or Vertex AI.',
    defaultText: 'required with `hosting: bedrock` and `vertex`',
  }),
  project: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Google Cloud project on Vertex AI.', defaultText: 'required with `hosting: vertex`' }),
};

/** Spread into the options of a provider. */
export const timeoutOptions = {
  idleTimeoutSeconds: positive.max(300).optional().meta({
    description: 'Longest silence of the server within one call, before the first byte and between two.',
    unit: 'seconds',
    defaultText: '60, but 300 with `responses`, which sends nothing while a model reasons',
  }),
  totalTimeoutSeconds: positive.max(2_000).optional().meta({
    description: 'Longest duration of one call, at most 2,000.',
    unit: 'seconds',
    defaultText: '1,800',
  }),
};

export type RequestSettings = z.output<typeof requestOptions>;
