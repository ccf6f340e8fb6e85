import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { userOfMachine } from '../../../src/client/decision-methods.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { useWorkingHarness } from '../../support/turn-harness.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { OWN_VARIABLE } from '../cli-result.ts';
import { runInProcess } from '../run-in-process.ts';
import { EXECUTABLE } from '../run-cli.ts';

let deployed: string[] = [];

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a version.',
  input: z.object({ version: z.string() }),
  effect: 'once',
  approval: () => true,
  run: ({ version }) => {
    deployed.push(version);
    return Promise.resolve({ content: `deployed ${version}` });
  },
});

const harness = useWorkingHarness({ tools: [deploy], agent: { tools: ['deploy'] } });

let end = (): void => undefined;
afterEach(() => end());

const ESCAPE = '\u001b';
const UP = `${ESCAPE}[A`;

/** The command on a terminal of its own, which `script` brings. */
function openChat(...words: string[]) {
  const inherited = Object.entries(process.env).filter(([name]) => !OWN_VARIABLE.test(name));
  const command = `stty cols 100 rows 30; exec "${process.execPath}" "${EXECUTABLE}" chat ${words.join(' ')}`;
  const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: harness.workspace,
    env: { ...Object.fromEntries(inherited), ...harness.environment, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let from = 0;
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const ended = new Promise<number | null>((resolve) => terminal.once('close', resolve));
  end = () => terminal.kill();
  return {
    ended,
    type: (keys: string) => terminal.stdin.write(keys),
    /** Waits until something is on the screen that was not there at the step before. */
    async shows(words: string | RegExp): Promise<void> {
      const isShown = (): boolean => {
        const text = stripVTControlCharacters(shown.slice(from));
        const found = typeof words === 'string' ? text.includes(words) : words.test(text);
        if (found) from = shown.length;
        return found;
      };
      await waitUntil(`the terminal shows ${words}`, isShown).catch((error: unknown) => {
        throw new Error(stripVTControlCharacters(shown), { cause: error });
      });
    },
  };
}

test('chat on a terminal takes messages of several lines and earlier ones again, sends what is typed into the running turn, decides with y and n, stops with Esc, and goes on with a conversation', async () => {
  const chat = openChat();
  await chat.shows('Ctrl-D leaves');
  chat.type('Call deploy with {"version": "1.0"}\\\r');
  chat.type('Say Not yet.\r');
  await chat.shows('then Enter, decides');
  // A message that somebody types decides nothing, whatever letters are in it.
  chat.type('Say It is deployed, is it any good?\r');
  await chat.shows(/> Say It is deployed, is it any good\?[^]*Sent\. Call \S+ still waits: y or n, then Enter\./u);
  chat.type('y\r');
  await chat.shows(/is it any good\?[^]*✓ completed[^]*> $/u);
  expect(deployed).toEqual(['1.0']);

  chat.type('Call deploy with {"version": "2.0"}\r');
  await chat.shows('then Enter, decides');
  chat.type('n\r');
  await chat.shows(/✓ completed[^]*> $/u);
  chat.type(`${UP}\r`);
  await chat.shows('then Enter, decides');
  chat.type('y\r');
  await chat.shows(/✓ completed[^]*> $/u);
  expect(deployed).toEqual(['1.0', '2.0']);
  const { items: decisions } = await harness.client.decisions.listMade();
  expect(new Set(decisions.map(({ decidedBy }) => decidedBy))).toEqual(new Set([userOfMachine()]));

  chat.type('/pin Answer briefly.\r');
  await chat.shows(/✓ completed[^]*> $/u);
  expect(await harness.client.conversation.pins({ conversationId: decisions[0]?.conversationId ?? '' })).toEqual([
    'Answer briefly.',
  ]);

  await harness.fault({ kind: 'hang', times: null });
  chat.type('Say never.\r');
  await chat.shows('calling the model');
  chat.type('/help\r');
  await chat.shows('/help is answered between turns.');
  chat.type('/pin\r');
  await chat.shows('Type `/pin <rule>`. Nothing was sent.');
  chat.type('Say also\\\r');
  chat.type('this.\r');
  await chat.shows(/> Say also\s+this\./u);
  const [{ conversationId } = { conversationId: '' }] = (await harness.client.conversation.list({ limit: 1 })).items;
  await waitUntil('it is sent', async () => {
    const { waitingMessages } = await harness.client.conversation.get({ conversationId });
    return waitingMessages === 1;
  });
  chat.type(ESCAPE);
  await chat.shows(/✗ stopped[^]*everything that had finished is kept[^]*> $/u);
  await harness.clearFaults();

  chat.type('/cost\r');
  await chat.shows('There is no /cost here.');
  chat.type('/unpin two\r');
  await chat.shows('Type `/unpin <number>`. Nothing was sent.');
  chat.type('\u0004');
  await chat.shows(/go on: npx holdfast chat [0-9a-f]{8}/u);
  expect(await chat.ended).toBe(0);

  const again = openChat('last');
  await again.shows(/Say also[^]*> $/u);
  again.type(UP);
  await again.shows('> Say also this.');
  again.type('\u0003');
  again.type('/help\r');
  await again.shows('Ctrl-C clears the line');
  again.type('\u0004');
  expect(await again.ended).toBe(0);
});

test('chat and start take an agent that only a running worker has, and refuse one that nobody has', async () => {
  const worker = await harness.startWorker({ agent: { name: 'courier' } });
  await waitUntil('it has announced itself', async () =>
    (await harness.client.models.listAgents()).includes('courier'),
  );
  const { environment } = harness;
  const started = await runInProcess(['start', 'Say hello', '--agent', 'courier'], { environment });
  expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining('completed') });
  expect((await runInProcess(['agents'], { environment })).stdout).toMatch(/^courier +of a running worker/mu);
  expect(await runInProcess(['start', 'Say hello', '--agent', 'courrier'], { environment })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"courrier"; did you mean courier? (there are: default, courier)'),
  });
  const chat = openChat('--agent', 'nobody');
  await chat.shows('nobody');
  expect(await chat.ended).toBe(2);
  worker.shutdown();
  await worker.ended;
});
