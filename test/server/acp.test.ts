import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { client, methods } from '@agentclientprotocol/sdk';
import type { ClientContext, RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { createAcpAgent } from '../../src/server/acp/acp-agent.ts';
import { EXECUTABLE } from '../cli/run-cli.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openAcpx, said } from './acpx.ts';

const harness = useWorkingHarness({
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
  readonly close: () => void;
}

/** The official SDK's client, connected to an agent of this process. @param answer to what it is asked; `null`: none */
async function openEditor(answer: string | null, holdfast: Holdfast = harness.client): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const configuration = loadConfiguration({ directory: harness.workspace, environment: {} });
  const app = createAcpAgent({ client: holdfast, configuration, version: '0.0.0' });
  const editor = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      if (answer === null) return new Promise(() => undefined);
      return { outcome: { outcome: 'selected', optionId: answer } };
    });
  const connection = editor.connect(app);
  onTestFinished(() => connection.close());
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { session: { compaction: {} } },
  });
  return {
    agent: connection.agent,
    updates,
    asked,
    said: (kind) => said(updates, kind),
    close: () => connection.close(),
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
  expect(await prompt(editor, sessionId, 'Call ask_user with {"question": "Which?"}\nSay thanks')).toBe('end_turn');
  expect(editor.said('agent_message_chunk')).toMatch(/Which\?$/);
  expect(await prompt(editor, sessionId, 'the blue one')).toBe('end_turn');
  expect(editor.updates).toContainEqual(expect.objectContaining({ rawOutput: 'the blue one', status: 'completed' }));
  expect(editor.said('agent_message_chunk')).toMatch(/thanks$/);
});

test('a denied call does not run; a cancel stops the turn and ends all prompts of it', async () => {
  const editor = await openEditor('deny');
  const sessionId = await newSession(editor);
  const denied = 'Call write_file with {"path": "no.txt", "content": "x"}\nSay ok';
  expect(await prompt(editor, sessionId, denied)).toBe('end_turn');
  expect(await readdir(harness.workspace)).not.toContain('no.txt');
  const first = prompt(editor, sessionId, 'Call run_command with {"command": "sleep 60"}');
  await waitUntil('the command runs', async () =>
    editor.updates.some((update) => 'rawInput' in update && JSON.stringify(update.rawInput).includes('sleep 60')),
  );
  const second = prompt(editor, sessionId, 'Say more');
  await waitUntil('the second message is stored', async () => {
    const { waitingMessages } = await harness.client.conversation.get({ conversationId: sessionId });
    return waitingMessages === 1;
  });
  await editor.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await Promise.all([first, second])).toEqual(['cancelled', 'cancelled']);
});

test('an answer that cannot be stored is told, and the editor is asked again', async () => {
  const url = new URL(harness.environment['DATABASE_URL'] ?? '');
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const standby = await connect({
    databaseUrl: url.href,
    temporal: { address: harness.temporalAddress, namespace: 'default' },
  });
  onTestFinished(() => standby.close());
  const { conversationId: sessionId } = await harness.client.start(
    'Call write_file with {"path": "b", "content": "x"}',
  );
  await waitUntil('the call waits', async () => {
    const { waitingCalls } = await harness.client.conversation.get({ conversationId: sessionId });
    return waitingCalls.length === 1;
  });
  const editor = await openEditor('approve', standby);
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  await waitUntil('it was asked again', async () => editor.asked.length === 3);
  expect(editor.said('agent_message_chunk')).toContain('[database_read_only]');
  await harness.client.conversation.stop({ conversationId: sessionId });
});

test('a session that is loaded again answers its open prompt, and the turn goes on', async () => {
  const editor = await openEditor('approve');
  const sessionId = await newSession(editor);
  const task = 'Call run_command with {"command": "until [ -e on ]; do sleep 0.1; done"}\nSay arrived';
  const open = prompt(editor, sessionId, task);
  await waitUntil('the command runs', async () => editor.updates.some((update) => 'rawInput' in update));
  const again = { sessionId, cwd: harness.workspace, mcpServers: [] };
  await editor.agent.request(methods.agent.session.load, again);
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
  expect(items.flatMap(({ kind, content }) => (kind === 'user' ? [textOf(content)] : []))).toEqual([
    'Say heron',
    'Say crane',
  ]);
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
    { status: 'completed', summary: [{ type: 'text', text: expect.stringContaining('heron') }] },
  ]);
  const later = await openEditor('approve');
  await later.agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect(told(later)).toEqual([told(editor)[1]]);
});

test('an agent and a model are chosen before the first prompt, and a wrong request has a code', async () => {
  await writeFile(join(harness.workspace, 'holdfast.yaml'), 'agents: { default: {}, other: {} }');
  const editor = await openEditor('approve');
  const { agent } = editor;
  const { sessionId, modes, configOptions } = await agent.request(methods.agent.session.new, {
    cwd: harness.workspace,
    mcpServers: [],
  });
  expect(modes?.availableModes.map(({ id }) => id)).toEqual(['default', 'other']);
  expect(configOptions?.map(({ id }) => id)).toEqual(['model', 'preset']);
  const chosen = await agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: 'preset',
    value: 'pi',
  });
  expect(chosen.configOptions[1]).toMatchObject({ currentValue: 'pi' });
  const wrong = agent.request(methods.agent.session.setMode, { sessionId, modeId: 'none' });
  await expect(wrong).rejects.toMatchObject({ data: { code: 'invalid_argument' } });
  await prompt(editor, sessionId, 'Say hi');
  const late = agent.request(methods.agent.session.setMode, { sessionId, modeId: 'other' });
  await expect(late).rejects.toMatchObject({ data: { code: 'invalid_argument' } });
  const loaded = await agent.request(methods.agent.session.load, { sessionId, cwd: harness.workspace, mcpServers: [] });
  expect(loaded.configOptions).toMatchObject([{ id: 'model' }, { id: 'preset', currentValue: 'pi' }]);
  await expect(prompt(editor, 'nobody', 'Say hi')).rejects.toMatchObject({ data: { code: 'session_not_open' } });
  const unknown = { sessionId: '01890a5d-ac96-774b-bcce-b302099a8057', cwd: '/', mcpServers: [] };
  await expect(agent.request(methods.agent.session.load, unknown)).rejects.toMatchObject({
    data: { code: 'conversation_not_found' },
  });
  await expect(agent.request('no/such')).rejects.toMatchObject({ code: -32_601 });
});

test('holdfast acp answers half lines, no messages and a wrong order with a code, and ends at a line of 33 MB', async () => {
  const { PATH, HOME, HOLDFAST_RUN } = process.env;
  const child = spawn(process.execPath, [EXECUTABLE, 'acp'], {
    cwd: harness.workspace,
    env: { PATH, HOME, HOLDFAST_RUN, ...harness.environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? '');
  child.stdin.write('not JSON\n{"jsonrpc":"2.0","id":1\n[]\n');
  child.stdin.write(Buffer.from([0xff, 0xfe, 0x22, 0x0a]));
  for (const code of [-32_700, -32_700, -32_600, -32_700]) expect(await answer()).toMatchObject({ error: { code } });
  const send = (id: number, method: string, params = {}): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  };
  send(1, 'session/new', { cwd: '/', mcpServers: [] });
  expect(await answer()).toMatchObject({ id: 1, error: { code: -32_600 } });
  send(2, 'initialize', { protocolVersion: 1 });
  expect(await answer()).toMatchObject({ id: 2, result: { agentInfo: { name: 'holdfast' } } });
  send(3, 'no/such');
  expect(await answer()).toMatchObject({ id: 3, error: { code: -32_601 } });
  let remarks = '';
  child.stderr.on('data', (chunk: Buffer) => (remarks += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.write('x'.repeat(33 * 1024 * 1024));
  const [code] = await once(child, 'exit');
  expect([code, remarks]).toEqual([0, expect.stringContaining('the editor is disconnected, and the turns go on')]);
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
  const endless = acpx.prompt('Call run_command with {"command": "touch endless; sleep 60"}');
  await waitUntil('the command runs', async () => (await readdir(cwd)).includes('endless'));
  await acpx.cancel();
  await endless;
  expect(await newest()).toMatchObject({ conversationId: sessionId, turn: { outcome: 'stopped' } });
});
