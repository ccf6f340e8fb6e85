import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ModelRequest } from '../model-client.ts';
import { sendableSchema, strictSchema } from './tool-schema.ts';

/** Anthropic refuses a smaller thinking budget. Tokens. */
const SMALLEST_THINKING_BUDGET = 1_024;

/** What is left for the answer itself when the maximum output had to be lowered below budget and answer. Tokens. */
const SMALLEST_ANSWER = 1_024;

type AnthropicFields = Pick<
  Anthropic.MessageCreateParamsStreaming,
  'thinking' | 'output_config' | 'stop_sequences' | 'service_tier'
> & {
  /** No longer in the SDK's types, since newer models of Anthropic refuse it; older ones and compatible servers take it. */
  temperature?: number;
};

/**
 * The agent's wishes as fields of the Messages API. What only another vendor knows is left out, since a
 * conversation may move between vendors; `check-request-options.ts` refuses it for the agent's own model. A thinking budget has to leave room for the
 * answer inside the maximum output; where no budget fits any more, none is sent. An effort beside
 * no budget lets the model decide how much to think, as Anthropic advises for models that know efforts.
 */
export function anthropicFields({ options = {}, maximumOutput }: ModelRequest): AnthropicFields {
  const { reasoningEffort, thinkingBudget, temperature, stopSequences, serviceTier, output } = options;
  const { output_config, ...thinking } = thinkingFields(reasoningEffort, thinkingBudget, maximumOutput);
  const format = output === undefined ? {} : { format: { type: 'json_schema' as const, schema: closed(output) } };
  return {
    ...thinking,
    ...(output_config === undefined && output === undefined ? {} : { output_config: { ...output_config, ...format } }),
    ...definedOf({ temperature, stop_sequences: stopSequences && [...stopSequences] }),
    ...(serviceTier === 'auto' || serviceTier === 'standard_only' ? { service_tier: serviceTier } : {}),
  };
}

function thinkingFields(
  effort: NonNullable<ModelRequest['options']>['reasoningEffort'],
  budget: number | undefined,
  maximumOutput: number,
): AnthropicFields {
  // `none` and `minimal` are OpenAI's words.
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  const output_config: AnthropicFields =
    effort === undefined ? {} : { output_config: { effort: effort === 'minimal' ? 'low' : effort } };
  if (budget === undefined) return effort === undefined ? {} : { thinking: { type: 'adaptive' }, ...output_config };
  const fitting = Math.min(budget, maximumOutput - SMALLEST_ANSWER);
  if (fitting < SMALLEST_THINKING_BUDGET) return output_config;
  return { thinking: { type: 'enabled', budget_tokens: fitting }, ...output_config };
}

/** Both vendors take only objects without free properties. */
function closed(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { additionalProperties: false, ...sendableSchema(schema) };
}

/** The form of the answer as OpenAI takes it: strict where the schema allows. */
function openAIFormat(output: Readonly<Record<string, unknown>>) {
  const schema = sendableSchema(output);
  const strict = strictSchema(schema);
  return { name: 'answer', schema: strict ?? schema, strict: strict !== null };
}

type ChatFields = Pick<
  OpenAI.ChatCompletionCreateParamsStreaming,
  'reasoning_effort' | 'temperature' | 'stop' | 'service_tier' | 'response_format'
>;

/** The agent's wishes as fields of Chat Completions. */
export function chatFields({ options = {} }: ModelRequest): ChatFields {
  const { reasoningEffort, temperature, stopSequences, serviceTier, output } = options;
  return {
    ...(output === undefined ? {} : { response_format: { type: 'json_schema', json_schema: openAIFormat(output) } }),
    ...definedOf({ reasoning_effort: reasoningEffort, temperature, stop: stopSequences && [...stopSequences] }),
    ...(serviceTier === undefined || serviceTier === 'standard_only' ? {} : { service_tier: serviceTier }),
  };
}

type ResponsesFields = Pick<
  OpenAI.Responses.ResponseCreateParamsStreaming,
  'reasoning' | 'temperature' | 'service_tier' | 'text'
>;

/**
 * The agent's wishes as fields of the Responses API, which has no stop sequences. OpenAI shows of its reasoning only a summary,
 * and that only if it is asked for it; organizations that are not verified are refused then (`call-repairs.ts`).
 *
 * @param thinking false after such a refusal
 */
export function responsesFields({ options = {} }: ModelRequest, thinking: boolean): ResponsesFields {
  const { reasoningEffort, temperature, serviceTier, output } = options;
  const summary = thinking && reasoningEffort !== 'none' ? { summary: 'auto' as const } : {};
  return {
    ...(output === undefined ? {} : { text: { format: { type: 'json_schema', ...openAIFormat(output) } } }),
    ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort, ...summary } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(serviceTier === undefined || serviceTier === 'standard_only' ? {} : { service_tier: serviceTier }),
  };
}
