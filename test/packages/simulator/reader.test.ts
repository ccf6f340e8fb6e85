import { expect, test } from 'vitest';
import { simulator } from './support/simulator.ts';
import { expectedRows, packageFacts, packageFiles, packageTask } from './support/packages.ts';
import {
  clearOldResults,
  clipFirstResults,
  createWorld,
  EDITING_TOOLS,
  FILE_TOOLS,
  GO_ON,
  RECALL_TOOLS,
  runLoop,
  tableOf,
} from './support/tool-loop.ts';
import type { World } from './support/tool-loop.ts';

function reads(world: { calls: readonly { name: string; input: Record<string, unknown> }[] }): string[] {
  return world.calls.filter((call) => call.name === 'read_file').map((call) => String(call.input['path']));
}

test('reads every file in order, page by page, one call an answer, and writes all facts', async () => {
  const { anthropic } = await simulator();
  const facts = packageFacts(5);
  const files = packageFiles(facts);
  const world = await runLoop({ client: anthropic, world: createWorld(files, packageTask(facts)), tools: FILE_TOOLS });
  expect([...new Set(reads(world))]).toEqual(
    facts.flatMap((fact) => [`packages/${fact.name}/package.json`, `packages/${fact.name}/README.md`]),
  );
  expect(reads(world)).toHaveLength(15);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
  expect(world.answer).toMatch(/report\.md holds 5 of 5 items/);
});

test.each([
  ['by appending', FILE_TOOLS],
  ['by edits where the write tool cannot append', EDITING_TOOLS],
])('writes a report that is larger than its answers in parts, %s', async (_, tools) => {
  const { anthropic } = await simulator();
  const facts = packageFacts(40);
  const world = await runLoop({
    client: anthropic,
    world: createWorld(packageFiles(facts, 3), packageTask(facts)),
    tools,
    model: 'sim-200k',
  });
  expect(world.calls.filter((call) => /write_file|edit_file/.test(call.name)).length).toBeGreaterThan(1);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
  expect(world.files.get('report.md')).not.toContain('More rows follow');
});

/** Lets the reader work through six packages, whose results are taken out of its context again and again; they can be recalled. */
async function readWithRecall(alsoBeforeCall: (world: World) => void = () => undefined) {
  const { anthropic } = await simulator();
  const facts = packageFacts(6);
  const world = createWorld(packageFiles(facts), packageTask(facts));
  await runLoop({
    client: anthropic,
    world,
    tools: [...FILE_TOOLS, ...RECALL_TOOLS],
    beforeCall: (each, number) => {
      if (number === 8) each.messages.splice(1, 0, { role: 'user', content: GO_ON });
      if (number % 8 === 0) clearOldResults(each, 2, 'recall');
      alsoBeforeCall(each);
    },
  });
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
  return world;
}

test('looks up by recall what its context no longer holds', async () => {
  const world = await readWithRecall();
  expect(world.calls.some((call) => call.name === 'recall_open')).toBe(true);
  expect(new Set(reads(world).filter((path) => path.endsWith('package.json'))).size).toBe(6);
});

test.each(['recall_search', 'recall_open'])('makes a %s again that lost its middle', async (name) => {
  const world = await readWithRecall((each) => clipFirstResults(each, name, 80));
  const inputs = world.calls.filter((call) => call.name === name).map(({ input }) => JSON.stringify(input));
  expect(new Set(inputs).size).toBeLessThan(inputs.length);
});

test('writes rows between its lookups, so that a context shortened again and again loses little', async () => {
  const { anthropic } = await simulator();
  const facts = packageFacts(12);
  const world = createWorld(packageFiles(facts, 3), packageTask(facts));
  await runLoop({
    client: anthropic,
    world,
    tools: [...FILE_TOOLS, ...RECALL_TOOLS],
    beforeCall: (each, number) => {
      if (number === 20) each.messages.splice(1, 0, { role: 'user', content: GO_ON });
      if (number >= 20 && number % 3 === 0) clearOldResults(each, 9, 'recall');
    },
  });
  expect(world.calls.filter((call) => call.name === 'write_file').length).toBeGreaterThan(2);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
});

test('says "unknown" for what it lost and cannot look up, and never invents', async () => {
  const { anthropic } = await simulator();
  const facts = packageFacts(6);
  const world = createWorld(packageFiles(facts), packageTask(facts));
  await runLoop({
    client: anthropic,
    world,
    tools: FILE_TOOLS,
    beforeCall: (each, number) => {
      if (number === 8) each.messages.splice(1, 0, { role: 'user', content: GO_ON });
      if (number >= 8) clearOldResults(each, 3, 'no way back');
    },
  });
  const rows = tableOf(world.files.get('report.md'));
  expect(rows).toHaveLength(6);
  expect(rows[0]).toEqual(['library-1', 'unknown', 'unknown', 'unknown', 'unknown']);
  for (const [index, row] of rows.entries()) {
    for (const [column, cell] of row.entries())
      expect(['unknown', expectedRows(facts)[index]?.[column]]).toContain(cell);
  }
});

/** Lets the reader work through packages with long READMEs. */
async function readPackages(count: number, beforeCall: NonNullable<Parameters<typeof runLoop>[0]['beforeCall']>) {
  const { anthropic } = await simulator();
  const facts = packageFacts(count);
  const world = createWorld(packageFiles(facts, 3), packageTask(facts));
  await runLoop({ client: anthropic, world, tools: FILE_TOOLS, beforeCall });
  return { world, facts };
}

test('stops early when its context was shortened and nothing tells it to go on', async () => {
  const { world, facts } = await readPackages(10, (each, number) =>
    number === 13 ? clearOldResults(each, 4, 'no way back') : undefined,
  );
  expect(tableOf(world.files.get('report.md')).map(([name]) => name)).toEqual(
    facts.slice(0, 6).map((fact) => fact.name),
  );
  expect(world.answer).toMatch(/holds 6 of 10 items, those that I read/);
});

test.each([
  ['a summary', '[Summary of the conversation so far]\n## Progress\n- Another task was done.\n[end of summary]'],
  ['a note', '[12 earlier entries were compacted away.]'],
])(
  'begins a task that came after its context was shortened to %s, although nothing tells it to go on',
  async (_, text) => {
    const { world, facts } = await readPackages(3, (each, number) => {
      if (number === 1) each.messages.unshift({ role: 'user', content: text });
    });
    expect(tableOf(world.files.get('report.md')).map(([name]) => name)).toEqual(facts.map((fact) => fact.name));
  },
);

test('lists the files first when the task names a directory', async () => {
  const { anthropic } = await simulator();
  const files = {
    'mail/1.eml': 'Subject: One\nFrom: a@example.org\n\nHello.',
    'mail/2.eml': 'Subject: Two: more\nFrom: b@example.org\n\nBye.',
  };
  const task =
    'Read all files in mail/ one by one and write report.md. For each file, note: subject (the text after "Subject:"), last (the last line).';
  const world = await runLoop({ client: anthropic, world: createWorld(files, task), tools: FILE_TOOLS });
  expect(world.calls[0]).toMatchObject({ name: 'list_files', input: { path: 'mail/' } });
  expect(tableOf(world.files.get('report.md'))).toEqual([
    ['mail/1.eml', 'One', 'Hello.'],
    ['mail/2.eml', 'Two: more', 'Bye.'],
  ]);
});

test('takes questions of a single item, a file that is missing and a value that is nowhere', async () => {
  const { anthropic } = await simulator();
  const files = { 'a.md': '# A\n\nAlpha is 12 years old.\n', 'b.md': '# B\n\nBeta has "quotes" and 1,250.5 kg.\n' };
  const task = `Read these files and write out.md:
- a.md; figure: the number after "Alpha is"
- b.md; figure: the number after "\\"quotes\\" and"
- c.md; figure: the number after "nothing"

For each file, note:
- figure: what its own line asks
- title: the first heading
- note: the text after "Note:"
- mood: how it makes you feel`;
  const world = await runLoop({ client: anthropic, world: createWorld(files, task), tools: FILE_TOOLS });
  expect(tableOf(world.files.get('out.md'))).toEqual([
    ['a.md', '12', 'A', '–', 'unknown'],
    ['b.md', '1,250.5', 'B', '–', 'unknown'],
    ['c.md', '–', '–', '–', 'unknown'],
  ]);
});

test('does not guess where text was taken out of the middle', async () => {
  const { anthropic } = await simulator();
  const facts = packageFacts(1);
  const world = createWorld(packageFiles(facts, 3), packageTask(facts));
  await runLoop({
    client: anthropic,
    world,
    tools: FILE_TOOLS,
    beforeCall: (each, number) => {
      if (number === 2) each.messages.splice(1, 0, { role: 'user', content: GO_ON });
      for (const message of each.messages) {
        for (const block of Array.isArray(message.content) ? message.content : []) {
          if (block.type !== 'tool_result' || typeof block.content !== 'string' || !block.content.includes('"version"'))
            continue;
          block.content =
            '1\t{\n2\t  "name": "library-1",\n3\t  "ver\n[Clipped: 200 characters, 90 omitted, first 40 and last 70 shown.]\n6\t  "engines": {\n7\t    "version": "9.9.9" },\n8\t  "license": "ISC" }\n[lines 1–8 of 8; end of file]';
        }
      }
    },
  });
  expect(tableOf(world.files.get('report.md'))[0]?.slice(0, 3)).toEqual(['library-1', 'unknown', 'ISC']);
});

test('carries on with its task when the user steers, and answers what comes after the report', async () => {
  const { anthropic } = await simulator();
  const facts = packageFacts(2);
  const world = createWorld(packageFiles(facts, 3), packageTask(facts));
  await runLoop({
    client: anthropic,
    world,
    tools: FILE_TOOLS,
    beforeCall: (each, number) => {
      const last = each.messages.at(-1);
      if (number === 2 && Array.isArray(last?.content))
        last.content.push({ type: 'text', text: 'Thanks, this looks good so far.' });
    },
  });
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
  world.messages.push({ role: 'user', content: 'And what is the weather like?' });
  await runLoop({ client: anthropic, world, tools: FILE_TOOLS });
  expect(world.answer).toContain('And what is the weather like?');
});
