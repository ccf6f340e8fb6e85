import { expect, test } from 'vitest';
import { timelineEvent } from '../cli/render/timeline.ts';
import { noticeWords } from '../../src/cli/render/turn/notice-words.ts';
import { createBuiltInTools } from '../../src/tools/builtin/built-in-tools.ts';
import { createToolRegistry } from '../../src/tools/runtime/registry.ts';
import { createSnapshotSource } from '../../src/worker/agent-snapshots.ts';
import { load } from '../config/support/written-configuration.ts';

const SETTINGS = { model: null, preset: null, workspace: null, user: null };
const AGENT = 'agents: { default: { model: local/new, fallbacks: [local/other] } }';
const PROVIDER = 'providers: { local: { protocol: chat, baseUrl: http://127.0.0.1:1 } }';

test('a snapshot names the models whose window nobody knows, and a person is told how to set it', async () => {
  const tools = createToolRegistry(createBuiltInTools({ environment: {}, secrets: [] }));
  const unknown = createSnapshotSource(await load(`${AGENT}\n${PROVIDER}`), tools);
  const { assumedWindows = [], modelLimits } = await unknown('default', SETTINGS, 'a conversation');
  expect(assumedWindows).toEqual([
    { model: 'local/new', window: modelLimits.window },
    { model: 'local/other', window: modelLimits.window },
  ]);
  expect(noticeWords(timelineEvent('model_window_assumed', { ...assumedWindows[0] }))).toEqual({
    level: 'warning',
    text: 'The window of local/new is not known: 128,000 tokens are assumed. Set "window" of this model under "models" in holdfast.yaml.',
  });
  const models = 'models: { local/new: { window: 32000 }, local/other: { window: 16000 } }';
  const known = createSnapshotSource(await load(`${AGENT}\n${PROVIDER}\n${models}`), tools);
  expect(await known('default', SETTINGS, 'a conversation')).not.toHaveProperty('assumedWindows');
});
