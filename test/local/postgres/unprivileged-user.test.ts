import { describe, expect, test } from 'vitest';
import { findUser, userForPostgres } from '../../../src/local/postgres/unprivileged-user.ts';

const PASSWD =
  'root:x:0:0:root:/root:/bin/bash\npostgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash\nnobody:*:-2:-2:Nobody:/:/usr/bin/false\n';

describe('the user that Postgres runs as', () => {
  test('is found by its whole name', () => {
    expect(findUser(PASSWD, 'postgres')).toEqual({ name: 'postgres', uid: 101, gid: 104 });
    expect(findUser(PASSWD, 'post')).toBe(null);
    expect(findUser('', 'postgres')).toBe(null);
  });

  test('macOS writes nobody as -2, which is the uid 4294967294', () => {
    expect(findUser(PASSWD, 'nobody')).toEqual({ name: 'nobody', uid: 4294967294, gid: 4294967294 });
  });

  test('is the current user, or for root one that is not root', async () => {
    const user = await userForPostgres();
    if (process.getuid?.() === 0) expect(user?.uid).toBeGreaterThan(0);
    else expect(user).toBe(null);
  });
});
