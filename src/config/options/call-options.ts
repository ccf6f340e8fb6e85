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
      'JSON Schema of an object: the form of the final answer. The vendor keeps to it where it can, else the form is offered to the model as a tool. An answer that does not fit is asked for once more.',
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
      'How hard the model thinks before it answers. Which efforts a model knows is told by its vendor; with an Anthropic model, it decides itself how much to think, and `none` switches thinking off.',
    defaultText: "the vendor's",
  }),
  thinkingBudget: positive.min(1_024).optional().meta({
    description:
      'Longest thinking, for Anthropic models that take a budget; lowered where answer and thinking would not fit the maximum output.',
    unit: 'tokens',
    defaultText: 'no thinking, unless an effort is set',
  }),
  temperature: z.number().min(0).max(2).optional().meta({
    description:
      'How freely the model chooses its words; not with a thinking budget, and refused by most models that reason.',
    unit: 'from 0 to 2',
    defaultText: "the vendor's",
  }),
  stopSequences: z.array(z.string().min(1)).min(1).max(4).optional().meta({
    description: 'The answer ends before one of these. OpenAI Responses has none.',
    defaultText: 'none',
  }),
  serviceTier: z.enum(SERVICE_TIERS).optional().meta({
    description:
      "How the call is served and billed, in the vendor's words: `auto` or `standard_only` with Anthropic; `auto`, `default`, `flex`, `scale` or `priority` with OpenAI.",
    defaultText: "the vendor's",
  }),
  citations: z.boolean().optional().meta({
    description:
      'Whether Anthropic names the pages and words of PDFs that an answer rests on; they are kept with the answer, in `citations` of its text.',
    defaultText: '`false`',
  }),
  maximumOutput: positive.optional().meta({
    description: 'Longest answer, thinking included, where it should be less than the model can write.',
    unit: 'tokens',
    defaultText: "the model's",
  }),
  cacheLifetime: z.enum(['5m', '1h']).optional().meta({
    description:
      'How long Anthropic keeps what it cached of the prompt. `1h` costs more to write and pays where the user answers after more than five minutes.',
    defaultText: '`5m`',
  }),
});

/** Spread into the options of a provider. */
export const hostingOptions = {
  hosting: z.enum(['azure', 'bedrock', 'vertex']).optional().meta({
    description:
      'The cloud that serves the models: OpenAI models on Azure (`chat` or `responses`), Claude on Amazon Bedrock or Google Vertex AI (`anthropic`, with the package `@anthropic-ai/bedrock-sdk` or `@anthropic-ai/vertex-sdk` installed and the credentials where the cloud looks for them).',
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
    defaultText: '60; 300 with `responses`, where nothing is sent while a model reasons',
  }),
  totalTimeoutSeconds: positive.max(2_000).optional().meta({
    description: 'Longest duration of one call; at most 2,000, because the activity that makes it has 35 minutes.',
    unit: 'seconds',
    defaultText: '1,800',
  }),
};

export type RequestSettings = z.output<typeof requestOptions>;
