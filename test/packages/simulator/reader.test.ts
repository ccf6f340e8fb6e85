import { expect, test } from 'vitest';
import { simulator } from './support/simulator.ts';
import { expectedRows, packageFacts, packageFiles, packageTask } from './support/packages.ts';
import {
  clearOldResults,
  createWorld,
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
