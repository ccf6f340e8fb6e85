import type { ContentBlockParam, ToolUseBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { expect, test } from 'vitest';
import { simulator } from './support/simulator.ts';
import { expectedRows, packageFacts, packageFiles, packageTask, summaryOf } from './support/packages.ts';
import { createWorld, FILE_TOOLS, GO_ON, runLoop, tableOf } from './support/tool-loop.ts';

/** A task that writes a report, and what runs it to its end. */
async function openReport() {
  const { anthropic } = await simulator();
  const facts = packageFacts(40);
  const world = createWorld(packageFiles(facts, 3), packageTask(facts));
  const run = (how: Pick<Parameters<typeof runLoop>[0], 'model' | 'beforeCall'>) =>
    runLoop({ ...how, client: anthropic, world, tools: FILE_TOOLS });
  return { facts, world, run };
}

test('looks into the report when it cannot know whether its last write was made', async () => {
  const { facts, world, run } = await openReport();
  let failed = false;
  await run({
    model: 'sim-200k',
    beforeCall: (each) => {
      const last = each.messages.at(-1);
      const result = Array.isArray(last?.content) ? last.content[0] : undefined;
      if (failed || result?.type !== 'tool_result' || result.content !== 'report.md written.') return;
      failed = true;
      result.is_error = true;
      result.content = 'The call was interrupted; its outcome is unknown.';
    },
  });
  expect(failed).toBe(true);
  expect(world.calls.some((call) => call.name === 'read_file' && call.input['path'] === 'report.md')).toBe(true);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
});

test('looks into the report before it adds rows when only a summary tells which are written', async () => {
  const { facts, world, run } = await openReport();
  let compacted = false;
  await run({
    model: 'sim-200k',
    beforeCall: (each) => {
      if (compacted || !world.files.has('report.md')) return;
      compacted = true;
      // The summary was made before the last rows were written.
      const summary = summaryOf(facts, '- rows in report.md: library-1, library-2');
      each.messages.splice(
        1,
        each.messages.length - 1,
        { role: 'user', content: summary },
        { role: 'user', content: GO_ON },
      );
    },
  });
  expect(compacted).toBe(true);
  expect(world.calls.filter((call) => call.name === 'read_file' && call.input['path'] === 'report.md')).toHaveLength(1);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
});

test('looks into the report when a write of it was clipped so far that not even its path is left', async () => {
  const { facts, world, run } = await openReport();
  let compacted = false;
  await run({
    model: 'sim-32k',
    beforeCall: (each) => {
      const writes = each.messages.slice(-4);
      const first = writes.flatMap(({ content }) => (typeof content === 'string' ? [] : content)).find(isWrite);
      if (compacted || first === undefined) return;
      compacted = true;
      first.input = { clipped: '{"path":"report.md","content":"# Re [361 characters omitted.] |\\n"}' };
      const looked = { type: 'tool_use', id: 'toolu_looked', name: 'read_file', input: { path: 'report.md' } } as const;
      const missing = 'report.md does not exist.';
      each.messages.splice(
        1,
        each.messages.length - 1,
        { role: 'user', content: summaryOf(facts) },
        { role: 'user', content: GO_ON },
        { role: 'assistant', content: [looked] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: looked.id, is_error: true, content: missing }] },
        ...writes,
      );
    },
  });
  expect(compacted).toBe(true);
  expect(world.calls.filter((call) => call.name === 'read_file' && call.input['path'] === 'report.md')).toHaveLength(1);
  expect(tableOf(world.files.get('report.md'))).toEqual(expectedRows(facts));
});

function isWrite(part: ContentBlockParam): part is ToolUseBlockParam {
  return part.type === 'tool_use' && part.name === 'write_file';
}
