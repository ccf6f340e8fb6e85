/** A streamed answer of Anthropic's protocol: one block of text or thinking, and why it ended. */
export function streamedAnswer(type: 'text' | 'thinking', words: string, stopReason: string): string {
  return [
    {
      type: 'message_start',
      message: {
        id: 'cut',
        type: 'message',
        role: 'assistant',
        model: 'sim-32k',
        content: [],
        usage: null,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type, [type]: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: `${type}_delta`, [type]: words } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stopReason }, usage: null },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

/** Words that end at the maximum output, before any call. */
export const CUT_ANSWER = streamedAnswer('text', 'Now I look', 'max_tokens');
