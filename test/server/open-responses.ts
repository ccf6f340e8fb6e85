/** Fields that Open Responses requires, besides `type`, by the OpenAPI document of 2026-04-24 (https://www.openresponses.org). */
const REQUIRED: Readonly<Record<string, string>> = {
  response: `id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools
    tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage
    max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key`,
  'response.compaction': 'id object output created_at usage',
  usage: 'input_tokens output_tokens total_tokens input_tokens_details output_tokens_details',
  message: 'id status role content',
  reasoning: 'id summary',
  compaction: 'id encrypted_content',
  output_text: 'text annotations',
  summary_text: 'text',
  error: 'error',
  'response.created': 'response',
  'response.in_progress': 'response',
  'response.completed': 'response',
  'response.incomplete': 'response',
  'response.failed': 'response',
  'response.output_item.added': 'output_index item',
  'response.output_item.done': 'output_index item',
  'response.content_part.added': 'item_id output_index content_index part',
  'response.content_part.done': 'item_id output_index content_index part',
  'response.output_text.delta': 'item_id output_index content_index delta',
  'response.output_text.done': 'item_id output_index content_index text',
  'response.reasoning_summary_part.added': 'item_id output_index summary_index part',
  'response.reasoning_summary_part.done': 'item_id output_index summary_index part',
  'response.reasoning_summary_text.delta': 'item_id output_index summary_index delta',
  'response.reasoning_summary_text.done': 'item_id output_index summary_index text',
};

/** What a response, an event or a part of one lacks, with where; items of our own have a prefix, as the document asks for. */
export function lackingIn(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => lackingIn(each, `${place}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  const { type, object } = value as { readonly type?: string; readonly object?: string };
  const name = type ?? object ?? (place.endsWith('usage') ? 'usage' : '');
  const required = name.startsWith('holdfast:') ? 'id status' : REQUIRED[name];
  const isKnown = required !== undefined || (type === undefined && object === undefined);
  return [
    ...(isKnown || /\.(?:format|tools)/u.test(place) ? [] : [`${place}: ${name} is unknown`]),
    ...(required ?? '').split(/\s+/u).flatMap((field) => (field === '' || field in value ? [] : [`${place}.${field}`])),
    ...Object.entries(value).flatMap(([key, each]) => lackingIn(each, `${place}.${key}`)),
  ];
}
