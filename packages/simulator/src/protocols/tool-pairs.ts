import type { Message } from '../core/request.ts';
import { invalidRequest } from '../core/vendor-error.ts';

function callIds(message: Message | undefined): string[] {
  return (message?.blocks ?? []).flatMap((block) => (block.kind === 'tool_call' ? [block.id] : []));
}

function resultIds(message: Message | undefined): string[] {
  return (message?.blocks ?? []).flatMap((block) => (block.kind === 'tool_result' ? [block.callId] : []));
}

/**
 * Each `tool_use` needs its `tool_result` in the next user message, and the other way round.
 * @throws VendorError as Anthropic refuses it
 */
export function checkAnthropicPairs(messages: readonly Message[]): void {
  messages.forEach((message, index) => {
    const answered = resultIds(messages[index + 1]);
    const open = callIds(message).filter((id) => !answered.includes(id));
    if (open.length > 0) {
      throw invalidRequest(
        'anthropic',
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    const asked = callIds(messages[index - 1]);
    const stray = resultIds(message).find((id) => !asked.includes(id));
    if (stray !== undefined) {
      throw invalidRequest(
        'anthropic',
        `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
  });
}

/** Chat Completions: an assistant message with tool calls is followed by a tool message for each of them. */
export function checkChatPairs(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    for (const id of resultIds(message)) {
      if (!open.includes(id)) {
        throw invalidRequest(
          'chat',
          "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
          'messages',
        );
      }
      open = open.filter((waiting) => waiting !== id);
    }
    if (resultIds(message).length === 0 && open.length > 0) throw unanswered(open);
    open.push(...callIds(message));
  }
  if (open.length > 0) throw unanswered(open);
}

function unanswered(open: readonly string[]): Error {
  return invalidRequest(
    'chat',
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    'messages',
  );
}

/** Responses: function calls and their outputs belong together by `call_id`, both ways, in any place. */
export function checkResponsesPairs(messages: readonly Message[]): void {
  const calls = messages.flatMap((message) => callIds(message));
  const results = messages.flatMap((message) => resultIds(message));
  const open = calls.find((id) => !results.includes(id));
  if (open !== undefined) throw invalidRequest('responses', `No tool output found for function call ${open}.`, 'input');
  const stray = results.find((id) => !calls.includes(id));
  if (stray !== undefined)
    throw invalidRequest('responses', `No tool call found for function call output with call_id ${stray}.`, 'input');
}
