import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { countUncached } from '../../../packages/simulator/src/core/token-counter.ts';
import { packageFacts, packageFiles, packageTask } from './support/packages.ts';
import { simulator, type TestSimulator } from './support/simulator.ts';
import { SECTIONS, SUMMARIZER, summaryOrder, type SummaryOrder } from './support/summary-prompt.ts';
import { createWorld, FILE_TOOLS, runLoop, type World } from './support/tool-loop.ts';

async function ask({ anthropic }: TestSimulator, order: SummaryOrder, maximumOutput = 3000): Promise<string> {
  return askWith(anthropic, summaryOrder(order), maximumOutput);
}

async function askWith(anthropic: Anthropic, content: string, maximumOutput = 3_000): Promise<string> {
  const answer = await anthropic.messages.create({
    model: 'sim-200k',
    max_tokens: maximumOutput,
    system: SUMMARIZER,
    messages: [{ role: 'user', content }],
  });
  expect(answer.stop_reason).toBe('end_turn');
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function headings(summary: string): string[] {
  return summary.split('\n').filter((line) => line.startsWith('#'));
}

function section(summary: string, title: string): string {
  return summary.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
}

/** Reads some files and stops: a world in the middle of its task. */
async function readSome({ anthropic }: TestSimulator, world: World, steps: number): Promise<World> {
  await runLoop({ client: anthropic, world, tools: FILE_TOOLS, model: 'sim-200k', limit: steps }).catch(
    () => undefined,
  );
  return world;
}

const facts = packageFacts(8);
const task = packageTask(facts);

describe('a summary', () => {
  test('has exactly the sections that the prompt names, also where there is nothing to say', async () => {
    const sim = await simulator();
    const summary = await ask(sim, { messages: [{ role: 'user', content: 'Hello' }] });
    expect(headings(summary)).toEqual(SECTIONS.map((title) => `## ${title}`));
    expect(section(summary, 'Decisions')).toContain('- none');
    expect(section(summary, 'Requests and Outcomes')).toContain('Hello');
  });

  test.each([
    [
      'capitals with a colon',
      'TASK: what was asked\nPROGRESS: steps\nREMAINING: what is left\nDATA: values\nDECISIONS: choices',
      ['TASK:', 'PROGRESS:', 'REMAINING:', 'DATA:', 'DECISIONS:'],
    ],
    [
      'nested headings',
      '## Goal\n## Progress\n### Done\n### In Progress\n## Next Steps\n## Critical Context',
      ['## Goal', '## Progress', '### Done', '### In Progress', '## Next Steps', '## Critical Context'],
    ],
    [
      'a numbered list',
      '1. Primary Request and Intent: all of it\n2. Key Concepts: which\n3. Pending Tasks: which',
      ['Primary Request and Intent', 'Key Concepts', 'Pending Tasks'],
    ],
  ])('takes headings in the form of %s', async (_, named, expected) => {
    const { anthropic } = await simulator();
    const content = `<conversation>\n<user>\n# Not a heading\n## Nor this\nplease\n</user>\n</conversation>\n\nSummarize the conversation with these sections:\n${named}`;
    const answer = await anthropic.messages.create({
      model: 'sim-32k',
      max_tokens: 500,
      messages: [{ role: 'user', content }],
    });
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    expect(text.split('\n').filter((line) => expected.includes(line))).toEqual(expected);
    expect(text).not.toContain('\n## Nor this\n');
  });

  test('keeps the facts asked for of each file read, the questions, and what is open', async () => {
    const sim = await simulator();
    const world = await readSome(sim, createWorld(packageFiles(facts), task), 10);
    const summary = await ask(sim, { messages: world.messages });
    const done = section(summary, 'Completed Items');
    for (const fact of facts.slice(0, 3)) {
      expect(done).toContain(`- ${fact.name}: version = "${fact.version}"; licence = "${fact.licence}"`);
      expect(done).toContain(`speed = "${fact.figure}"`);
    }
    expect(done).not.toContain('library-5:');
    expect(section(summary, 'Open Items')).toContain('library-8: packages/library-8/package.json');
    expect(section(summary, 'Requests and Outcomes')).toContain('- licence: the value of "license" in package.json');
    expect(section(summary, 'Requests and Outcomes')).toMatch(/→ in progress/);
  });

  test('fits into max_tokens and gives up the facts of the oldest items first', async () => {
    const sim = await simulator();
    const world = await readSome(sim, createWorld(packageFiles(facts), task), 24);
    const summary = await ask(sim, { messages: world.messages }, 480);
    expect(countUncached(summary)).toBeLessThanOrEqual(480);
    expect(headings(summary)).toEqual(SECTIONS.map((title) => `## ${title}`));
    expect(summary).toContain(`speed = "${facts[7]?.figure}"`);
    expect(summary).not.toContain(`speed = "${facts[0]?.figure}"`);
  });

  test('an update keeps what the previous summary knew and adds what is new', async () => {
    const sim = await simulator();
    const first = await readSome(sim, createWorld(packageFiles(facts), task), 7);
    const previous = await ask(sim, { messages: first.messages });
    const later = await readSome(sim, createWorld(packageFiles(facts), task), 15);
    const summary = await ask(sim, { previous, messages: later.messages.slice(14) });
    const done = section(summary, 'Completed Items');
    for (const fact of facts.slice(0, 5)) expect(done).toContain(`- ${fact.name}: version = "${fact.version}"`);
    expect(section(summary, 'Open Items')).not.toContain('library-3:');
    expect(section(summary, 'Open Items')).toContain('library-7:');
    expect(summary.match(/For each item, note:/g)).toHaveLength(1);
  });

  const request = 'Call read_file with {"path": "a.txt"}';

  test('lists each request once: one that stands in the context without its answer, as the summary before knew it', async () => {
    const sim = await simulator();
    const told = [
      `${request} → in progress`,
      `${request} → done: All read.`,
      'Say two → in progress',
      'Say nought → open',
    ];
    const previous = `## Requests and Outcomes\n- ${told.join('\n- ')}`;
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: request },
      { role: 'user', content: 'Say two' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: request },
      { role: 'assistant', content: 'Step 1 of 1.' },
      { role: 'user', content: 'Say three' },
    ];
    const lines = section(await ask(sim, { previous, messages }), 'Requests and Outcomes')
      .trim()
      .split('\n')
      .slice(1);
    expect(lines).toEqual([
      '- Say nought → open',
      `- ${request} → done: All read.`,
      '- Say two → done: two',
      `- ${request} → done: Step 1 of 1.`,
      '- Say three → open',
    ]);
  });

  test('of other orders, or of the same one as done, does not keep an order from being carried out', async () => {
    const { anthropic } = await simulator();
    const summaryOf = (line: string): string =>
      `[Summary of what came before]\n## Requests and Outcomes\n${line}\n## Current State\n- Step 1 of 1 was reached.`;
    const callsAfter = async (line: string): Promise<number> => {
      const messages = [summaryOf(line), request].map((content) => ({ role: 'user' as const, content }));
      const answer = await anthropic.messages.create({
        model: 'sim-200k',
        max_tokens: 500,
        tools: FILE_TOOLS,
        messages,
      });
      return answer.content.filter(({ type }) => type === 'tool_use').length;
    };
    expect(await callsAfter(`- ${request} → done: All read.`)).toBe(1);
    expect(await callsAfter('- Say two → done: two')).toBe(1);
    expect(await callsAfter(`- ${request} → in progress`)).toBe(0);
    expect(await callsAfter('- A summary without requests.')).toBe(0);
  });

  test('works on the shared prefix of the conversation, with tools offered', async () => {
    const sim = await simulator();
    const world = await readSome(sim, createWorld(packageFiles(facts), task), 6);
    const order: Anthropic.MessageParam = { role: 'user', content: summaryOrder({}) };
    const answer = await sim.anthropic.messages.create({
      model: 'sim-200k',
      max_tokens: 2000,
      system: 'You work with files.',
      tools: FILE_TOOLS,
      messages: [...world.messages, order],
    });
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    expect(answer.stop_reason).toBe('end_turn');
    expect(section(text, 'Completed Items')).toContain('- library-1: version = "0.0.1"');
  });
});
