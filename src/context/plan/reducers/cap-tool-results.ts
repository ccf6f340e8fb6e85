import { z } from 'zod';
import { resolveAmount } from '../../policy/budget.ts';
import { amount, object, toolNames } from '../../policy/policy-parts.ts';
import { clipTo } from '../clip-to-size.ts';
import { operationOn, shownTokens, tryOperation } from '../planning-state.ts';
import { reducer } from './reducer.ts';
import { showsMedia } from './strip-images.ts';

/** Shortens every tool result beyond a limit: head and tail, or the first items of an array, at about the limit's size. */
export const capToolResultsReducer = reducer({
  name: 'cap_tool_results',
  options: object({
    limit: amount('Longest tool result that stays whole.'),
    documentLimit: amount('The same for results of `documentTools`.'),
    documentTools: toolNames.default([]).meta({ description: 'Tools that read documents.' }),
    arrayItems: z
      .number()
      .int()
      .positive()
      .meta({ description: 'First items that stay of a result that is a JSON array.', unit: 'items' }),
  }),
  always: true,
  apply: (state, draft, { limit, documentLimit, documentTools, arrayItems }) => {
    const { table } = state;
    const { budget } = state.input;
    const [ofDocuments, ofOthers] = [resolveAmount(documentLimit, budget), resolveAmount(limit, budget)];
    for (const position of state.arrangement.kept) {
      if (table.kindAt(position) !== 'tool_result') continue;
      const level = documentTools.includes(table.toolNameAt(position)) ? ofDocuments : ofOthers;
      if (shownTokens(state, draft, position) <= level) continue;
      if (operationOn(state, draft, position)?.kind === 'clear') continue;
      const operation = clipTo(state, { position, level, keepMedia: showsMedia(state, draft, position) });
      tryOperation(state, draft, position, { ...operation, arrayItems });
    }
  },
});
