import { expect, test } from 'vitest';
import { BUILT_IN_PRESETS } from '../../src/context/policy/presets/index.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import { shownStubs } from '../../src/context/view/project-view.ts';
import { clipOperation } from '../../src/context/log/operations.ts';
import type { View, ViewMessage } from '../../src/context/view/view.ts';
import { AGENT, Conversation, image, outline, prose, text } from './builders.ts';

const PAGE = { tool: 'read_page', arguments: '{"url":"https://example.org/a"}' };

function conversation(): Conversation {
  const made = new Conversation({ policy: WOLFFISH_POLICY });
  made.log.user('Look.');
  return made;
}

function resultTexts(view: View): readonly string[] {
  return view.messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map(({ content }) =>
          content.map((part) => ('text' in part ? part.text : `<${part.type}>`)).join(' '),
        )
      : [],
  );
}

/** After each thing that happens the view; how many of the messages that a view and the next share differ. */
function changes(steps: readonly ((made: Conversation) => void)[]): readonly number[] {
  const made = conversation();
  let before: readonly ViewMessage[] = made.view().messages;
  return steps.map((step) => {
    step(made);
    const { messages } = made.view();
    const changed = before.filter((message, index) => JSON.stringify(message) !== JSON.stringify(messages[index]));
    before = messages;
    return changed.length;
  });
}

test('W43 of results that are equal byte for byte the first stays, and the cache of what was sent never breaks', () => {
  const big = prose(2_000, 1);
  const step = (made: Conversation): void => void made.log.step([big], { tool: 'run_command' });
  expect(changes([step, step, step])).toEqual([0, 0, 0]);
  const made = conversation();
  const [, first] = made.log.step([big], { tool: 'run_command' });
  const [, copy] = made.log.step([big], { tool: 'run_command' });
  const [shown, stub] = resultTexts(made.view());
  expect(shown).toContain(big.slice(0, 100));
  expect(stub).toContain(`Byte for byte the result of run_command above, entry ${first?.id}: 2,000 characters`);
  expect(stub).toContain(`recall_open ${copy?.id}`);
});

test('W43 equal results below 2,000 characters, failed ones and different ones are all shown', () => {
  const made = conversation();
  made.log.step([prose(1_999, 1)]);
  made.log.step([prose(1_999, 1)]);
  made.log.step([prose(3_000, 2)], { isError: true });
  made.log.step([prose(3_000, 2)], { isError: true });
  made.log.step([prose(3_000, 3)]);
  made.log.step([prose(3_000, 4)]);
  expect(JSON.stringify(made.view())).not.toContain('Byte for byte');
});

test('W43 a copy is shown whole when a pass has shortened the result that it repeats', () => {
  const made = conversation();
  const [, first] = made.log.step([prose(9_000, 1)]);
  made.log.step([prose(9_000, 1)]);
  if (first === undefined) throw new Error('no result');
  made.operations = [clipOperation(outline(first), { head: 100, tail: 100 })];
  const [, copy] = resultTexts(made.view());
  expect(copy).toContain(prose(9_000, 1).slice(4_000, 4_100));
});

test('W43 a page that was read again gives way to the newer read, and each read breaks the cache once', () => {
  const read = (seed: number) => (made: Conversation) => void made.log.step([prose(500, seed)], PAGE);
  const other = (made: Conversation): void =>
    void made.log.step([prose(500, 9)], { ...PAGE, arguments: '{"url":"https://example.org/b"}' });
  expect(changes([read(1), other, read(2), other, read(3), other])).toEqual([0, 0, 1, 1, 1, 1]);
  const made = conversation();
  const [, old] = made.log.step([prose(500, 1)], PAGE);
  const [, fresh] = made.log.step([prose(500, 2)], PAGE);
  const [stub, shown] = resultTexts(made.view());
  expect(stub).toContain(`entry ${fresh?.id} shows what it says now`);
  expect(stub).toContain(`recall_open ${old?.id}`);
  expect(shown).toContain(prose(500, 2).slice(0, 50));
});

test('W43 only the newest screenshot is sent, and one that no request has carried yet besides', () => {
  const made = conversation();
  made.log.step([[...text('one'), image(1_000, 1_000)]]);
  made.log.step([[...text('two'), image(1_100, 1_100)]]);
  made.log.step([[...text('three'), image(1_200, 1_200)]]);
  const shown = resultTexts(made.view()).map((result) => result.includes('<image>'));
  expect(shown).toEqual([false, true, true]);
  expect(resultTexts(made.view())[0]).toContain('[Screenshot analyzed — image omitted from context]');
  made.log.answer('seen');
  expect(resultTexts(made.view()).map((result) => result.includes('<image>'))).toEqual([false, false, true]);
});

test('W43 the log keeps what a request leaves out, and only this preset leaves it out', () => {
  const made = conversation();
  const [, page] = made.log.step([prose(500, 1)], PAGE);
  made.log.step([prose(500, 2)], PAGE);
  expect(page?.content).toEqual(text(prose(500, 1)));
  const input = { agent: AGENT, entries: made.log.entries, summary: null, operations: [] };
  const withStubs = BUILT_IN_PRESETS.filter((policy) => shownStubs({ ...input, policy }).size > 0);
  expect(withStubs.map(({ name }) => name)).toEqual(['wolffish']);
});
