import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactSecrets } from '../../src/tools/runtime/redact-secrets.ts';
import { restatedSecrets, withoutSecrets } from '../../src/tools/runtime/restated-secrets.ts';

const URL = 'postgres://admin:hunter2%21pw@db.example.com:5432/orders';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ASSIGNMENTS = ['aws_secret_access_key = …', 'AWS_SECRET_ACCESS_KEY=… is set', '{ "secretKey": "…" }'];

/** Twelve characters of a secret that a text has. */
function partOf(secret: string, text: string): string | undefined {
  const parts = Array.from({ length: secret.length - 11 }, (_, index) => secret.slice(index, index + 12));
  return parts.find((part) => text.includes(part));
}

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
  [
    'Set aws_secret_access_key in team/services/billing',
    'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  ],
  ['It is in /team/services/billing-service', 'https://ann:pa55word@git.example.com/team/services/billing-service'],
  ['Part pump42x9 is not xpump42x or pump42xy', 'postgres://tester:pump42x@localhost/app'],
])('"%s" tells no secret of "%s"', async (text, source) => {
  expect(await strip(text, source)).toBe(text);
});

test('R28 no key of AWS that is restated is told, nor a part of it, whatever it is made of', async () => {
  const key = fc
    .array(fc.oneof(fc.constantFrom('/', '+'), fc.constantFrom(...ALPHABET.split(''))), {
      minLength: 40,
      maxLength: 40,
    })
    .map((characters) => characters.join(''));
  await fc.assert(
    fc.asyncProperty(key, fc.constantFrom(...ASSIGNMENTS), async (secret, assignment) => {
      const said = assignment.replace('…', secret);
      expect(partOf(secret, (await redactSecrets(said)).text)).toBeUndefined();
      expect(
        partOf(secret, await strip(`The secret of the build account is ${secret}, says Ann.`, said)),
      ).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

test('R28 a line of a private key is not told, with its marks or without its padding', async () => {
  const line = `${'Ab/cd+eF/gh+Ij/'.repeat(4)}kL==`;
  const source = `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`;
  expect(await strip(`It ends in ${line}`, source)).toBe('It ends in [redacted: said to be secret]');
  expect(await strip(`It ends in ${line.slice(0, -2)}.`, source)).toBe('It ends in [redacted: said to be secret].');
});

test('the longer of two values goes first, and each place counts', () => {
  expect(withoutSecrets('abcd1 and abcd12 and abcd1', new Set(['abcd1', 'abcd12']))).toEqual({
    text: '[redacted: said to be secret] and [redacted: said to be secret] and [redacted: said to be secret]',
    count: 3,
  });
});
