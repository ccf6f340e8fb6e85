import { expect, test } from 'vitest';
import { childEnvironment } from '../../src/tools/process/child-environment.ts';

const SECRETS_OF_A_WORKER = {
  ANTHROPIC_API_KEY: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  AZURE_CLIENT_SECRET: 'x',
  DATABASE_URL: 'x',
  GEMINI_API_KEY: 'x',
  GITHUB_TOKEN: 'x',
  GOOGLE_APPLICATION_CREDENTIALS: 'x',
  HOLDFAST_SIMULATOR_URL: 'x',
  NODE_OPTIONS: 'x',
  NPM_TOKEN: 'x',
  PGPASSWORD: 'x',
  POSTGRES_PASSWORD: 'x',
  SSH_AUTH_SOCK: 'x',
  TEMPORAL_API_KEY: 'x',
};
const ORDINARY = {
  PATH: '/bin',
  HOME: '/home/user',
  USER: 'user',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TZ: 'UTC',
  TMPDIR: '/tmp',
};
const ALWAYS = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  HOLDFAST_TOOL_CALL: 'turn:1:2',
};

test('a command gets what a program needs to find its way, the marker, and nothing else', () => {
  const environment = { ...ORDINARY, ...SECRETS_OF_A_WORKER, TERM: 'xterm', UNSET: undefined };
  const child = childEnvironment({ environment, secrets: [], idempotencyKey: 'turn:1:2' });
  expect(child).toEqual({ ...ORDINARY, ...ALWAYS });
});

test('variables that the configuration names are passed on, except those that hold a provider key', () => {
  const environment = { ...SECRETS_OF_A_WORKER, GEMINI_API_KEY: 'prefix key-of-a-provider suffix' };
  const passedOn = ['GITHUB_TOKEN', 'GEMINI_API_KEY', 'NOT_SET'];
  const secrets = ['key-of-a-provider', ''];
  expect(childEnvironment({ environment, passedOn, secrets, idempotencyKey: 'turn:1:2' })).toEqual({
    GITHUB_TOKEN: 'x',
    ...ALWAYS,
  });
});
