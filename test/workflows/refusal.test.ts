import { expect, test } from 'vitest';
import { runInProcess } from '../cli/run-in-process.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

const harness = useWorkingHarness();

test('a model whose provider has no key ends the turn at once, says what to set, and the conversation goes on with another model', async () => {
  const refused = await harness.runTask('Say hello.', { model: 'anthropic/claude-sonnet-4-5' });
  expect(refused).toMatchObject({ outcome: 'model_failed', reason: 'provider_key_missing', steps: 0, modelCalls: 0 });
  expect(refused.explanation).toContain('ANTHROPIC_API_KEY');
  const { conversationId } = refused;
  const { items: entries } = await harness.client.log.entries({ conversationId });
  expect(entries.map(({ kind }) => kind)).toEqual(['user']);
  await harness.database`update conversations set model = null where id = ${conversationId}`;
  const mended = await harness.runTask('Say The key is there.', { conversationId });
  expect(mended).toMatchObject({ outcome: 'completed' });
});

test.each<[{ agent?: string; preset?: string; model?: string }, { outcome: string; reason: string }]>([
  [{ agent: 'nobody' }, { outcome: 'interrupted', reason: 'agent_unknown' }],
  [{ preset: 'nothing' }, { outcome: 'interrupted', reason: 'preset_unknown' }],
  [{ model: 'nowhere/model' }, { outcome: 'model_failed', reason: 'provider_unknown' }],
])('%j, which the worker does not know, ends the turn with its reason', async (asked, expected) => {
  const sent = await harness.client.start('Say hello.', { ...asked });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject(expected);
  const { agent } = await harness.client.conversation.get({ conversationId: sent.conversationId });
  expect(agent).toBe(asked.agent ?? 'default');
});

test('a command for a conversation whose model cannot be asked ends too', async () => {
  const { conversationId } = await harness.runTask('Say hello.');
  await harness.database`update conversations set model = 'anthropic/claude-sonnet-4-5' where id = ${conversationId}`;
  const asked = await harness.client.conversation.compact({ conversationId });
  const turn = await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'model_failed', reason: 'provider_key_missing' });
});

test('start shows the reason and ends with exit code 1', async () => {
  const { code, stdout } = await runInProcess(['start', 'Say hello.', '--model', 'anthropic/claude-sonnet-4-5'], {
    environment: { ...harness.environment, ANTHROPIC_API_KEY: 'only-the-client-has-it' },
  });
  expect(code).toBe(1);
  expect(stdout).toContain('The worker has no key');
});
