import { expect, test } from 'vitest';
import { restatedSecrets, withoutSecrets } from '../../src/tools/restated-secrets.ts';

const URL = 'postgres://admin:hunter2%21pw@db.example.com:5432/orders';

async function strip(text: string, ...sources: readonly string[]): Promise<string> {
  return withoutSecrets(text, await restatedSecrets(text, sources)).text;
}

test.each([
  ['The password is hunter2%21pw.', URL],
  ['The password is hunter2!pw.', URL],
  ['hunter2%21pw@db.example.com', `connect to ${URL} please`],
  ['It is the words-of-a-password', 'mysql://root:words-of-a-password@localhost/app'],
  [
    'The key is wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEYx',
    'aws_secret_access_key = wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEYx',
  ],
])('R28 "%s" does not tell what redaction takes out of "%s"', async (text, source) => {
  const stripped = await strip(text, 'nothing here', source);
  expect(stripped).toContain('[redacted: said to be secret]');
  expect(stripped).not.toMatch(/hunter2|words-of|wJalr/u);
});

test.each([
  ['The database is at db.example.com:5432, named orders.', URL],
  ['The user is admin. Ask the admin for a password.', URL],
  ['Postgres and postgresql run on postgres.example.com', 'postgres://postgres:postgres@localhost/app'],
  ['The latest of src/test/x.ts', 'postgres://tester:test@localhost/app'],
  ['Part pump42x9 is not xpump42x or pump42xy', 'postgres://tester:pump42x@localhost/app'],
])('"%s" tells no secret of "%s"', async (text, source) => {
  expect(await strip(text, source)).toBe(text);
});

test('the longer of two values goes first, and each place counts', () => {
  expect(withoutSecrets('abcd1 and abcd12 and abcd1', new Set(['abcd1', 'abcd12']))).toEqual({
    text: '[redacted: said to be secret] and [redacted: said to be secret] and [redacted: said to be secret]',
    count: 3,
  });
});
