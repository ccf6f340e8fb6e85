/** Reads an event stream until the signal, or until the server ends it. */
export async function followEvents(
  url: string,
  {
    signal,
    receive,
    headers = {},
  }: {
    readonly signal: AbortSignal;
    readonly receive: (block: string) => void;
    readonly headers?: Record<string, string>;
  },
): Promise<void> {
  try {
    const response = await fetch(url, { signal, headers });
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    let rest = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = `${rest}${chunk}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) receive(block);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
