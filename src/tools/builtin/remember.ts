import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { FORGET, REMEMBER } from '../runtime/names.ts';

/** A memory is a statement, not a document. Characters. */
const LONGEST_MEMORY = 1_000;
const NO_MEMORY = 'This agent keeps no memories across conversations: memory is not enabled for it.';

export const remember = defineTool({
  name: REMEMBER,
  description:
    'Keeps a short statement for later conversations: what the user prefers, what was decided, a fact that will be needed again. ' +
    'One statement each, in words that can be understood without this conversation. Never keys, passwords or personal data that the user did not ask to keep.',
  input: z.strictObject({
    text: z.string().trim().min(3).max(LONGEST_MEMORY).describe('The statement, whole sentences.'),
    kind: z.enum(['fact', 'preference', 'decision']).optional().describe('Default: fact.'),
    scope: z
      .enum(['agent', 'user', 'workspace'])
      .optional()
      .describe(
        'Who shares it: all work of this agent, of this user, or in this workspace. Default: user where many users share the agent, otherwise workspace.',
      ),
    supersedes: z.array(z.string()).max(20).optional().describe('Ids of memories that it takes the place of.'),
    confidence: z.number().min(0).max(1).optional().describe('How sure it is, from 0 to 1. Default: 1.'),
    expires_in_days: z.number().int().min(1).max(3_650).optional().describe('Default: never.'),
  }),
  effect: 'idempotent',
  async run({ text, kind = 'fact', scope, supersedes = [], confidence = 1, ...rest }, { memories }) {
    if (memories === null) return { content: NO_MEMORY, isError: true };
    const { id, isNew, supersededInstead } = await memories.remember({
      text,
      kind,
      scope,
      supersedes,
      confidence,
      expiresInDays: rest.expires_in_days ?? null,
    });
    const instead = supersededInstead.map(
      (each) => ` ${each.named} was superseded before, by ${each.instead}: that is superseded now.`,
    );
    return { content: `${isNew ? 'Remembered as' : 'Remembered before, as'} ${id}.${instead.join('')}` };
  },
});

export const forget = defineTool({
  name: FORGET,
  description:
    'Removes a memory for good, with those that it had superseded. Memories and their ids stand in the memories note. ' +
    'What another user said stays.',
  input: z.strictObject({ id: z.string().describe(`Id of the memory, as ${REMEMBER} or the memories note names it.`) }),
  effect: 'idempotent',
  async run({ id }, { memories }) {
    if (memories === null) return { content: NO_MEMORY, isError: true };
    return (await memories.forget(id))
      ? { content: 'Forgotten.' }
      : {
          content: `There is no memory ${id} here; it may be forgotten already. ${FORGET} takes a whole id.`,
          isError: true,
        };
  },
});
