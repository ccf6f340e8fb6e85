import { expect, test } from 'vitest';
import { childEnvironment } from '../../src/tools/child-environment.ts';

test('passes the ordinary on, holds back what is Holdfast’s own, adds the marker', () => {
  const environment = {
    HOME: '/home/user',
    GITHUB_TOKEN: 'of the user',
    ANTHROPIC_API_KEY: 'x',
    OPENAI_ORG_ID: 'x',
    HOLDFAST_SIMULATOR_URL: 'x',
    TEMPORAL_ADDRESS: 'x',
    DATABASE_URL: 'x',
    DATABASE_URL_OF_MY_APP: 'stays',
    UNSET: undefined,
    RENAMED: 'prefix key-of-a-provider suffix',
  };
  const child = childEnvironment({ environment, secrets: ['key-of-a-provider', ''], idempotencyKey: 'turn:1:2' });
  expect(child).toEqual({
    HOME: '/home/user',
    GITHUB_TOKEN: 'of the user',
    DATABASE_URL_OF_MY_APP: 'stays',
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    HOLDFAST_TOOL_CALL: 'turn:1:2',
  });
});
