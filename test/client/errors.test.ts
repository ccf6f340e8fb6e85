import { describe, expect, test } from 'vitest';
import { HoldfastClientError, clientError } from '../../src/client/errors.ts';
import { outageOf } from '../../src/store/database/errors.ts';

const failure = (code: string) => Object.assign(new Error('it says something'), { code });

describe('what keeps Postgres from a request has a code, words and a next step of its own', () => {
  test.each([
    ['ECONNREFUSED', 'database_unreachable', 'does not answer', 'holdfast dev'],
    // A path of a socket that is none.
    ['ENOENT', 'database_unreachable', 'does not answer', 'address'],
    ['57P03', 'database_busy', 'is starting or shutting down', 'Try again'],
    ['08P01', 'database_refused', 'a pooler that refuses the connection', 'log'],
    ['25006', 'database_read_only', 'standby or set read-only', 'primary'],
    ['53100', 'database_disk_full', 'its disk', 'room'],
    ['58030', 'database_disk_full', 'its disk', 'log'],
    ['53300', 'database_connections_used_up', 'no connection left', 'max_connections'],
    ['53200', 'database_busy', 'could not do it now', 'Try again'],
    ['40P01', 'database_busy', 'could not do it now', 'Try again'],
    ['55P03', 'database_busy', 'could not do it now', 'Try again'],
    ['25P03', 'database_busy', 'could not do it now', 'Try again'],
  ])('%s', (code, known, what, advice) => {
    const error = clientError(failure(code));
    expect(error).toBeInstanceOf(HoldfastClientError);
    expect(error).toMatchObject({ code: known, what: expect.stringContaining(`${what} (${code})`) as string });
    expect((error as Error).message).toContain(advice);
  });
});

test('an error that is no outage passes as it is', () => {
  for (const code of ['42601', '22P02', 'ERR_INVALID_ARG_TYPE']) {
    const error = failure(code);
    expect(clientError(error)).toBe(error);
    expect(outageOf(error)).toBeNull();
  }
  // A file that a tool does not find, or cannot write, is not Postgres.
  expect(outageOf(failure('ENOENT'))).toBeNull();
  const full = Object.assign(failure('ENOSPC'), { syscall: 'write' });
  expect(clientError(full)).toBe(full);
});
