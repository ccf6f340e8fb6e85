/** Words that end at the maximum output, before any call. */
export const CUT_ANSWER = [
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
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Now I look' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: null },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
