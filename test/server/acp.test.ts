import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { client, methods } from '@agentclientprotocol/sdk';
import type { ClientContext, RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { withAgents } from '../../src/config/configuration.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { createAcpAgent } from '../../src/server/acp/acp-agent.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openAcpx, said } from './acpx.ts';

const THINKING = 'simulator/sim-32k-thinking';

const harness = useWorkingHarness({
  configurationFile: `agents: { other: { model: ${THINKING} } }`,
  agent: {
    tools: ['write_file', 'edit_file', 'update_plan', 'ask_user', 'run_command'],
    allowCommands: true,
    approvals: { rules: ['write_file'] },
    policy: { keep: { tail: { tokens: 50 } } },
  },
});

interface Editor {
  readonly agent: ClientContext;
  /** What it was told, by kind: texts joined. */
  readonly said: (kind: SessionUpdate['sessionUpdate']) => string;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
}

/** The official SDK's client, connected to an agent of this process. @param answer to what it is asked */
async function openEditor(
  answer: string | Promise<string>,
  { agents = [], session = { compaction: {} } }: { agents?: readonly string[]; session?: object } = {},
): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const configuration = loadConfiguration({ directory: harness.workspace, environment: {} });
  const configured = withAgents(
    configuration,
    agents.map((name) => defineAgent({ name, model: THINKING })),
  );
  const app = createAcpAgent({ client: harness.client, configuration: configured, version: '0.0.0' });
  const editor = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: 'selected', optionId: await answer } };
    });
  const connection = editor.connect(app);
  onTestFinished(() => connection.close());
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { session },
  });
  return {
    agent: connection.agent,
    updates,
    asked,
    said: (kind) => said(updates, kind),
  };
}

async function newSession({ agent }: Editor): Promise<string> {
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: harness.workspace, mcpServers: [] });
  return sessionId;
}

async function prompt({ agent }: Editor, sessionId: string, text: string): Promise<string> {
  const { stopReason } = await agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text }],
  });
  return stopReason;
}

test('an editor starts a task, sees text, plan, calls with diffs and usage, and approves', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  const task = [
    'Call write_file with {"path": "a.txt", "content": "hello"}',
    'Call update_plan with {"items": [{"text": "greet", "state": "done"}]}',
    'Call edit_file with {"path": "a.txt", "old_text": "hello", "new_text": "goodbye"}',
    'Say all done',
  ].join('\n');
  expect(await prompt(editor, sessionId, task)).toBe('end_turn');
  expect(await readFile(join(harness.workspace, 'a.txt'), 'utf8')).toBe('goodbye');
  const path = join(harness.workspace, 'a.txt');
  expect(editor.asked).toMatchObject([
    { sessionId, toolCall: { title: 'write_file a.txt', kind: 'edit', content: [{ type: 'diff', path }] } },
  ]);
  const toldOf = (kind: string) => editor.updates.filter(({ sessionUpdate }) => sessionUpdate === kind);
  expect(toldOf('tool_call')).toMatchObject([
    { title: 'write_file a.txt', locations: [{ path }], content: [{ newText: 'hello' }] },
    { title: 'update_plan', kind: 'think' },
    { title: 'edit_file a.txt', content: [{ oldText: 'hello', newText: 'goodbye' }] },
  ]);
  expect(toldOf('tool_call_update').map((update) => 'status' in update && update.status)).toEqual(
    Array.from({ length: 3 }, () => 'completed'),
  );
  expect(toldOf('plan')).toMatchObject([{ entries: [{ content: 'greet', status: 'completed' }] }]);
  expect(toldOf('usage_update').at(-1)).toMatchObject({ size: 32_768 });
  expect(editor.said('agent_message_chunk')).toMatch(/all done$/);
  // What the editor sent it shows itself.
  expect(editor.said('user_message_chunk')).toBe('');
});

test('a question ends the prompt, and the next prompt answers it', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  const task = 'Call ask_user with {"question": "Which?"} and ask_user with {"question": "How many?"}\nSay thanks';
  expect(await prompt(editor, sessionId, task)).toBe('end_turn');
  expect(editor.said('agent_message_chunk')).toContain('Which?');
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect(editor.said('agent_message_chunk').match(/Which\?/g)).toHaveLength(2);
  expect(await prompt(editor, sessionId, 'the blue one')).toBe('end_turn');
  expect(editor.said('agent_message_chunk')).toMatch(/How many\?$/);
  expect(await prompt(editor, sessionId, 'two')).toBe('end_turn');
  expect(editor.updates).toContainEqual(expect.objectContaining({ rawOutput: 'two', status: 'completed' }));
  expect(editor.updates).toContainEqual(expect.objectContaining({ rawOutput: 'the blue one', status: 'completed' }));
  expect(editor.said('agent_message_chunk')).toMatch(/thanks$/);
});

test('a denied call does not run; a cancel stops the turn and ends all prompts of it', async () => {
  const editor = await openEditor('deny');
  const sessionId = await newSession(editor);
  const denied = 'Call write_file with {"path": "no.txt", "content": "x"}\nSay ok';
  expect(await prompt(editor, sessionId, denied)).toBe('end_turn');
  expect(await readdir(harness.workspace)).not.toContain('no.txt');
  const first = prompt(editor, sessionId, 'Call run_command with {"command": "sleep 300"}');
  await waitUntil('the command runs', async () =>
    editor.updates.some((update) => 'rawInput' in update && JSON.stringify(update.rawInput).includes('sleep 300')),
  );
  const second = prompt(editor, sessionId, 'Say more');
  await waitUntil('the second message is stored', async () => {
    const { waitingMessages } = await harness.client.conversation.get({ conversationId: sessionId });
    return waitingMessages === 1;
  });
  await editor.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await Promise.all([first, second])).toEqual(['cancelled', 'cancelled']);
});

test('a prompt that no worker has the agent for says so, and its cancel is answered', async () => {
  const editor = await openEditor('approve', { agents: ['unserved'] });
  const sessionId = await newSession(editor);
  await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'unserved' });
  const open = prompt(editor, sessionId, 'Say heron');
  await waitUntil('the wait is told', async () => editor.said('agent_thought_chunk') !== '');
  expect(editor.said('agent_thought_chunk')).toContain('No worker has the agent unserved so far.');
  await editor.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await open).toBe('cancelled');
});

test('a session that is loaded again answers its open prompt, and the turn goes on', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  const task = 'Call run_command with {"command": "until [ -e on ]; do sleep 0.1; done"}\nSay arrived';
  const open = prompt(editor, sessionId, task);
  await waitUntil('the command runs', async () => editor.updates.some((update) => 'rawInput' in update));
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect(await open).toBe('cancelled');
  await writeFile(join(harness.workspace, 'on'), '');
  await waitUntil('the turn has ended', async () => editor.said('agent_message_chunk').endsWith('arrived'));
});

test('two first prompts at once begin one conversation, and both end', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  const prompts = ['Say heron', 'Say crane'].map((text) => prompt(editor, sessionId, text));
  expect(await Promise.all(prompts)).toEqual(['end_turn', 'end_turn']);
  const { items } = await harness.client.log.entries({ conversationId: sessionId });
  const texts = items.flatMap(({ kind, content }) => (kind === 'user' ? [textOf(content)] : []));
  expect(texts).toEqual(['Say heron', 'Say crane']);
});

test('a compaction is told with its summary, live and when the session is loaded', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  for (const word of ['heron', 'crane', 'stork']) await prompt(editor, sessionId, `Say ${`${word} `.repeat(1_000)}`);
  const { messageId } = await harness.client.conversation.compact({ conversationId: sessionId });
  await harness.client.conversation.outcome({ conversationId: sessionId, messageId });
  const told = (of: Editor) => of.updates.filter(({ sessionUpdate }) => sessionUpdate === 'compaction_update');
  await waitUntil('the compaction is told', async () => told(editor).length === 2);
  expect(told(editor)).toMatchObject([
    { status: 'in_progress' },
    { status: 'completed', summary: [{ type: 'text', text: expect.stringContaining('crane') }] },
  ]);
  const later = await openEditor('approve');
  await later.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect(told(later)).toEqual([told(editor)[1]]);
  const plain = await openEditor('approve', { session: {} });
  await plain.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect([told(plain), plain.said('agent_thought_chunk')]).toEqual([
    [],
    expect.stringMatching(/^The context was compacted from [\d,]+ to [\d,]+ tokens\.\n$/),
  ]);
});

test('a mode is an agent, options are model and preset; a session that is resumed shows what comes, thinking too', async () => {
  const editor = await openEditor('approve');
  const { agent } = editor;
  const cwd = harness.workspace;
  const first = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  expect(first.modes).toEqual({
    currentModeId: 'default',
    availableModes: ['default', 'other'].map((id) => ({ id, name: id })),
  });
  expect(first.configOptions?.map(({ id }) => id)).toEqual(['model', 'preset']);
  await agent.request(methods.agent.session.setMode, { sessionId: first.sessionId, modeId: 'other' });
  await prompt(editor, first.sessionId, 'Say hi');
  expect(await harness.client.conversation.get({ conversationId: first.sessionId })).toMatchObject({ agent: 'other' });
  expect(editor.said('agent_thought_chunk')).toBe('The user wants an answer, and I have what it takes for it.');
  const sessionId = await newSession(editor);
  const choose = async (configId: string, value: string) =>
    agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  await choose('model', THINKING);
  const options = [
    { id: 'model', currentValue: THINKING },
    { id: 'preset', currentValue: 'pi' },
  ];
  expect((await choose('preset', 'pi')).configOptions).toMatchObject(options);
  await prompt(editor, sessionId, 'Say hi');
  const chosen = { agent: 'default', model: THINKING, turn: { preset: 'pi' } };
  expect(await harness.client.conversation.get({ conversationId: sessionId })).toMatchObject(chosen);
  const later = await openEditor('approve');
  const resumed = await later.agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  expect([resumed.configOptions, later.updates]).toMatchObject([options, []]);
  await prompt(later, sessionId, 'Say more');
  expect(later.said('agent_thought_chunk')).toMatch(/^The user wants/);
  expect([later.said('agent_message_chunk'), editor.said('agent_message_chunk')]).toEqual(['more', 'hihimore']);
});

test('a wrong request has a code', async () => {
  const editor = await openEditor('approve');
  const { agent } = editor;
  const sessionId = await newSession(editor);
  const setMode = async (modeId: string) => agent.request(methods.agent.session.setMode, { sessionId, modeId });
  await expect(setMode('none')).rejects.toMatchObject({ data: { code: 'invalid_argument' } });
  await prompt(editor, sessionId, 'Say hi');
  await expect(setMode('default')).rejects.toMatchObject({ data: { code: 'invalid_argument' } });
  await expect(prompt(editor, 'nobody', 'Say hi')).rejects.toMatchObject({ data: { code: 'session_not_open' } });
  const unknown = { sessionId: '01890a5d-ac96-774b-bcce-b302099a8057', cwd: '/', mcpServers: [] };
  await expect(agent.request(methods.agent.session.load, unknown)).rejects.toMatchObject({
    data: { code: 'conversation_not_found' },
  });
  await expect(agent.request('no/such')).rejects.toMatchObject({ code: -32_601 });
});

test('an answer for a call that was decided elsewhere changes nothing', async () => {
  let answer = (_option: string): void => undefined;
  const editor = await openEditor(new Promise((resolve) => (answer = resolve)));
  const sessionId = await newSession(editor);
  const open = prompt(editor, sessionId, 'Call write_file with {"path": "gone.txt", "content": "x"}\nSay ok');
  await waitUntil('the editor is asked', () => editor.asked.length === 1);
  await harness.client.decisions.deny({ conversationId: sessionId });
  answer('approve');
  expect(await open).toBe('end_turn');
  expect(await readdir(harness.workspace)).not.toContain('gone.txt');
  expect(editor.said('agent_message_chunk')).toMatch(/ok$/);
});

test('with acpx and its agent killed the turn goes on; both go on with it, and acpx stops a turn', async () => {
  const acpx = await openAcpx(harness);
  const newest = async () => (await harness.client.conversation.list()).items[0];
  const cwd = harness.workspace;
  const task =
    'Call run_command with {"command": "touch begun; until [ -e go ]; do sleep 0.1; done"}\nCall write_file with {"path": "late.txt", "content": "x"}\nSay at last';
  const left = acpx.prompt(task);
  await waitUntil('the command runs', async () => (await readdir(cwd)).includes('begun'));
  await acpx.kill();
  expect(said(await left, 'agent_message_chunk')).not.toContain('at last');
  await writeFile(join(cwd, 'go'), '');
  const sessionId = (await newest())?.conversationId ?? '';
  await waitUntil('the call waits', async () => {
    const { waitingCalls } = await harness.client.conversation.get({ conversationId: sessionId });
    return waitingCalls.length === 1;
  });
  const editor = await openEditor('approve');
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  expect(editor.said('user_message_chunk')).toBe(task);
  await waitUntil('the turn has ended', async () => editor.said('agent_message_chunk').endsWith('at last'));
  expect(editor.asked).toMatchObject([{ toolCall: { title: 'write_file late.txt' } }]);
  const updates = await acpx.prompt('Call write_file with {"path": "more.txt", "content": "x"}\nSay again');
  expect(said(updates, 'agent_message_chunk')).toMatch(/again$/);
  const endless = acpx.prompt('Call run_command with {"command": "touch endless; sleep 300"}');
  await waitUntil('the command runs', async () => (await readdir(cwd)).includes('endless'));
  await acpx.cancel();
  await endless;
  // A cancel that takes long is answered before the turn has ended.
  await expect.poll(newest).toMatchObject({ conversationId: sessionId, turn: { outcome: 'stopped' } });
});
