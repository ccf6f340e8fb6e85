import { image, LogBuilder, prose, text } from '../builders.ts';

/** A log that fills a window with all that numbers are about: media, failures, old and new turns of every size. */
export function mixedLog(turns: number): LogBuilder {
  const log = new LogBuilder();
  for (let turn = 1; turn <= turns; turn += 1) {
    log.user([...text(`request ${turn}: ${prose(1_500 + 900 * turn, turn)}`), ...(turn % 3 === 0 ? [image()] : [])]);
    const result = [...text(prose(2_500 * turn, turn)), ...(turn % 2 === 0 ? [image()] : [])];
    log.step([result], { said: prose(700, turn), arguments: JSON.stringify({ path: 'a.md', text: prose(600, turn) }) });
    log.step([prose(1_500 * turn, turn + 1)], { isError: turn % 4 === 0 });
    log.answer(prose(6_000, turn + 2));
  }
  log.user('The long request.');
  for (let step = 1; step <= 12; step += 1)
    log.step([[...text(prose(9_000, step)), image()]], { said: `step ${step}` });
  return log;
}

/** A few long messages. */
export function longMessages(rounds: number): LogBuilder {
  const log = new LogBuilder();
  for (let round = 0; round < rounds; round += 1) {
    log.user(prose(150_000, round));
    log.answer(prose(150_000, round + 1));
  }
  log.user('Go on.');
  return log;
}

/** Large results: lists, documents, copies; and short talk about them. */
export function largeResults(): LogBuilder {
  const log = new LogBuilder();
  log.user('Compare the lists.');
  const list = JSON.stringify(Array.from({ length: 900 }, (_, index) => ({ index, name: prose(60, index) })));
  log.step([list, prose(30_000, 3)], { said: 'Lists first.' });
  log.step([prose(90_000, 4), prose(160_000, 5)], { tool: 'fetch' });
  log.user('And the documents.');
  for (const characters of [1_200, 3_500]) log.step([prose(characters, 6), prose(characters, 6)], { tool: 'fetch' });
  log.step([prose(140_000, 7)], { said: 'A document.' });
  log.answer(prose(12_000, 8));
  for (let message = 1; message <= 6; message += 1) {
    log.user(`question ${message}: ${prose(400 * message, message)}`);
    log.answer(prose(1_000 * message, message + 20));
  }
  log.user('Go on.');
  return log;
}

/** Two results that no cap leaves half of. */
export function hugeResults(): LogBuilder {
  const log = new LogBuilder();
  log.user('Fetch both.');
  log.step([prose(300_000, 1), prose(300_000, 2)], { tool: 'fetch' });
  log.answer('Both are here.');
  log.user('Go on.');
  return log;
}

/** Many small and middling results of about one size each. */
export function smallResults(): LogBuilder {
  const log = new LogBuilder();
  log.user('Look at all of them.');
  for (let step = 1; step <= 40; step += 1) log.step([prose(step % 2 === 0 ? 2_400 : 450, step)]);
  log.answer('Done.');
  log.user('Go on.');
  return log;
}
