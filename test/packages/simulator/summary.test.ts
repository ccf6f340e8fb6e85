import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { countUncached } from '../../../packages/simulator/src/core/token-counter.ts';
import { expectedRows, packageFacts, packageFiles, packageTask } from './support/packages.ts';
import { simulator, type TestSimulator } from './support/simulator.ts';
import { compacted, SECTIONS, SUMMARIZER, summaryOrder, type SummaryOrder } from './support/summary-prompt.ts';
import { createWorld, FILE_TOOLS, runLoop, tableOf, type World } from './support/tool-loop.ts';

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

/** A call of a tool, and its result. A file that is not there is an error. */
function exchange(
  id: string,
  call: { readonly name: string; readonly input: object },
  result: string,
): Anthropic.MessageParam[] {
  const isError = result.endsWith('does not exist.');
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, ...call }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result, is_error: isError }] },
  ];
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

  test('says nothing of the rows of a report when the transcript shows its writes cut off', async () => {
    const { anthropic } = await simulator();
    const write = {
      name: 'write_file',
      input: { path: 'report.md', content: '# Report\n\n| item |\n| --- |\n| library-1 |\n' },
    };
    const order = summaryOrder({
      messages: [
        { role: 'user', content: task },
        ...exchange('toolu_looked', { name: 'read_file', input: { path: 'report.md' } }, 'report.md does not exist.'),
        ...exchange('toolu_wrote', write, 'report.md created: 5 lines, 44 bytes.'),
      ],
    });
    const whole = await askWith(anthropic, order);
    expect(whole).toContain('- rows in report.md: library-1');
    const cut = await askWith(
      anthropic,
      order.replace(/# Report.*library-1 \|/u, '# Rep\n[… 36 characters left out …]\n|'),
    );
    expect(cut).not.toContain('rows in report.md');
  });

  test('takes no appended line of an earlier summary for an item of the task', async () => {
    const sim = await simulator();
    const world = await readSome(sim, createWorld(packageFiles(facts), task), 7);
    const previous = `${await ask(sim, { messages: world.messages })}\n\n## Kept From the Originals\n- File: packages/library-1/package.json\n- Identifier: a/b.c`;
    const open = section(await ask(sim, { previous }), 'Open Items');
    expect(open).toContain('library-8:');
    expect(open).not.toMatch(/File|Identifier/);
  });

  test('a merge puts parts together, also of a part that did not see the task', async () => {
    const sim = await simulator();
    const world = await readSome(sim, createWorld(packageFiles(facts), task), 12);
    const first = await ask(sim, { messages: world.messages.slice(0, 13) });
    const second = await ask(sim, {
      messages: world.messages.slice(13),
      instructions: task.slice(task.indexOf('For each package')),
    });
    expect(second).toContain('packages/library-3/package.json: version = ');
    const merged = await ask(sim, { parts: [first, second] });
    const done = section(merged, 'Completed Items');
    for (const fact of facts.slice(0, 4)) expect(done).toContain(`- ${fact.name}: version = "${fact.version}"`);
    expect(done).toContain(`speed = "${facts[2]?.figure}"`);
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

  test('records requests with outcomes, failures and values of a conversation without a list', async () => {
    const sim = await simulator();
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'Find the order of Keeta.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find_order', input: { name: 'Keeta' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'order: KT-9284 delivered 2:43' }] },
      { role: 'assistant', content: 'It is order KT-9284.' },
      { role: 'user', content: 'We always ship on Mondays. Now book it.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'book', input: { id: 'KT-9284' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'b', content: 'Fatal error: the booking service said 503' }],
      },
    ];
    const summary = await ask(sim, { messages, sections: [...SECTIONS, 'Errors'] });
    expect(section(summary, 'Requests and Outcomes')).toContain(
      '- Find the order of Keeta. → done: It is order KT-9284.',
    );
    expect(section(summary, 'Requests and Outcomes')).toContain('Now book it. → in progress');
    expect(section(summary, 'Facts and Values')).toContain('KT-9284 delivered 2:43');
    expect(section(summary, 'Errors')).toContain('503');
    expect(section(summary, 'Decisions')).toContain('We always ship on Mondays.');
  });
});

describe('the reader after a summary', () => {
  test('goes on where it was, reads nothing twice and reports all facts', async () => {
    const sim = await simulator();
    const world = createWorld(packageFiles(facts), task);
    let passes = 0;
    await runLoop({
      client: sim.anthropic,
      world,
      tools: FILE_TOOLS,
      beforeCall: async (each) => {
        if (each.messages.length < 14) return;
        passes += 1;
        const old = each.messages.slice(0, -4);
        const before = old[0]?.content;
        const known = Array.isArray(before) && before[0]?.type === 'text' ? before[0].text : undefined;
        const previous = known?.slice(known.indexOf('## '), known.indexOf('[End of summary]'));
        const rest = previous === undefined ? old : old.slice(1);
        const summary = await ask(sim, { ...(previous === undefined ? {} : { previous }), messages: rest });
        compacted(each, summary, task, 4);
      },
    });
    expect(passes).toBeGreaterThan(2);
    const pages = world.calls.filter((call) => call.name === 'read_file').map((call) => JSON.stringify(call.input));
    expect(new Set(pages).size).toBe(pages.length);
    expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
  });

  test('goes on after the newest file it sees when a summary says nothing, and reports that as unknown', async () => {
    const sim = await simulator();
    const world = createWorld(packageFiles(facts, 3), task);
    await runLoop({
      client: sim.anthropic,
      world,
      tools: FILE_TOOLS,
      beforeCall: (each, number) => (number === 9 ? compacted(each, 'Nothing is known.', task, 4) : undefined),
    });
    const rows = tableOf(world.files.get('report.md'));
    expect(rows[0]).toEqual(['library-1', 'unknown', 'unknown', 'unknown', 'unknown']);
    expect(rows.slice(4)).toEqual(expectedRows(facts).slice(4));
    expect(world.calls.filter((call) => call.input['path'] === 'packages/library-1/package.json')).toHaveLength(1);
  });
});

test('a script finds its place again after a summary', async () => {
  const sim = await simulator();
  const script = 'Call list_files with {"path": "$index"} 12 times, one by one';
  const world = createWorld({}, script);
  await runLoop({
    client: sim.anthropic,
    world,
    tools: FILE_TOOLS,
    beforeCall: async (each, number) => {
      if (number === 6) compacted(each, await ask(sim, { messages: each.messages.slice(0, -2) }), script, 2);
      if (number === 9) compacted(each, await ask(sim, { messages: each.messages }), script, 0 + 2);
    },
  });
  expect(world.calls.map((call) => call.input['path'])).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  expect(world.answer).toMatch(/^Done:/);
});
