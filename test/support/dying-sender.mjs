// An application that sends a message and does nothing more: whoever started it kills it once the row is there.
const [entryPoint, databaseUrl, address, taskQueue, conversationId] = process.argv.slice(2);
const { createClient } = await import(entryPoint);
const client = await createClient({ databaseUrl, taskQueue, temporal: { address, namespace: 'default' } });
await client.sendMessage({ conversationId, content: 'Say found', mode: 'queue' });
setInterval(() => undefined, 60_000);
