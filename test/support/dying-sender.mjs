// An application that sends a message and does nothing more: whoever started it kills it once the row is there.
const [entryPoint, databaseUrl, address, taskQueue, conversationId] = process.argv.slice(2);
const { connect } = await import(entryPoint);
const client = await connect({ databaseUrl, taskQueue, temporal: { address, namespace: 'default' } });
await client.conversation.send({ conversationId, content: 'Say found', mode: 'queue' });
setInterval(() => undefined, 60_000);
